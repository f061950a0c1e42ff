import { fileURLToPath } from 'node:url';

/** What is started as a process or a thread of its own: always compiled, also when the sources run. */
const compiled = (file: string): string => fileURLToPath(new URL(`../dist/${file}`, import.meta.url));

export const buildProgram = compiled('integrations/hosting/site/buildProgram.js');
export const writingProgram = compiled('projections/store/embedded/writingProgram.js');
export const projectorProgram = compiled('projectorThread.js');
