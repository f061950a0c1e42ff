import shared from '@eventstore/db-client/generated/shared_pb.js';
import streams from '@eventstore/db-client/generated/streams_grpc_pb.js';
import messages from '@eventstore/db-client/generated/streams_pb.js';
import type { ClientReadableStream } from '@grpc/grpc-js';
import type { EndSignal } from '../../../platform/endSignal.js';
import type { Ids } from '../../../platform/ids.js';
import { NO_STREAM, PAGE_BYTES, START, type ExpectedRevision } from '../eventStore.js';
import type { AppendReply } from './appendMessages.js';
import { createAppendStream, type PendingAppend } from './appendStream.js';
import type { CallArguments, StreamsClient } from './client.js';
import type { Connection } from './connection.js';
import { DeadlinePassed } from './deadline.js';
import { NotConnected } from './faults.js';
import type { ServerFilter } from './filters.js';
import { createPulse, type Pulse, type SentCall } from './pulse.js';
import { decodeReadAnswer, type ReadAnswer } from './readAnswer.js';
import {
  identifier,
  readFrom,
  readOfEnd,
  readOfStream,
  subscriptionFrom,
  type ReadRequest,
  type StreamRequest,
} from './readRequests.js';
import { bytesOf, type WireEvent, type WireRecord } from './records.js';

/**
 * The calls of EventStoreDB's protocol that the adapter makes. When `signal` is aborted, each ends
 * with NotConnected or a gRPC fault.
 */
export interface Wire {
  /**
   * @param onSent called when the server may have received the request; a call that fails before
   * has written nothing
   */
  append(request: AppendRequest, signal: EndSignal, onSent: () => void): Promise<AppendReply>;
  readStream(request: StreamRequest, signal: EndSignal): Promise<StreamReply>;
  /** The position of the last event, including the server's own; `START` when there is none. */
  lastPosition(signal: EndSignal): Promise<bigint>;
  /**
   * Yields what is after `after`, then what comes, and ends only with a fault. It reads from the
   * server only when the consumer asks.
   */
  subscribe(after: bigint, filter: ServerFilter | null, signal: EndSignal): AsyncIterable<ReadAnswer>;
  /** As `subscribe`, to everything, for a reader that takes each answer at once. */
  follow(after: bigint, signal: EndSignal, onAnswer: (answer: ReadAnswer) => void): Promise<never>;
  /** The state of the read with this signal, for its deadline. */
  progress(signal: EndSignal): ReadProgress;
  /** Ends what appends share. They are done by then. */
  close(): void;
}

/**
 * `not sent`: there is no connection. `arriving`: a part of the answer is there. `slow`: the server
 * shows life. `silent`: it does not.
 */
export type ReadProgress = 'not sent' | 'arriving' | 'slow' | 'silent';

export interface AppendRequest {
  readonly stream: string;
  readonly events: readonly WireEvent[];
  readonly expected: ExpectedRevision;
}

/**
 * `head` is `NO_STREAM` for a stream that does not exist, and `null` when the server does not send
 * it. It ends early once the records take about `PAGE_BYTES`.
 */
export interface StreamReply {
  readonly records: readonly WireRecord[];
  readonly head: bigint | null;
  readonly bytes: number;
}

