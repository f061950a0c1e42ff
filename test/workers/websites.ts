import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll } from '@jest/globals';

export type ServePage = (request: IncomingMessage, response: ServerResponse) => void;

const closing: (() => void)[] = [];
afterAll(() => {
  for (const close of closing.splice(0)) close();
});

/**
 * A web server on a loopback address until the test file ends; answers with its port and what it
 * was asked for.
 */
export const startWebsite = async (
  serve: ServePage,
  address = '127.0.0.1',
): Promise<{ readonly port: number; readonly asked: readonly string[] }> => {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(`${request.headers.host ?? ''}${request.url ?? ''}`);
    serve(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, address, resolve));
  closing.push(() => {
    server.closeAllConnections();
    server.close();
  });
  return { port: (server.address() as AddressInfo).port, asked };
};

interface Page {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string | string[]>>;
  readonly body?: string;
}

/** Serves files by path, as HTML unless they say otherwise; anything else is not there. */
export const filesAt =
  (files: Readonly<Record<string, string | Page>>): ServePage =>
  (request, response) => {
    const file = files[request.url ?? ''] ?? { status: 404, body: '<title>Not found</title>' };
    const { status = 200, headers = {}, body = '' } = typeof file === 'string' ? { body: file } : file;
    response.writeHead(status, { 'content-type': 'text/html; charset=utf-8', ...headers }).end(body);
  };
