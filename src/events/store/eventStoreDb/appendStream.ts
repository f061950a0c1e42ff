import shared from '@eventstore/db-client/generated/shared_pb.js';
import type status from '@eventstore/db-client/generated/status_pb.js';
import messages from '@eventstore/db-client/generated/streams_pb.js';
import type { ClientDuplexStream } from '@grpc/grpc-js';
import { createTransientMap, type TransientMap } from '../../../platform/transientMap.js';
import { NO_STREAM } from '../eventStore.js';
import type { CallArguments, StreamsClient } from './client.js';
import { AppendFault } from './faults.js';
import type { WireEvent } from './records.js';

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

/** An append that the server recognises when it is repeated. */
export interface ExactAppend {
  /** Unique among the appends of all clients. */
  readonly id: string;
  readonly stream: string;
  readonly events: readonly WireEvent[];
  readonly expected: bigint;
}

export interface PendingAppend {
  /** Rejects with the fault of the append, or of the call. */
  readonly reply: Promise<AppendReply>;
  /** Ignores the answer, and rejects `reply`. */
  readonly giveUp: () => void;
}

/**
 * `position` is `null` when the server recognised a repetition and does not know the position any
 * more.
 */
export type AppendReply =
  | { readonly written: true; readonly revision: bigint; readonly position: bigint | null }
  | { readonly written: false; readonly actual: bigint };

type BatchCall = ClientDuplexStream<messages.BatchAppendReq, messages.BatchAppendResp>;

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
    const opened: OpenCall = { client, call: client.batchAppend(...args), pending: createTransientMap() };
    const { call, pending } = opened;
    const ended = (fault: unknown): void => {
      if (current === opened) current = null;
      // One alone is what the fault is about. Of several each may have been written, whatever it says.
      const reason = pending.size === 1 ? fault : new AppendFault(interrupted, { cause: fault });
      for (const { reject } of pending.values()) reject(reason);
    };
    call.on('data', (answer: messages.BatchAppendResp) => {
      on.heard(client);
      const key = keyOf(answer.getCorrelationId());
      const append = pending.get(key);
      pending.delete(key);
      if (append !== undefined) settle(answer, append);
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
      const key = hexOf(request.id);
      const { call, pending } = callOn(client, args);
      const reply = new Promise<AppendReply>((resolve, reject) => {
        pending.set(key, { resolve, reject });
      });
      call.write(messageOf(request));
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

/** gRPC status codes. */
const OK = 0;
const UNAVAILABLE = 14;

const hexOf = (id: string): string => id.replaceAll('-', '');

/** The server answers with the id as two numbers, and refuses some appends with the text that it got. */
const keyOf = (id: shared.UUID | undefined): string => {
  const numbers = id?.getStructured();
  if (numbers === undefined) return hexOf(id?.getString() ?? '');
  return [numbers.getMostSignificantBits(), numbers.getLeastSignificantBits()].map(hexOfBits).join('');
};

const hexOfBits = (bits: string): string => BigInt.asUintN(64, BigInt(bits)).toString(16).padStart(16, '0');

const interrupted = { code: null, details: 'the call of the append ended before its answer' };

const settle = (answer: messages.BatchAppendResp, { resolve, reject }: Pending): void => {
  const success = answer.getSuccess();
  if (success !== undefined) {
    const position = success.getPosition();
    resolve({
      written: true,
      revision: BigInt(success.getCurrentRevision()),
      position: position === undefined ? null : BigInt(position.getCommitPosition()),
    });
    return;
  }
  const error = answer.getError();
  if (error === undefined) {
    reject(new AppendFault({ code: null, details: 'the event store answered an append with neither success nor refusal' }));
    return;
  }
  const actual = actualRevision(error);
  const code: number = error.getCode();
  if (actual !== null) resolve({ written: false, actual });
  // A node that did not handle the append says so by words alone, without a code.
  else reject(new AppendFault({ code: code === OK ? UNAVAILABLE : code, details: error.getMessage() }));
};

/** `null` when the append was refused for another reason. */
const actualRevision = (error: status.Status): bigint | null => {
  const details = error.getDetails();
  if (details?.getTypeUrl().endsWith('event_store.client.WrongExpectedVersion') !== true) return null;
  const wrong = shared.WrongExpectedVersion.deserializeBinary(details.getValue_asU8());
  return wrong.hasCurrentStreamRevision() ? BigInt(wrong.getCurrentStreamRevision()) : NO_STREAM;
};

type EmptyMessage = Parameters<messages.BatchAppendReq.Options['setNoStream']>[0];

/** The protocol has two messages without fields, of which the client's package exports one. */
const empty = new shared.Empty() as unknown as EmptyMessage;

const messageOf = ({ id, stream, events, expected }: ExactAppend): messages.BatchAppendReq => {
  const name = new shared.StreamIdentifier().setStreamName(Uint8Array.from(Buffer.from(stream)));
  const options = new messages.BatchAppendReq.Options().setStreamIdentifier(name);
  if (expected < 0n) options.setNoStream(empty);
  else options.setStreamPosition(String(expected));
  return new messages.BatchAppendReq()
    .setCorrelationId(new shared.UUID().setString(id))
    .setOptions(options)
    .setProposedMessagesList(events.map(proposed))
    .setIsFinal(true);
};

const proposed = ({ id, type, data, metadata }: WireEvent): messages.BatchAppendReq.ProposedMessage => {
  const message = new messages.BatchAppendReq.ProposedMessage().setId(new shared.UUID().setString(id));
  message.getMetadataMap().set('type', type).set('content-type', 'application/json');
  return message.setData(data).setCustomMetadata(metadata);
};
