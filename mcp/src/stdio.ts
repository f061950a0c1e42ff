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
  const onerror = (error: unknown): void => {
    // Of a message that is none, the whole schema would be said.
    if (!(error instanceof Error) || error.name !== 'ZodError') onFault(error);
    else process.stderr.write(`doorstep-mcp: ${noMessage}\n`);
  };
  serve(() => createMcpServer({ doorstep, caller, confirmationKey, readOnly, toolsets, onFault }), { onerror });
};

const noMessage = 'A line on standard input is no message of the protocol (JSON-RPC 2.0): it is passed over.';
