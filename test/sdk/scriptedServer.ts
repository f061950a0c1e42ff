import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll } from '@jest/globals';

/** Answers one request. */
export type Step = (response: ServerResponse, request: IncomingMessage) => unknown;

export interface Asked {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
  /** When it came, in ms. */
  readonly at: number;
}

export interface ScriptedServer {
  /** Without a trailing slash. */
  readonly url: string;
  /** The requests so far. */
  readonly asked: readonly Asked[];
  /** How many answers the caller gave up in the middle. */
  readonly abandoned: () => number;
}

const stops: (() => void)[] = [];
afterAll(() => {
  for (const stop of stops.splice(0)) stop();
});

/** A server on the loopback interface that answers its requests one after the other, and the last step again. */
export const startScripted = async (...steps: readonly Step[]): Promise<ScriptedServer> => {
  const asked: Asked[] = [];
  let abandoned = 0;
  const server = createServer((request, response) => {
    const at = Date.now();
    const chunks: Buffer[] = [];
    request.on('error', () => undefined);
    response.on('close', () => {
      if (!response.writableFinished) abandoned += 1;
    });
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { method = '', url = '', headers } = request;
      const step = steps[Math.min(asked.length, steps.length - 1)];
      asked.push({ method, url, headers, body: Buffer.concat(chunks).toString('latin1'), at });
      step?.(response, request);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  stops.push(() => {
    server.closeAllConnections();
    server.close();
  });
  return {
    url: `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`,
    asked,
    abandoned: () => abandoned,
  };
};

type Headers = Readonly<Record<string, string>>;

/** A JSON answer. */
export const json =
  (status: number, body: unknown, headers: Headers = {}): Step =>
  (response) =>
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));

/** An answer as it is. */
export const text =
  (status: number, body: string, headers: Headers = {}): Step =>
  (response) =>
    response.writeHead(status, headers).end(body);

/** Half of an answer, then what `then` does. */
export const half =
  (then: (response: ServerResponse) => unknown): Step =>
  (response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.write('{"id":"', () => {
      then(response);
    });
  };

export const reset: Step = half((response) => response.destroy());
export const stall: Step = half(() => undefined);
