import { randomBytes } from 'node:crypto';
import { serveStdio as serve } from '@modelcontextprotocol/server/stdio';
import type { Doorstep } from '@doorstep/sdk';
import { loadCaller } from './caller.js';
import { createMcpServer } from './server.js';
import type { Toolset } from './tool.js';

export interface StdioOptions {
  readonly doorstep: Doorstep;
  readonly readOnly?: boolean | undefined;
  readonly toolsets?: readonly Toolset[] | undefined;
}

/**
 * Serves one assistant on standard input and output, until its end closes them.
 * @throws DoorstepError before it serves, when the service cannot be reached or refuses the token
 */
export const serveStdio = async ({ doorstep, readOnly, toolsets }: StdioOptions): Promise<void> => {
  const caller = await loadCaller(doorstep);
  const confirmationKey = randomBytes(32);
  const onFault = (error: unknown): void => {
    process.stderr.write(`doorstep-mcp: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
  };
  serve(() => createMcpServer({ doorstep, caller, confirmationKey, readOnly, toolsets, onFault }), { onerror: onFault });
};
