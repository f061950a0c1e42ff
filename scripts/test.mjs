/**
 * `npm test`: installs and builds (some tests start the built server), then runs jest with the
 * arguments given.
 */
import { fileURLToPath } from 'node:url';
import { prepareOrExit } from './prepare.mjs';
import { run } from './processes.mjs';

await prepareOrExit();
const jest = fileURLToPath(import.meta.resolve('jest/bin/jest'));
const node = ['--experimental-vm-modules', '--disable-warning=ExperimentalWarning'];
process.exitCode = await run(process.execPath, [...node, jest, ...process.argv.slice(2)]);
