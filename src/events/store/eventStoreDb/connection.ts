import streams from '@eventstore/db-client/generated/streams_grpc_pb.js';
import type { Clock } from '../../../platform/clock.js';
import type { EndSignal } from '../../../platform/endSignal.js';
import { createListeningClock } from '../../../platform/listeningClock.js';
import type { Logger } from '../../../platform/logger.js';
import { parseAddress } from './address.js';
import { insideOf, makeClient, type CallArguments, type ClientInside, type StreamsClient } from './client.js';
import { NotConnected } from './faults.js';
import { probeLeader } from './leaderProbe.js';

/**
 * The one client of this process. The client library finds the leader and follows it. The calls on
 * its channel are our own, because the library's reads cannot filter and its appends change our
 * bytes (docs/adr/0008-eventstoredb-appends.md).
 */
export interface Connection {
  /**
   * Runs `call` once the connection to the leader stands.
   * @throws NotConnected when `signal` is aborted first, or the reason why the connection failed:
   * then nothing was sent. What `call` throws is thrown after the client has reconnected, if it has
   * to.
   */
  run<Result>(signal: EndSignal, call: (client: StreamsClient, args: CallArguments) => Promise<Result>): Promise<Result>;
  /**
   * Reports a fault that came after `run` had ended, on a stream that `run` opened: another leader,
   * a lost connection. Report NotConnected for a call that was not answered in time: the node may
   * hang, which the connection itself notices only after 15 s.
   */
  failed(client: StreamsClient, fault: unknown): Promise<void>;
  /** Gives up this use of the client. The last release closes it. */
  release(): Promise<void>;
}

interface Shared {
  readonly address: string;
  readonly nodes: string;
  readonly client: ReturnType<typeof makeClient>;
  readonly inside: ClientInside;
  users: number;
  /** The check that the current connection leads to the leader, made once for each connection. */
  leaderCheck: { readonly client: StreamsClient; readonly done: Promise<void> } | null;
  /** The stub on a connection to the leader, until anything is known against it. */
  ready: StreamsClient | null;
  /** The stub on the current channel. */
  streams: StreamsClient | null;
  /** Whether it was logged, since the last connection, that no node can be found. */
  searchFailureLogged: boolean;
}

let shared: Shared | null = null;

interface ConnectionParts {
  readonly clock: Clock;
  readonly logger: Pick<Logger, 'warn'> | undefined;
}

/**
 * Limits the wait for a node that is off or never answers, which the operating system would wait
 * for during minutes.
 */
const CONNECT_MS = 2_000;

/**
 * @throws Error when this process is connected to another server, because two clients of the
 * library in one process break each other's appends and end the process. Also when `url` is not a
 * connection string; the error does not quote it, since it may hold a password.
 */
export const connect = (url: string, parts: ConnectionParts): Connection => {
  const { text, nodes, warnings } = parseAddress(url);
  if (shared !== null && shared.address !== text)
    throw new Error('this process is connected to another EventStoreDB; close that event store first');
  if (shared === null) {
    shared = open(text, nodes, parts);
    for (const { option, message } of warnings) parts.logger?.warn({ option }, message);
  }
  shared.users += 1;
  const current = shared;
  const { inside } = current;
  /** gRPC copies them for each call. */
  const args: CallArguments = inside.callArguments({ requiresLeader: true }, { deadline: Infinity });

  const leaderCheck = (client: StreamsClient): Promise<void> => {
    if (current.leaderCheck?.client === client) return current.leaderCheck.done;
    const done = waitForLeader(client, args, parts.clock);
    current.leaderCheck = { client, done };
    const forget = (): void => {
      if (current.leaderCheck?.done !== done) return;
      current.leaderCheck = current.ready = null;
    };
    // Check again after a failure, because the node may become the leader, and after a lost
    // connection, because it may have restarted.
    done.then(() => {
      onConnectionLost(client, forget);
    }, forget);
    return done;
  };

  /** Spares most calls the search for the leader, which takes as long as sending them. */
  const runOn = async <Result>(
    client: StreamsClient,
    call: (client: StreamsClient, args: CallArguments) => Promise<Result>,
  ): Promise<Result> => {
    try {
      return await call(client, args);
    } catch (fault) {
      void inside.handleError(client, fault);
      throw fault;
    }
  };

  const findAndRun = <Result>(
    signal: EndSignal,
    call: (client: StreamsClient, args: CallArguments) => Promise<Result>,
  ): Promise<Result> =>
    rejectOnAbort(
      signal,
      inside
        .execute(streams.StreamsClient, 'doorstep', async (client) => {
          current.streams = client;
          // The connection was found after the last release.
          if (current.users === 0) client.close();
          await leaderCheck(client);
          if (current.leaderCheck?.client === client && current.users > 0) current.ready = client;
          current.searchFailureLogged = false;
          // The caller gave up. This must not look like a fault of the connection, which other
          // calls use.
          if (signal.aborted) throw new CallAborted();
          return call(client, args);
        })
        .catch((fault: unknown) => {
          throw isDiscoveryFailure(fault) ? new NodesNotFound(current.nodes, fault) : fault;
        }),
    );

  return {
    run: (signal, call) => (current.ready === null || signal.aborted ? findAndRun(signal, call) : runOn(current.ready, call)),

    failed: (client, fault) => inside.handleError(client, fault),

    release: async () => {
      current.users -= 1;
      if (current.users > 0) return;
      shared = current.ready = null;
      await current.client.dispose();
      // `dispose` leaves the connection open.
      current.streams?.close();
    },
  };
};

