import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { createCache } from '../platform/cache.js';
import type { Clock } from '../platform/clock.js';
import { senderIn, type TrustsProxy } from '../platform/publicAddress.js';

/**
 * What one sender may have at the same time, so that nobody alone turns the others away. A sender
 * is an address as `senderIn` says; each process counts for itself.
 */
export interface Senders {
  /**
   * Counts a connection until it closes. When the sender has too many, its idle ones are closed
   * first; otherwise the new one is closed within 1 s, and a request on it is refused.
   */
  connected(socket: Socket): void;
  /**
   * Counts a request until its answer is sent or given up.
   * @returns `null` when the sender has too many under way
   */
  admit(request: IncomingMessage, response: ServerResponse): Admission | null;
}

/** A request that counts for its sender. */
export interface Admission {
  /**
   * Counts bytes of a body that is not whole yet (negative: gives them back). False: the sender has
   * too many under way.
   */
  holdBody(bytes: number): boolean;
  /** Gives its place to a request that is made to answer it, until that one's answer is sent or given up. False: one has it. */
  lend(to: ServerResponse): boolean;
}

export interface SenderLimits {
  /** Requests that a process takes at once. */
  readonly maxUnderWay: number;
  /** Requests and connections of one sender. */
  readonly maxOfSender: number;
}

/** Who wants to know what was refused. */
export interface SenderMetrics {
  /** One sender had too many. */
  refused(what: 'request' | 'connection' | 'body'): void;
  /** A connection was opened (1) or closed (-1). */
  connections(change: 1 | -1): void;
}

/**
 * Bytes of bodies that one sender may have sent in part: 32 of the largest. Of connections that
 * stall, nothing else takes memory.
 */
const maxBodyBytes = 32 * 1_048_576;
/** Long enough for a request that is on its way, and for the answer to arrive. */
const refusedMs = 1_000;
const maxProxies = 1_000;

interface Sender {
  requests: number;
  bodyBytes: number;
  readonly connections: Set<Connection>;
}

interface Connection {
  readonly socket: Socket;
  readonly peer: string;
  /** The sender had too many when it was opened. */
  isExcess: boolean;
  hasAsked: boolean;
  requests: number;
}

export const createSenders = (clock: Clock, limits: SenderLimits, metrics: SenderMetrics, trustsProxy?: TrustsProxy): Senders => {
  const { maxUnderWay, maxOfSender } = limits;
  const senders = new Map<string, Sender>();
  const connections = new WeakMap<object, Connection>();
  /**
   * Peers that named another sender and were believed. Their connections are everybody's; the
   * requests count for whom they name.
   */
  const proxies = createCache<true>(maxProxies);
  let excess = 0;

  const senderNamed = (name: string): Sender => {
    const known = senders.get(name);
    if (known !== undefined) return known;
    const sender: Sender = { requests: 0, bodyBytes: 0, connections: new Set() };
    senders.set(name, sender);
    return sender;
  };

  const forgetIdle = (name: string, { requests, connections: own }: Sender): void => {
    if (requests === 0 && own.size === 0) senders.delete(name);
  };

  const hasRoom = (peer: string, { connections: own }: Sender): boolean =>
    own.size < (proxies.has(peer) ? maxUnderWay : maxOfSender);

  /** Keeps a client with many connections working: it opens another one when it needs it. */
  const closeIdle = ({ connections: own }: Sender): boolean => {
    for (const connection of own) {
      if (!connection.hasAsked || connection.requests > 0) continue;
      own.delete(connection);
      connection.socket.destroy();
      return true;
    }
    return false;
  };

  return {
    connected: (socket) => {
      const peer = senderIn({ socket, headers: {} });
      const sender = senderNamed(peer);
      const connection: Connection = { socket, peer, isExcess: false, hasAsked: false, requests: 0 };
      connections.set(socket, connection);
      metrics.connections(1);
      connection.isExcess = !hasRoom(peer, sender) && !closeIdle(sender);
      let cancel = (): void => undefined;
      if (connection.isExcess) {
        metrics.refused('connection');
        excess += 1;
        cancel = clock.schedule(refusedMs, () => {
          if (connection.isExcess) socket.destroy();
        });
      } else {
        sender.connections.add(connection);
      }
      socket.once('close', () => {
        cancel();
        metrics.connections(-1);
        if (connection.isExcess) excess -= 1;
        // It may be another record than at the beginning, when there was nothing to count between.
        const own = senderNamed(peer);
        own.connections.delete(connection);
        forgetIdle(peer, own);
      });
      if (connection.isExcess && excess > maxUnderWay) socket.destroy();
    },

    admit: (request, response) => {
      const name = senderIn(request, trustsProxy);
      const connection = connections.get(request.socket);
      if (connection !== undefined && name !== connection.peer) {
        proxies.set(connection.peer, true);
        const own = senderNamed(connection.peer);
        if (connection.isExcess && hasRoom(connection.peer, own)) {
          connection.isExcess = false;
          excess -= 1;
          own.connections.add(connection);
        }
      }
      const sender = senderNamed(name);
      if (connection?.isExcess === true || sender.requests >= maxOfSender) {
        metrics.refused('request');
        forgetIdle(name, sender);
        return null;
      }
      sender.requests += 1;
      if (connection !== undefined) {
        connection.hasAsked = true;
        connection.requests += 1;
      }
      let held = 0;
      let isOver = false;
      let isLent = false;
      response.once('close', () => {
        isOver = true;
        sender.requests -= 1;
        sender.bodyBytes -= held;
        if (connection !== undefined) connection.requests -= 1;
        forgetIdle(name, sender);
      });
      return {
        holdBody: (bytes) => {
          if (isOver) return false;
          held += bytes;
          sender.bodyBytes += bytes;
          if (bytes <= 0 || sender.bodyBytes <= maxBodyBytes) return true;
          metrics.refused('body');
          return false;
        },
        lend: (to) => {
          if (isLent) return false;
          isLent = true;
          to.once('close', () => {
            isLent = false;
          });
          return true;
        },
      };
    },
  };
};
