import streams from '@eventstore/db-client/generated/streams_grpc_pb.js';
import type { Clock } from '../../../platform/clock.js';
import type { Logger } from '../../../platform/logger.js';
import { readAddress } from './address.js';
import { insideOf, makeClient, type CallArguments, type ClientInside, type StreamsClient } from './client.js';
import { NotConnected } from './faults.js';
import { askWhetherLeader } from './leader.js';

/**
 * The one client of this process. The client library finds the leader and goes after it; the calls on its channel are our own, because the
 * library's reads cannot filter, nor its appends keep our bytes (docs/adr/0008-eventstoredb-appends.md).
 */
export interface Connection {
  /**
   * Runs `call` when there is a connection to a node that was found to be the leader.
   * @throws NotConnected when `signal` is aborted first, and what kept the connection from being made: then nothing was sent. Also what `call`
   * throws, after which the client has connected anew if it must.
   */
  run<Result>(signal: AbortSignal, call: (client: StreamsClient, args: CallArguments) => Promise<Result>): Promise<Result>;
  /**
   * To be told of faults that come after `run` has ended, on a stream that it opened: another leader, a lost connection. Also, as NotConnected,
   * that nothing was heard of a call in time: the node may stand still, which the connection itself tells only after 15 s.
   */
  failed(client: StreamsClient, fault: unknown): Promise<void>;
  /** Lets go; the last one to do so ends the client. */
  release(): Promise<void>;
}

interface Shared {
  readonly address: string;
  readonly nodes: string;
  readonly client: ReturnType<typeof makeClient>;
  readonly inside: ClientInside;
  holders: number;
  /** Whether the current connection leads to the leader; asked once for each connection. */
  ready: { readonly client: StreamsClient; readonly done: Promise<void> } | null;
  /** The stub on the current channel. */
  streams: StreamsClient | null;
  /** Whether it was logged that no node can be found, since the last connection. */
  told: boolean;
}

let shared: Shared | null = null;

interface ConnectionParts {
  readonly clock: Clock;
  readonly logger: Pick<Logger, 'warn'> | undefined;
}

/** A node that takes connections and says nothing, or none when it is switched off, would be waited for as long as the system tries: minutes. */
const CONNECT_MS = 2_000;

/**
 * @throws Error when the process is connected to another server: two clients of the library in one process fail each other's appends, and
 * end the process. Also when `url` is not a connection string; the error does not tell it, since it may hold a password.
 */
export const connect = (url: string, parts: ConnectionParts): Connection => {
  const { text, nodes, warnings } = readAddress(url);
  if (shared !== null && shared.address !== text) throw new Error('this process is connected to another EventStoreDB');
  if (shared === null) {
    shared = open(text, nodes, parts);
    for (const { option, message } of warnings) parts.logger?.warn({ option }, message);
  }
  shared.holders += 1;
  const mine = shared;
  const { inside } = mine;
  const args = (): CallArguments => inside.callArguments({ requiresLeader: true }, { deadline: Infinity });

  const ready = (client: StreamsClient): Promise<void> => {
    if (mine.ready?.client === client) return mine.ready.done;
    const done = leads(client, args(), parts.clock);
    mine.ready = { client, done };
    const forget = (): void => {
      if (mine.ready?.done === done) mine.ready = null;
    };
    // Who was not the leader may be it next time; and who is there after the connection was lost may have been started anew.
    done.then(() => {
      whenLost(client, forget);
    }, forget);
    return done;
  };

  return {
    run: (signal, call) =>
      untilAborted(
        signal,
        inside
          .execute(streams.StreamsClient, 'doorstep', async (client) => {
            mine.streams = client;
            // Found when everybody had let go.
            if (mine.holders === 0) client.close();
            await ready(client);
            mine.told = false;
            // Not a fault of the connection, which would be given up with the caller: others wait for it.
            if (signal.aborted) throw new GivenUp();
            return call(client, args());
          })
          .catch((fault: unknown) => {
            throw isSearchInVain(fault) ? new NodesNotFound(mine.nodes, fault) : fault;
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

const open = (address: string, nodes: string, { logger }: ConnectionParts): Shared => {
  const client = makeClient(address);
  const inside = insideOf(client);
  const made: Shared = { address, nodes, client, inside, holders: 0, ready: null, streams: null, told: false };
  const reconnect = inside.handleError.bind(client);
  // The library does not wait for this, and it rejects when no node of a cluster can be found: that would end the process.
  inside.handleError = async (streamsClient, fault) => {
    try {
      await reconnect(streamsClient, fault);
    } catch (error) {
      if (!made.told) logger?.warn({ err: error, nodes }, 'no node of the event store can be found');
      made.told = true;
    }
  };
  return made;
};

/** The library asked every node, several times. It keeps the reasons to itself. */
const isSearchInVain = (fault: unknown): fault is Error =>
  fault instanceof Error && fault.message.startsWith('Failed to discover');

class NodesNotFound extends Error {
  constructor(nodes: string, cause: Error) {
    super(`none of ${nodes} tells of a node that can be used: are they up, and with TLS, does tlsCaFile name their authority?`, {
      cause,
    });
  }
}

/** Nobody waits for the call any more. */
class GivenUp extends Error {}

/** States of a channel of gRPC's. */
const IDLE = 0;
const CONNECTING = 1;
const READY = 2;

/** @throws NotConnected after `CONNECT_MS`, and what the question whether it is the leader throws */
const leads = (client: StreamsClient, args: CallArguments, clock: Clock): Promise<void> =>
  new Promise((resolve, reject) => {
    let cancel = (): void => undefined;
    const tooLate = clock.schedule(CONNECT_MS, () => {
      reject(new NotConnected());
      cancel();
    });
    settled(client)
      .then(() => askWhetherLeader(client, args, (giveUp) => (cancel = giveUp)))
      .then(resolve, reject)
      .finally(tooLate);
  });

const whenLost = (client: StreamsClient, lost: () => void): void => {
  const channel = client.getChannel();
  const state = channel.getConnectivityState(false);
  const number: number = state;
  if (number === READY) channel.watchConnectivityState(state, Infinity, lost);
  else lost();
};

/** Waits until the connection stands or could not be made; in the second case the next call tells why. */
const settled = (client: StreamsClient): Promise<void> =>
  new Promise((resolve) => {
    const channel = client.getChannel();
    const look = (): void => {
      const state = channel.getConnectivityState(true);
      const number: number = state;
      if (number === IDLE || number === CONNECTING) channel.watchConnectivityState(state, Infinity, look);
      else resolve();
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
