import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { WebStandardStreamableHTTPServerTransport, type EventStore, type JSONRPCMessage } from '@modelcontextprotocol/server';
import { createFixtures } from './mcpFixtures.js';

/** What the scenarios' client and the transport agree upon when a session begins. */
const agreedVersion = '2025-11-25';

/** The events of one session, each known by its place. */
const createEventStore = (): EventStore => {
  const events: { readonly stream: string; readonly message: JSONRPCMessage }[] = [];
  return {
    storeEvent: (stream, message) => Promise.resolve(String(events.push({ stream, message }) - 1)),
    replayEventsAfter: async (last, { send }) => {
      const stream = events[Number(last)]?.stream;
      if (stream === undefined) throw new Error(`Event ${last} is unknown`);
      for (const [place, { message, ...of }] of events.entries()) {
        // What opens a stream is an event without a message, and is not sent again.
        if (place > Number(last) && of.stream === stream && 'jsonrpc' in message) await send(String(place), message);
      }
      return stream;
    },
  };
};

const webRequest = (request: IncomingMessage): Request => {
  const { method = 'GET', url = '/' } = request;
  const headers = new Headers();
  for (const [name, values = []] of Object.entries(request.headersDistinct)) {
    for (const value of values) headers.append(name, value);
  }
  // A scenario names an older version with its session's id than it agreed upon: what was agreed counts.
  if (headers.has('mcp-session-id')) headers.set('mcp-protocol-version', agreedVersion);
  return new Request(new URL(url, 'http://127.0.0.1'), {
    method,
    headers,
    ...(method === 'POST' && { body: Readable.toWeb(request) as NonNullable<RequestInit['body']>, duplex: 'half' }),
  });
};

/**
 * The fixtures on the transport of 2025 that keeps sessions: each has a server of its own, which can
 * ask its program something in the middle of a call, and streams that go on after a break. In tests
 * alone: the service keeps nothing between two requests (docs/adr/0028-assistants-in-process.md).
 */
export const startSessions = async (): Promise<{ readonly url: string; readonly stop: () => Promise<void> }> => {
  const sessions = new Map<string, WebStandardStreamableHTTPServerTransport>();
  /** Each is kept from its first request on; without `initialize` the transport refuses it. */
  const begin = async (): Promise<WebStandardStreamableHTTPServerTransport> => {
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (id) => void sessions.set(id, transport),
      eventStore: createEventStore(),
      retryInterval: 100,
    });
    await createFixtures().connect(transport);
    return transport;
  };
  const server = createServer((request, response) => {
    const answer = async (): Promise<void> => {
      const transport = sessions.get(String(request.headers['mcp-session-id'])) ?? (await begin());
      const answered = await transport.handleRequest(webRequest(request));
      response.writeHead(answered.status, Object.fromEntries(answered.headers));
      response.flushHeaders();
      if (answered.body === null) response.end();
      else await pipeline(Readable.fromWeb(answered.body), response);
    };
    // Programs leave streams before their end; whoever still reads learns of a fault by the break.
    answer().catch(() => response.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${String((server.address() as AddressInfo).port)}/mcp`,
    stop: async () => {
      for (const transport of sessions.values()) await transport.close();
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
};
