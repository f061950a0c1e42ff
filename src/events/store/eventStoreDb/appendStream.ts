import streams from '@eventstore/db-client/generated/streams_grpc_pb.js';
import type { ClientDuplexStream } from '@grpc/grpc-js';
import { createTransientMap, type TransientMap } from '../../../platform/transientMap.js';
import {
  decodeAppendAnswer,
  encodeAppend,
  keyOf,
  type AppendAnswer,
  type AppendReply,
  type ExactAppend,
} from './appendMessages.js';
import type { CallArguments, StreamsClient } from './client.js';
import { AppendFault } from './faults.js';

/**
 * Appends that share one call, the batch append of the protocol: on its own call each costs three
 * times as much. Answers find their append by its id, so one that comes late or twice is ignored.
 */
export interface AppendStream {
  /**
   * @param args for the call that is made when there is none yet
   */
  append(client: StreamsClient, args: CallArguments, request: ExactAppend): PendingAppend;
  /** Ends the call; appends that are under way fail. */
  close(): void;
}

export interface PendingAppend {
  /** Rejects with the fault of the append, or of the call. */
  readonly reply: Promise<AppendReply>;
  /** Ignores the answer, and rejects `reply`. */
  readonly giveUp: () => void;
}

type BatchCall = ClientDuplexStream<ExactAppend, AppendAnswer>;

interface Pending {
  readonly resolve: (reply: AppendReply) => void;
  readonly reject: (fault: unknown) => void;
}

interface OpenCall {
  readonly client: StreamsClient;
  readonly call: BatchCall;
  readonly pending: TransientMap<string, Pending>;
}

/**
 * @param on.broken receives the fault that ended the call: another leader, a lost connection
 * @param on.heard called for each answer
 */
export const createAppendStream = (on: {
  readonly broken: (client: StreamsClient, fault: unknown) => void;
  readonly heard: (client: StreamsClient) => void;
}): AppendStream => {
  let current: OpenCall | null = null;
  let isClosed = false;

  const openCall = (client: StreamsClient, args: CallArguments): OpenCall => {
    const call = client.makeBidiStreamRequest(path, encodeAppend, decodeAppendAnswer, ...args);
    const pending = createTransientMap<string, Pending>();
    const opened: OpenCall = { client, call, pending };
    const ended = (fault: unknown): void => {
      if (current === opened) current = null;
      // One alone is what the fault is about. Of several each may have been written, whatever it says.
      const reason = pending.size === 1 ? fault : new AppendFault(interrupted, { cause: fault });
      for (const { reject } of pending.values()) reject(reason);
    };
    call.on('data', ({ key, outcome }: AppendAnswer) => {
      on.heard(client);
      const append = pending.get(key);
      pending.delete(key);
      if (outcome instanceof AppendFault) append?.reject(outcome);
      else append?.resolve(outcome);
    });
    call.on('error', (fault) => {
      if (!isClosed) on.broken(client, fault);
      ended(fault);
    });
    call.on('end', () => {
      ended(new AppendFault(interrupted));
    });
    return opened;
  };

  const callOn = (client: StreamsClient, args: CallArguments): OpenCall => {
    if (current?.client === client) return current;
    // The server answers what is under way on it, and then ends it.
    current?.call.end();
    current = openCall(client, args);
    return current;
  };

  return {
    append: (client, args, request) => {
      const key = keyOf(request.id);
      const { call, pending } = callOn(client, args);
      const reply = new Promise<AppendReply>((resolve, reject) => {
        pending.set(key, { resolve, reject });
      });
      call.write(request);
      // It stays among those that are under way: what ends the call may be about it.
      const giveUp = (): void => {
        pending.get(key)?.reject(new AppendFault({ code: null, details: 'the append was given up' }));
      };
      return { reply, giveUp };
    },
    close: () => {
      isClosed = true;
      current?.call.cancel();
    },
  };
};

const { path } = streams.StreamsService.batchAppend;

const interrupted = { code: null, details: 'the call of the append ended before its answer' };
