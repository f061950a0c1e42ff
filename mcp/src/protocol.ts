import { createMcpHandler, type McpServer } from '@modelcontextprotocol/server';

/** What a request came with, for whoever serves it. */
export interface Served {
  /** The body, parsed. Absent: it is read from the request. */
  readonly body?: unknown;
  /** Receives why a message is not one of the protocol, which the caller is told of. */
  readonly onRefusal: (error: Error) => void;
}

/**
 * Answers one request of the protocol over streamable HTTP, of 2026-07-28 and of 2025. Nothing is
 * kept between two requests: each has a server of its own, so that any process answers any of them.
 */
export const serveRequest = (request: Request, { body, onRefusal }: Served, createServer: () => McpServer): Promise<Response> =>
  createMcpHandler(createServer, { onerror: onRefusal }).fetch(request, body === undefined ? {} : { parsedBody: body });
