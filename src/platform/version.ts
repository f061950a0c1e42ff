import { readFileSync } from 'node:fs';

/** The version of the service, from its `package.json`. */
export const readVersion = (packageJson: URL): string =>
  (JSON.parse(readFileSync(packageJson, 'utf8')) as { readonly version: string }).version;
