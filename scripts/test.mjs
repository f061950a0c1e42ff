/** `npm test`: installs and builds (some tests start the built server), then runs jest with the arguments given. */
import { join } from 'node:path';
import { prepareOrExit, root, run } from './prepare.mjs';

await prepareOrExit();
const jest = join(root, 'node_modules', 'jest', 'bin', 'jest.js');
const node = ['--experimental-vm-modules', '--disable-warning=ExperimentalWarning'];
process.exitCode = await run(process.execPath, [...node, jest, ...process.argv.slice(2)]);
