import { readFileSync } from 'node:fs';

/** The version of the service, as its `package.json` has it. */
export const readVersion = (packageJson: URL): string =>
  (JSON.parse(readFileSync(packageJson, 'utf8')) as { readonly version: string }).version;
