import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** What is started as a process or a thread of its own: always compiled, also when the sources run. */
const compiled = (file: string): string => fileURLToPath(new URL(`../dist/${file}`, import.meta.url));

export const buildProgram = compiled('integrations/hosting/site/buildProgram.js');
export const writingProgram = compiled('projections/store/embedded/writingProgram.js');
export const projectorProgram = compiled('projectorThread.js');

/** What mints a token, run in the folder of the service: the image has no `scripts/`. */
export const tokenCommand = (root = fileURLToPath(new URL('..', import.meta.url))): string =>
  existsSync(join(root, 'scripts/operate.mjs')) ? 'npm run --silent token --' : 'node dist/operations/mintToken.js';
