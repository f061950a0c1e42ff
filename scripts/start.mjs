/** `npm start`: installs what is missing, builds what is stale, then becomes the server. */
import { become } from './prepare.mjs';

// The service loads the MCP server when the first assistant comes.
await become('main.js', process.argv.slice(2), ['service', 'mcp']);
