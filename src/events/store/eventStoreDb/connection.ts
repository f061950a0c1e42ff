import { EventStoreDBClient } from '@eventstore/db-client';
import streams from '@eventstore/db-client/generated/streams_grpc_pb.js';
import type { CallOptions, Metadata } from '@grpc/grpc-js';
import type { Logger } from '../../../platform/logger.js';
import { NotConnected } from './faults.js';

export type StreamsClient = InstanceType<typeof streams.StreamsClient>;

/** Metadata and options that each call carries: credentials, the wish for the leader, no deadline of gRPC's. */
export type CallArguments = [metadata: Metadata, options: CallOptions];

/**
 * The one client of this process. The client library finds the leader and goes after it; the calls on its channel are our own, because the
 * library's reads cannot filter, nor its appends keep our bytes (docs/adr/0008-eventstoredb-appends.md).
 */
export interface Connection {
  /**
   * Runs `call` when there is a connection.
   * @throws NotConnected when none can be made, at once, or when `signal` is aborted first; what `call` throws, after which the client has connected anew if it must.
   */
  run<Result>(signal: AbortSignal, call: (client: StreamsClient, args: CallArguments) => Promise<Result>): Promise<Result>;
  /** To be told of faults that come after `run` has ended, on a stream that it opened: another leader, a lost connection. */
  failed(client: StreamsClient, fault: unknown): Promise<void>;
  /** Lets go; the last one to do so ends the client. */
  release(): Promise<void>;
}

/** What the library calls protected. Its version is pinned, and the contract suite runs over each of these. */
interface ClientInside {
  execute<Result>(
    service: typeof streams.StreamsClient,
    name: string,
    action: (client: StreamsClient) => Promise<Result>,
  ): Promise<Result>;
  callArguments(options: { readonly requiresLeader: boolean }, callOptions: CallOptions): CallArguments;
  handleError(client: StreamsClient, fault: unknown): Promise<void>;
}

interface Shared {
  readonly url: string;
  readonly client: EventStoreDBClient;
  readonly inside: ClientInside;
  holders: number;
  /** The stub on the current channel. */
  streams: StreamsClient | null;
  /** Whether it was logged that no node can be found, since the last connection. */
  told: boolean;
}

let shared: Shared | null = null;

/**
 * @throws Error when the process is connected to another server: two clients of the library in one process fail each other's appends, and
 * end the process. Also when `url` is not a connection string; the error does not tell it, since it may hold a password.
 */
export const connect = (url: string, logger: Pick<Logger, 'warn'> | undefined): Connection => {
  const address = withDefaults(url);
  if (shared !== null && shared.url !== address) throw new Error('this process is connected to another EventStoreDB');
  shared ??= open(address, logger);
  shared.holders += 1;
  const mine = shared;
  const { inside } = mine;
  return {
    run: (signal, call) =>
      untilAborted(
        signal,
        inside.execute(streams.StreamsClient, 'doorstep', async (client) => {
          mine.streams = client;
          await connected(client);
          mine.told = false;
          // Not a fault of the connection, which would be given up with the caller: others wait for it.
          if (signal.aborted) throw new GivenUp();
          return call(client, inside.callArguments({ requiresLeader: true }, { deadline: Infinity }));
        }),
      ),

    failed: (client, fault) => inside.handleError(client, fault),

    release: async () => {
      mine.holders -= 1;
      if (mine.holders > 0) return;
      shared = null;
      await mine.client.dispose();
      // Disposing leaves the connection open.
      mine.streams?.close();
    },
  };
};

const open = (url: string, logger: Pick<Logger, 'warn'> | undefined): Shared => {
  const client = makeClient(url);
  const inside = client as unknown as ClientInside;
  const made: Shared = { url, client, inside, holders: 0, streams: null, told: false };
  const reconnect = inside.handleError.bind(client);
  // The library does not wait for this, and it rejects when no node of a cluster can be found: that would end the process.
  inside.handleError = async (streamsClient, fault) => {
    try {
      await reconnect(streamsClient, fault);
    } catch (error) {
      if (!made.told) logger?.warn({ err: error }, 'no node of the event store can be found');
      made.told = true;
    }
  };
  return made;
};

const makeClient = (url: string): EventStoreDBClient => {
  let cause: unknown;
  try {
    return EventStoreDBClient.connectionString(url);
  } catch (error) {
    // What is wrong with the text is told with a part of it, which may be the password.
    if (error instanceof Error && !('connectionString' in error)) cause = error;
  }
  throw new Error('the address of the event store is not a connection string such as esdb://host:2113', { cause });
};

/**
 * How a lost server is noticed: the library's defaults take 20 s for a connection and 5 s for each node that it asks for the leader.
 * Milliseconds, but for the gossip timeout, which the library takes in seconds.
 */
const defaults: readonly [name: string, value: number][] = [
  ['keepAliveInterval', 10_000],
  ['keepAliveTimeout', 5_000],
  ['gossipTimeout', 2],
];

/** The connection string that the library understands, with what it does not name itself. */
export const withDefaults = (url: string): string => {
  const address = url.trim().replace(/^kurrentdb(?=[+:])/, 'esdb');
  const missing = defaults.filter(([name]) => !new RegExp(`[?&]${name}=`, 'i').test(address));
  return missing.reduce(
    (text, [name, value]) => `${text}${text.includes('?') ? '&' : '?'}${name}=${String(value)}`,
    address.replace(/\/+(?=\?|$)/, ''),
  );
};

/** Nobody waits for the call any more. */
class GivenUp extends Error {}

/** States of a channel of gRPC's. */
const READY = 2;
const TRANSIENT_FAILURE = 3;
const SHUTDOWN = 4;

/**
 * Waits for the connection, so that a call which fails later is known to have been sent, and one that never was is known not to be.
 * @throws NotConnected
 */
const connected = (client: StreamsClient): Promise<void> =>
  new Promise((resolve, reject) => {
    const channel = client.getChannel();
    const look = (): void => {
      const state = channel.getConnectivityState(true);
      const number: number = state;
      if (number === READY) resolve();
      else if (number === TRANSIENT_FAILURE || number === SHUTDOWN) reject(new NotConnected());
      else channel.watchConnectivityState(state, Infinity, look);
    };
    look();
  });

/** Looking for a leader among nodes that are down takes long, and the library does not stop it. */
const untilAborted = <Result>(signal: AbortSignal, work: Promise<Result>): Promise<Result> =>
  new Promise((resolve, reject) => {
    const abort = (): void => {
      reject(new NotConnected());
    };
    signal.addEventListener('abort', abort);
    if (signal.aborted) abort();
    work.then(resolve, reject).finally(() => {
      signal.removeEventListener('abort', abort);
    });
  });
