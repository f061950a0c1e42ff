import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll } from '@jest/globals';
import { systemClock, type Clock } from '../../src/platform/clock.js';

/** What goes wrong with one answer of a provider. */
export type ProviderMishap =
  /** 429, to be asked again in `retryAfter` seconds. */
  | { readonly kind: 'limited'; readonly retryAfter: string }
  /** 500, not in JSON. */
  | { readonly kind: 'broken' }
  /** The connection is taken, and nothing ever comes. */
  | { readonly kind: 'silent' }
  /** The connection is cut before the answer. */
  | { readonly kind: 'reset' }
  /** 200, with something that is no JSON. */
  | { readonly kind: 'garbled' }
  /** 200, and JSON of another form. */
  | { readonly kind: 'strange' }
  /** The answer comes, a byte now and then. */
  | { readonly kind: 'slow' };

export interface ProviderRequest {
  readonly method: string;
  readonly url: URL;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
}

export interface ProviderAnswer {
  readonly status: number;
  readonly body: unknown;
}

/** A provider's server on the loopback interface. */
export interface Provider {
  /** Without a trailing slash. */
  readonly url: string;
  readonly requests: readonly ProviderRequest[];
  /** Befalls the next answers, one each. */
  readonly mishaps: ProviderMishap[];
}

const stops: (() => void)[] = [];
afterAll(() => {
  for (const stop of stops.splice(0)) stop();
});

const read = async (request: IncomingMessage): Promise<string> => {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
};

const DRIP_MS = 20;

const drip = async (response: ServerResponse, text: string): Promise<void> => {
  for (const character of text) {
    if (response.destroyed) return;
    response.write(character);
    await pause(DRIP_MS);
  }
  response.end();
};

/** Starts one that answers as `answer` does; it ends with the test file. */
export const startProvider = async (answer: (request: ProviderRequest) => ProviderAnswer): Promise<Provider> => {
  const requests: ProviderRequest[] = [];
  const mishaps: ProviderMishap[] = [];
  const serve = async (incoming: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { method = '', url = '', headers } = incoming;
    const request = { method, url: new URL(url, 'http://provider'), headers, body: await read(incoming) };
    requests.push(request);
    const json = (status: number, body: unknown, more: Readonly<Record<string, string>> = {}): void => {
      response.writeHead(status, { 'content-type': 'application/json', 'x-request-id': `r${requests.length}`, ...more });
      response.end(JSON.stringify(body));
    };
    const mishap = mishaps.shift();
    switch (mishap?.kind) {
      case 'limited':
        json(429, { error: 'Too many requests' }, { 'retry-after': mishap.retryAfter });
        break;
      case 'broken':
        response.writeHead(500, { 'content-type': 'text/html', 'x-request-id': `r${requests.length}` }).end('<h1>Oops</h1>');
        break;
      case 'silent':
        break;
      case 'reset':
        incoming.socket.destroy();
        break;
      case 'garbled':
        response.writeHead(200, { 'content-type': 'application/json' }).end('{"results": [');
        break;
      case 'strange':
        json(200, { unexpected: true });
        break;
      case 'slow':
        response.writeHead(200, { 'content-type': 'application/json' });
        await drip(response, JSON.stringify(answer(request).body));
        break;
      default: {
        const { status, body } = answer(request);
        json(status, body);
      }
    }
  };
  const server = createServer((incoming, response) => {
    serve(incoming, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  stops.push(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, requests, mishaps };
};

const HASTY_STEPS = 20;

/**
 * Time passes so many times as fast for those who wait by this clock: a provider's ten seconds may
 * be half of one. It passes in steps, and between two of them whatever is ready in this process has
 * its turn: where the machine is busy with other things the time is as much longer as the answer,
 * so that nothing comes too late by chance.
 */
export const hastyClock = (times = 20): Clock => ({
  now: () => systemClock.now(),
  schedule: (delayMs, task, options) => {
    const stepMs = Math.max(1, delayMs / times / HASTY_STEPS);
    let left = Math.max(1, Math.ceil(delayMs / times / stepMs));
    let cancel = (): void => undefined;
    const step = (): void => {
      if (left <= 0) task();
      else cancel = systemClock.schedule(stepMs, nextStep, options);
      left -= 1;
    };
    const nextStep = (): void => {
      const turn = setImmediate(step);
      cancel = () => {
        clearImmediate(turn);
      };
    };
    step();
    return () => {
      cancel();
    };
  },
});
