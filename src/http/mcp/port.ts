/**
 * What the service needs of the package `@doorstep/mcp`, which is built after the service and is
 * therefore loaded when the first request comes. A test compares it with what the package exports.
 */
export interface McpProgram {
  /** Answers one request of the protocol. Faults of the protocol are answers. */
  serveHttp(request: Request, call: McpCall): Promise<Response>;
}

/** A request of somebody who was let in. */
export interface McpCall {
  /** The body, parsed. Absent: it is read from the request. */
  readonly body?: unknown;
  /** The base address of the service, without a trailing slash. */
  readonly baseUrl: string;
  /** Calls the API as the caller, whatever `Authorization` says. */
  readonly fetch: typeof fetch;
  readonly caller: {
    readonly subject: string;
    readonly role: 'admin' | 'client';
    readonly scope: 'read' | 'write';
    /** The personal access token, to which confirmations are bound; none with a sign-in. */
    readonly tokenId?: string;
    /** The OAuth client of a sign-in, to which they are bound then. */
    readonly program?: string;
  };
  /** Seals confirmations: the same in all processes. */
  readonly confirmationKey: Uint8Array;
  readonly readOnly: boolean;
  /** Names of toolsets, with commas between them; empty: all. */
  readonly toolsets: string;
  /** Receives faults that the caller is only told of in general words. */
  readonly onFault: (error: unknown) => void;
  /** Receives why a message is not one of the protocol, which the caller is told of. */
  readonly onRefusal: (error: Error) => void;
}
