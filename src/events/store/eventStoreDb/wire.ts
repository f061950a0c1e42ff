import shared from '@eventstore/db-client/generated/shared_pb.js';
import streams from '@eventstore/db-client/generated/streams_grpc_pb.js';
import messages from '@eventstore/db-client/generated/streams_pb.js';
import type { EndSignal } from '../../../platform/endSignal.js';
import type { Ids } from '../../../platform/ids.js';
import { START, type ExpectedRevision } from '../eventStore.js';
import type { AppendReply } from './appendMessages.js';
import { createAppendStream, type PendingAppend } from './appendStream.js';
import type { CallArguments, StreamsClient } from './client.js';
import type { Connection } from './connection.js';
import { DeadlinePassed } from './deadline.js';
import { NotConnected } from './faults.js';
import type { ServerFilter } from './filters.js';
import { createPulse, type Pulse, type SentCall } from './pulse.js';
import { decodeReadAnswer, type ReadAnswer } from './readAnswer.js';
import type { WireEvent, WireRecord } from './records.js';

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

export interface StreamRequest {
  readonly stream: string;
  readonly from: bigint | 'end';
  readonly backwards: boolean;
  /** At least 1. */
  readonly max: number;
}

/**
 * `head` is `NO_STREAM` for a stream that does not exist, and `null` when the server does not send
 * it.
 */
export interface StreamReply {
  readonly records: readonly WireRecord[];
  readonly head: bigint | null;
}

/** Events that the server searches before it reports its position, when none matches. */
const SEARCH_WINDOW = 1_000;

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

  /** Yields the answers to a read, each when the consumer asks for it. */
  async function* read(request: messages.ReadReq, signal: EndSignal): AsyncGenerator<ReadAnswer, void> {
    const { client, answers } = await connection.run(signal, (target, args) =>
      Promise.resolve({
        client: target,
        answers: target.makeServerStreamRequest(path, requestSerialize, decodeReadAnswer, request, ...args),
      }),
    );
    // Cancelling makes the call fail when nothing listens any more, which would be thrown.
    answers.on('error', () => undefined);
    const cancel = (): void => {
      answers.cancel();
    };
    signal.addEventListener('abort', cancel);
    if (signal.aborted) cancel();
    const isSubscription = request.getOptions()?.hasSubscription() === true;
    if (isSubscription) subscriptions.set(cancel, client);
    const pulse = pulseOf(client);
    const current = { sent: pulse.begin(), received: false };
    if (!isSubscription) reads.set(signal, current);
    try {
      for await (const answer of answers) {
        current.received = true;
        pulse.heard();
        yield answer as ReadAnswer;
      }
    } catch (fault) {
      if (!signal.aborted) await connection.failed(client, fault);
      else await giveUpConnection(client, signal, current.sent);
      throw fault;
    } finally {
      current.sent.end(current.received);
      reads.delete(signal);
      subscriptions.delete(cancel);
      signal.removeEventListener('abort', cancel);
      cancel();
    }
  }

  /** The first event at `position` or later. */
  const firstFrom = async (position: bigint, signal: EndSignal): Promise<WireRecord | null> => {
    const options = readOptions().setAll(fromPosition(position)).setReadDirection(FORWARDS);
    options.setCount('1').setNoFilter(new shared.Empty());
    for await (const answer of read(new messages.ReadReq().setOptions(options), signal)) {
      if (answer.kind === 'event') return answer.record;
    }
    return null;
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

    readStream: async ({ stream, from, backwards, max }, signal) => {
      const of = new messages.ReadReq.Options.StreamOptions().setStreamIdentifier(identifier(stream));
      if (from === 'end') of.setEnd(new shared.Empty());
      else of.setRevision(String(from));
      const options = readOptions().setStream(of).setCount(String(max)).setNoFilter(new shared.Empty());
      options.setReadDirection(backwards ? BACKWARDS : FORWARDS);
      const records: WireRecord[] = [];
      let head: bigint | null = null;
      for await (const answer of read(new messages.ReadReq().setOptions(options), signal)) {
        if (answer.kind === 'no stream') return { records: [], head: -1n };
        if (answer.kind === 'event') records.push(answer.record);
        if (answer.kind === 'head') head = answer.revision;
      }
      return { records, head };
    },

    lastPosition: async (signal) => {
      const options = readOptions().setAll(new messages.ReadReq.Options.AllOptions().setEnd(new shared.Empty()));
      options.setCount('1').setNoFilter(new shared.Empty()).setReadDirection(BACKWARDS);
      let position = START;
      // Read to its end: a call that is cancelled costs more.
      for await (const answer of read(new messages.ReadReq().setOptions(options), signal))
        if (answer.kind === 'event') ({ position } = answer.record);
      return position;
    },

    async *subscribe(after, filter, signal) {
      const next = after > START ? await firstFrom(after, signal) : null;
      // When the event at `after` is gone, as the server's own are after a while, the server would
      // skip the next event instead of it.
      const gone = next !== null && next.position !== after;
      if (gone) yield { kind: 'event', record: next };
      const options = readOptions()
        .setAll(fromPosition(gone ? next.position : after))
        .setReadDirection(FORWARDS);
      options.setSubscription(new messages.ReadReq.Options.SubscriptionOptions());
      if (filter === null) options.setNoFilter(new shared.Empty());
      else options.setFilter(filterOptions(filter));
      yield* read(new messages.ReadReq().setOptions(options), signal);
      throw new Error('the event store ended a subscription');
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

const { path, requestSerialize } = streams.StreamsService.read;

const FORWARDS = messages.ReadReq.Options.ReadDirection.FORWARDS;
const BACKWARDS = messages.ReadReq.Options.ReadDirection.BACKWARDS;

/**
 * Asks for ids as text, and for the head of a stream, which the server sends only to clients that
 * announce support for it.
 */
const readOptions = (): messages.ReadReq.Options =>
  new messages.ReadReq.Options()
    .setUuidOption(new messages.ReadReq.Options.UUIDOption().setString(new shared.Empty()))
    .setControlOption(new messages.ReadReq.Options.ControlOption().setCompatibility(1))
    .setResolveLinks(false);

const identifier = (stream: string): shared.StreamIdentifier =>
  new shared.StreamIdentifier().setStreamName(Uint8Array.from(Buffer.from(stream)));

/**
 * Commit and prepare position are the same, because the transactions in which they differ are no
 * longer part of the protocol.
 */
const fromPosition = (position: bigint): messages.ReadReq.Options.AllOptions => {
  const options = new messages.ReadReq.Options.AllOptions();
  if (position <= START) return options.setStart(new shared.Empty());
  return options.setPosition(
    new messages.ReadReq.Options.Position().setCommitPosition(String(position)).setPreparePosition(String(position)),
  );
};

const filterOptions = ({ on, regex }: ServerFilter): messages.ReadReq.Options.FilterOptions => {
  const expression = new messages.ReadReq.Options.FilterOptions.Expression().setRegex(regex);
  const options = new messages.ReadReq.Options.FilterOptions().setMax(SEARCH_WINDOW).setCheckpointintervalmultiplier(1);
  return on === 'stream' ? options.setStreamIdentifier(expression) : options.setEventType(expression);
};

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
