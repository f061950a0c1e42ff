/** `npm start`: installs what is missing, builds what is stale, then becomes the server. */
import { become } from './prepare.mjs';
import { endWithShellOf } from './processes.mjs';

endWithShellOf('start');

// The service reads the portal's files, and loads the MCP server, when the first request asks for them.
await become('main.js', process.argv.slice(2), ['service', 'mcp', 'portal']);
