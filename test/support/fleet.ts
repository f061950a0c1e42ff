import { randomInt, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { createApi, launchServer, type Api, type Launched } from './server.js';

/** One process of several that do the service's work on one data folder. */
export interface Part {
  readonly roles: string;
  /** The address of its API; absent without the api role. */
  readonly address?: string;
  /** The current process. */
  process: Launched;
  /** Kills it (`kill -9`) and starts it again, without waiting for the start. */
  strike(): Promise<void>;
}

export interface Fleet {
  readonly parts: readonly Part[];
  /** Addresses of the processes with the api role. */
  readonly addresses: readonly string[];
  /** Resolves when each has printed its address. */
  ready(): Promise<void>;
  /** Stops each with SIGTERM; resolves with their exit codes. */
  stop(): Promise<readonly (number | string)[]>;
}

/**
 * Starts a process for each entry of `roles`, such as `api` or `projector,worker`. The first one
 * with the api role has the public address.
 */
export const startFleet = async (
  dataDir: string,
  roles: readonly string[],
  extra: Readonly<Record<string, string>> = {},
): Promise<Fleet> => {
  const ports: (number | null)[] = [];
  for (const names of roles) ports.push(names.includes('api') ? await freePort() : null);
  const baseUrl = `http://127.0.0.1:${String(ports.find((port) => port !== null))}`;

  const parts = roles.map((names, index): Part => {
    const port = ports[index] ?? null;
    const launch = (): Launched =>
      launchServer(dataDir, { ...extra, PROCESS_ROLES: names, BASE_URL: baseUrl, ...(port !== null && { PORT: String(port) }) });
    const part: Part = {
      roles: names,
      ...(port !== null && { address: `http://127.0.0.1:${String(port)}` }),
      process: launch(),
      strike: async () => {
        const struck = part.process;
        const outcome = await struck.kill('SIGKILL');
        if (outcome !== 'SIGKILL') throw new Error(`${names} had ended by itself (${String(outcome)}):\n${struck.written()}`);
        part.process = launch();
      },
    };
    return part;
  });

  return {
    parts,
    addresses: parts.flatMap(({ address }) => (address === undefined ? [] : [address])),
    ready: async () => {
      await Promise.all(parts.map((part) => part.process.opened));
    },
    stop: () => Promise.all(parts.map((part) => part.process.kill('SIGTERM'))),
  };
};

const given = new Set<number>();

/**
 * A free port for a server that is restarted on the same address. It is below the system's
 * ephemeral ports, so that no other process gets it while the server is down.
 */
export const freePort = async (): Promise<number> => {
  for (;;) {
    const port = randomInt(10_000, 32_000);
    if (given.has(port)) continue;
    const server = createServer().listen(port, '127.0.0.1');
    try {
      await once(server, 'listening');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EADDRINUSE') continue;
      throw error;
    }
    given.add(port);
    server.close();
    await once(server, 'close');
    return port;
  }
};

/**
 * A client that retries unanswered requests and 503s until they are answered; `pick` chooses the
 * address of each attempt. POSTs carry an idempotency key.
 */
export const createPatientApi = (token: string, pick: () => string): Api => {
  const answered = async <Answer extends { readonly status: number }>(ask: (api: Api) => Promise<Answer>): Promise<Answer> => {
    for (;;) {
      try {
        const answer = await ask(createApi(pick(), token));
        if (answer.status !== 503) return answer;
      } catch (error) {
        // `fetch` throws a TypeError for a broken or refused connection; anything else is a bug.
        if (!/^TypeError: (fetch failed|terminated)/.test(String(error))) throw error;
      }
      await pause(20);
    }
  };
  return {
    get: (path, headers) => answered((api) => api.get(path, headers)),
    post: (path, body, headers) => {
      const keyed = { 'idempotency-key': randomUUID(), ...headers };
      return answered((api) => api.post(path, body, keyed));
    },
    put: (path, body, headers) => answered((api) => api.put(path, body, headers)),
    patch: (path, body, headers) => answered((api) => api.patch(path, body, headers)),
    delete: (path, headers) => answered((api) => api.delete(path, headers)),
  };
};
