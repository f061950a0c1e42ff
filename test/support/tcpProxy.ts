import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';

/** A proxy between a client and a server that simulates network failures. */
export interface TcpProxy {
  /** `host:port` to connect to. */
  readonly address: string;
  /** Cuts all existing and new connections until `restore`. */
  cut(): void;
  /** Accepts connections and bytes, but forwards nothing in either direction until `restore`. */
  stall(): void;
  /** Forwards everything again, including what was held back. */
  restore(): void;
  /**
   * Cuts once, when the client sends something that contains all of `words`, before the server
   * receives it.
   */
  cutBefore(...words: readonly string[]): void;
  /** As `cutBefore`, but after the server received it and before its answer arrives. */
  cutAfter(...words: readonly string[]): void;
  close(): Promise<void>;
}

export const createTcpProxy = async (target: { host: string; port: number }): Promise<TcpProxy> => {
  const sockets = new Set<Socket>();
  let state: 'through' | 'cut' | 'stalled' = 'through';
  let trap: { words: readonly string[]; passOn: boolean } | null = null;

  const destroyAll = (): void => {
    for (const socket of sockets) socket.destroy();
  };

  const keep = (socket: Socket): void => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('close', () => sockets.delete(socket));
    if (state === 'stalled') socket.pause();
  };

  const server = createServer((client) => {
    if (state === 'cut') {
      client.destroy();
      return;
    }
    const upstream = connect(target);
    let doomed = false;
    client.on('data', (bytes) => {
      const caught = trap?.words.every((word) => bytes.includes(word)) === true ? trap : null;
      if (caught !== null) {
        trap = null;
        doomed = true;
      }
      if (caught?.passOn === false) client.destroy();
      else upstream.write(bytes);
    });
    upstream.on('data', (bytes) => {
      if (doomed) client.destroy();
      else client.write(bytes);
    });
    for (const [one, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      keep(one);
      one.on('close', () => other.destroy());
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const bound = server.address();
  if (bound === null || typeof bound === 'string') throw new Error('no port');

  return {
    address: `127.0.0.1:${String(bound.port)}`,
    cut: () => {
      state = 'cut';
      destroyAll();
    },
    stall: () => {
      state = 'stalled';
      for (const socket of sockets) socket.pause();
    },
    restore: () => {
      state = 'through';
      for (const socket of sockets) socket.resume();
    },
    cutBefore: (...words) => {
      trap = { words, passOn: false };
    },
    cutAfter: (...words) => {
      trap = { words, passOn: true };
    },
    close: async () => {
      destroyAll();
      server.close();
      await once(server, 'close');
    },
  };
};