export const createWire = (connection: Connection, ids: Ids): Wire => {
  /** For each subscription the function that ends it and the connection that it uses. */
  const subscriptions = new Map<() => void, StreamsClient>();
  const pulses = new WeakMap<StreamsClient, Pulse>();
  const reads = new Map<EndSignal, { readonly sent: SentCall; received: boolean }>();

  const pulseOf = (client: StreamsClient): Pulse => {
    const pulse = pulses.get(client) ?? createPulse();
    pulses.set(client, pulse);
    return pulse;
  };

  /**
   * Reconnects after a call that missed its deadline while nothing at all was heard, because the
   * node may hang and another one may be the leader.
   */
  const giveUpConnection = async (client: StreamsClient, signal: EndSignal, sent: SentCall): Promise<void> => {
    if (!(signal.reason instanceof DeadlinePassed) || !sent.isServerSilent()) return;
    await connection.failed(client, new NotConnected());
    // Subscriptions on this connection would notice it much later.
    for (const [end, on] of subscriptions) if (on === client) end();
  };

  /** Sends the request of a read. `end` is called when nothing more is wanted of it. */
  const openRead = async ({ bytes, isSubscription }: ReadRequest, signal: EndSignal): Promise<OpenRead> => {
    const { client, answers } = await connection.run(signal, (target, args) =>
      Promise.resolve({
        client: target,
        answers: target.makeServerStreamRequest(path, asTheyAre, decodeReadAnswer, bytes, ...args),
      }),
    );
    const cancel = (): void => {
      answers.cancel();
    };
    // Cancelling makes the call fail when nothing listens any more, which would be thrown.
    answers.on('error', () => undefined);
    signal.addEventListener('abort', cancel);
    if (signal.aborted) cancel();
    if (isSubscription) subscriptions.set(cancel, client);
    const pulse = pulseOf(client);
    const current = { sent: pulse.begin(), received: false };
    if (!isSubscription) reads.set(signal, current);
    return {
      answers,
      heard: () => {
        current.received = true;
        pulse.heard();
      },
      failed: (fault) => (signal.aborted ? giveUpConnection(client, signal, current.sent) : connection.failed(client, fault)),
      end: () => {
        current.sent.end(current.received);
        reads.delete(signal);
        subscriptions.delete(cancel);
        signal.removeEventListener('abort', cancel);
        // What has ended by itself needs no more: it costs a status for nobody.
        if (!answers.readableEnded) cancel();
      },
    };
  };

  /** Yields the answers to a read, each when the consumer asks for it. */
  async function* read(request: ReadRequest, signal: EndSignal): AsyncGenerator<ReadAnswer, void> {
    const { answers, heard, failed, end } = await openRead(request, signal);
    try {
      for await (const answer of answers) {
        heard();
        yield answer;
      }
    } catch (fault) {
      await failed(fault);
      throw fault;
    } finally {
      end();
    }
  }

  /**
   * Reads to the end, or until `onAnswer` has enough and returns true, as fast as the server sends: for a few answers,
   * or a reader that takes each at once. Waiting for each of them costs several times as much.
   */
  const readToEnd = async (request: ReadRequest, signal: EndSignal, onAnswer: (answer: ReadAnswer) => boolean): Promise<void> => {
    const { answers, heard, failed, end } = await openRead(request, signal);
    try {
      await new Promise<void>((resolve, reject) => {
        answers.on('error', reject).on('end', resolve);
        answers.on('data', (answer: ReadAnswer) => {
          heard();
          try {
            if (onAnswer(answer)) resolve();
          } catch (fault) {
            // Thrown here it would end the process.
            reject(fault instanceof Error ? fault : new Error('an answer could not be taken', { cause: fault }));
          }
        });
      });
    } catch (fault) {
      await failed(fault);
      throw fault;
    } finally {
      end();
    }
  };

  /** The first event at `position` or later. */
  const firstFrom = async (position: bigint, signal: EndSignal): Promise<WireRecord | null> => {
    let first = null as WireRecord | null;
    await readToEnd(readFrom(position), signal, (answer) => {
      if (answer.kind === 'event') first = answer.record;
      return false;
    });
    return first;
  };

  /**
   * The subscription to what is after `after`, and the event that it skips: when the event at `after` is gone, as the server's own are
   * after a while, the server would skip the next event instead of it.
   */
  const subscriptionAfter = async (
    after: bigint,
    filter: ServerFilter | null,
    signal: EndSignal,
  ): Promise<{ readonly request: ReadRequest; readonly skipped: WireRecord | null }> => {
    const next = after > START ? await firstFrom(after, signal) : null;
    const skipped = next !== null && next.position !== after ? next : null;
    return { request: subscriptionFrom(skipped?.position ?? after, filter), skipped };
  };

  const appendStream = createAppendStream({
    broken: (client, fault) => void connection.failed(client, fault),
    heard: (client) => {
      pulseOf(client).heard();
    },
  });

  /** On a call of its own. */
  const appendAlone = (request: AppendRequest, client: StreamsClient, args: CallArguments): PendingAppend => {
    const { stream, events, expected } = request;
    let giveUp = (): void => undefined;
    const reply = new Promise<AppendReply>((resolve, reject) => {
      const call = client.append(...args, (fault, answer) => {
        if (fault !== null) {
          reject(fault);
          return;
        }
        pulseOf(client).heard();
        resolve(appendReply(answer));
      });
      // The callback reports the same fault; without this listener it would also be thrown.
      call.on('error', reject);
      giveUp = () => {
        call.cancel();
      };
      call.write(new messages.AppendReq().setOptions(appendOptions(stream, expected)));
      for (const event of events) call.write(new messages.AppendReq().setProposedMessage(proposed(event)));
      call.end();
    });
    return { reply, giveUp };
  };

  return {
    append: (request, signal, onSent) =>
      connection.run(signal, async (client, args) => {
        const current = pulseOf(client).begin();
        const { stream, events, expected } = request;
        onSent();
        // The server recognises a repetition for certain only by its expected revision.
        const append =
          typeof expected === 'bigint'
            ? appendStream.append(client, args, { id: ids.commandId(), stream, events, expected })
            : appendAlone(request, client, args);
        const giveUp = (): void => {
          append.giveUp();
          void giveUpConnection(client, signal, current);
        };
        signal.addEventListener('abort', giveUp);
        let isAnswered = false;
        try {
          const reply = await append.reply;
          isAnswered = true;
          return reply;
        } finally {
          current.end(isAnswered);
          signal.removeEventListener('abort', giveUp);
        }
      }),

    readStream: async (request, signal) => {
      const records: WireRecord[] = [];
      let head: bigint | null = null;
      let bytes = 0;
      await readToEnd(readOfStream(request), signal, (answer) => {
        if (answer.kind === 'no stream') head = NO_STREAM;
        if (answer.kind === 'head') head = answer.revision;
        // What the server had sent by the time that it was enough.
        if (answer.kind !== 'event' || bytes >= PAGE_BYTES) return false;
        records.push(answer.record);
        bytes += bytesOf(answer.record);
        return bytes >= PAGE_BYTES;
      });
      return { records, head, bytes };
    },

    lastPosition: async (signal) => {
      let position = START;
      await readToEnd(readOfEnd, signal, (answer) => {
        if (answer.kind === 'event') ({ position } = answer.record);
        return false;
      });
      return position;
    },

    async *subscribe(after, filter, signal) {
      const { request, skipped } = await subscriptionAfter(after, filter, signal);
      if (skipped !== null) yield { kind: 'event', record: skipped };
      yield* read(request, signal);
      throw new Error(subscriptionEnded);
    },

    follow: async (after, signal, onAnswer) => {
      const { request, skipped } = await subscriptionAfter(after, null, signal);
      if (skipped !== null) onAnswer({ kind: 'event', record: skipped });
      await readToEnd(request, signal, (answer) => {
        onAnswer(answer);
        return false;
      });
      throw new Error(subscriptionEnded);
    },

    progress: (signal) => {
      const current = reads.get(signal);
      if (current === undefined) return 'not sent';
      if (current.received) return 'arriving';
      return current.sent.isServerSlow() ? 'slow' : 'silent';
    },

    close: () => {
      appendStream.close();
    },
  };
};