const open = (address: string, nodes: string, { logger }: ConnectionParts): Shared => {
  const client = makeClient(address);
  const inside = insideOf(client);
  const opened: Shared = {
    address,
    nodes,
    client,
    inside,
    users: 0,
    leaderCheck: null,
    ready: null,
    streams: null,
    searchFailureLogged: false,
  };
  const reconnect = inside.handleError.bind(client);
  // The library does not await this. A rejection, as when no node of a cluster is found, would end
  // the process.
  inside.handleError = async (streamsClient, fault) => {
    opened.ready = null;
    try {
      await reconnect(streamsClient, fault);
    } catch (error) {
      if (!opened.searchFailureLogged)
        logger?.warn({ err: error, nodes }, 'no node of the event store can be found; are the nodes up?');
      opened.searchFailureLogged = true;
    }
  };
  return opened;
};

/**
 * Whether the library asked every node several times and found no leader. Its error does not say
 * why.
 */
const isDiscoveryFailure = (fault: unknown): fault is Error =>
  fault instanceof Error && fault.message.startsWith('Failed to discover');

class NodesNotFound extends Error {
  constructor(nodes: string, cause: Error) {
    super(
      `none of the nodes ${nodes} could be used; check that they are up and, with TLS, that tlsCaFile names their authority`,
      {
        cause,
      },
    );
  }
}

/** The caller gave up before the call was made. */
class CallAborted extends Error {}

/** Connectivity states of a gRPC channel. */
const IDLE = 0;
const CONNECTING = 1;
const READY = 2;

/** @throws NotConnected after `CONNECT_MS`, and what `probeLeader` throws */
const waitForLeader = (client: StreamsClient, args: CallArguments, clock: Clock): Promise<void> =>
  new Promise((resolve, reject) => {
    let cancel = (): void => undefined;
    const cancelTimeout = createListeningClock(clock).schedule(CONNECT_MS, () => {
      reject(new NotConnected());
      cancel();
    });
    connectionSettled(client)
      .then(() => probeLeader(client, args, (giveUp) => (cancel = giveUp)))
      .then(resolve, reject)
      .finally(cancelTimeout);
  });

const onConnectionLost = (client: StreamsClient, lost: () => void): void => {
  const channel = client.getChannel();
  const state = channel.getConnectivityState(false);
  const number: number = state;
  if (number === READY) channel.watchConnectivityState(state, Infinity, lost);
  else lost();
};

/**
 * Waits until the connection stands or has failed. If it failed, the next call throws the reason.
 */
const connectionSettled = (client: StreamsClient): Promise<void> =>
  new Promise((resolve) => {
    const channel = client.getChannel();
    const check = (): void => {
      const state = channel.getConnectivityState(true);
      const number: number = state;
      if (number === IDLE || number === CONNECTING) channel.watchConnectivityState(state, Infinity, check);
      else resolve();
    };
    check();
  });

/**
 * Rejects when `signal` is aborted, because the library's search for a leader takes long and cannot
 * be cancelled.
 */
const rejectOnAbort = <Result>(signal: EndSignal, work: Promise<Result>): Promise<Result> =>
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
