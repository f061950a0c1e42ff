/**
 * `node scripts/operate.mjs <operation> …`: prepares, then becomes
 * `dist/operations/<operation>.js`.
 */
import { become } from './prepare.mjs';

const [operation = '', ...args] = process.argv.slice(2);
await become(`operations/${operation}.js`, args);
