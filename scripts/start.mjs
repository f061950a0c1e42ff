/** `npm start`: installs what is missing, builds what is stale, then becomes the server. */
import { become } from './prepare.mjs';

await become('main.js', process.argv.slice(2));
