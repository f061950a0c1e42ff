import { Doorstep } from '@doorstep/sdk';
import type { Caller } from './caller.js';
import { parseToolsets } from './options.js';
import { serveRequest, type Served } from './protocol.js';
import { createMcpServer } from './server.js';
import type { Toolset } from './tool.js';

/** A request of somebody whom the service has let in. */
export interface HttpCall extends Served {
  /** The base address of the service, without a trailing slash. */
  readonly baseUrl: string;
  /** Calls the API as the caller, whatever `Authorization` says. */
  readonly fetch: typeof fetch;
  readonly caller: Caller;
  /** Seals confirmations: at least 32 bytes, the same in all processes. */
  readonly confirmationKey: Uint8Array;
  readonly readOnly: boolean;
  /** Names of toolsets, with commas between them; empty: all. */
  readonly toolsets: string;
  /** Receives faults that the caller is only told of in general words. */
  readonly onFault: (error: unknown) => void;
}

/** Answers one request to the MCP server of the service. Faults of the protocol are answers. */
export const serveHttp = async (request: Request, call: HttpCall): Promise<Response> => {
  const { baseUrl, caller, confirmationKey, readOnly, onFault } = call;
  let toolsets: readonly Toolset[] | undefined;
  try {
    toolsets = parseToolsets(call.toolsets);
  } catch (error) {
    const { message } = error as Error;
    return Response.json({ jsonrpc: '2.0', id: null, error: { code: -32_602, message } }, { status: 400 });
  }
  // The service adds the credential; without one the SDK makes no request.
  const doorstep = new Doorstep({ baseUrl, fetch: call.fetch, token: () => 'added-by-the-service' });
  return serveRequest(request, call, () => createMcpServer({ doorstep, caller, confirmationKey, readOnly, toolsets, onFault }));
};
