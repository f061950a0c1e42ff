export { loadCaller, type Caller } from './caller.js';
export { parseToolsets } from './options.js';
export { createMcpServer, offeredTools, type McpServerOptions } from './server.js';
export { serveHttp, type HttpCall } from './http.js';
export { serveStdio, type StdioOptions } from './stdio.js';
export { toolsets, type Tool, type Toolset } from './tool.js';
export { tools } from './tools/index.js';