const subscriptionEnded = 'the event store ended a subscription';

const { path } = streams.StreamsService.read;

interface OpenRead {
  readonly answers: ClientReadableStream<ReadAnswer>;
  readonly heard: () => void;
  readonly failed: (fault: unknown) => Promise<void>;
  readonly end: () => void;
}

const asTheyAre = (bytes: Buffer): Buffer => bytes;

const appendOptions = (stream: string, expected: ExpectedRevision): messages.AppendReq.Options => {
  const options = new messages.AppendReq.Options().setStreamIdentifier(identifier(stream));
  if (expected === 'any') return options.setAny(new shared.Empty());
  if (expected === 'exists') return options.setStreamExists(new shared.Empty());
  return expected < 0n ? options.setNoStream(new shared.Empty()) : options.setRevision(String(expected));
};

const proposed = ({ id, type, data, metadata }: WireEvent): messages.AppendReq.ProposedMessage => {
  const message = new messages.AppendReq.ProposedMessage().setId(new shared.UUID().setString(id));
  message.getMetadataMap().set('type', type).set('content-type', 'application/json');
  return message.setData(data).setCustomMetadata(metadata);
};

const appendReply = (reply: messages.AppendResp): AppendReply => {
  const success = reply.getSuccess();
  if (success !== undefined) {
    const position = success.getPosition();
    return {
      written: true,
      revision: BigInt(success.getCurrentRevision()),
      position: position === undefined ? null : BigInt(position.getCommitPosition()),
    };
  }
  const wrong = reply.getWrongExpectedVersion();
  if (wrong === undefined) throw new Error('the event store answered an append with neither success nor refusal');
  return { written: false, actual: wrong.hasCurrentRevision() ? BigInt(wrong.getCurrentRevision()) : -1n };
};
