import { createRequire } from 'node:module';

/** The version in package.json, which stands beside the folder of the built program. */
export const { version } = createRequire(import.meta.url)('../package.json') as { version: string };
