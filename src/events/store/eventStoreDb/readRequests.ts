import shared from '@eventstore/db-client/generated/shared_pb.js';
import streams from '@eventstore/db-client/generated/streams_grpc_pb.js';
import messages from '@eventstore/db-client/generated/streams_pb.js';
import { START } from '../eventStore.js';
import type { ServerFilter } from './filters.js';

/** A request as it is sent. */
export interface ReadRequest {
  readonly bytes: Buffer;
  readonly isSubscription: boolean;
}

export interface StreamRequest {
  readonly stream: string;
  readonly from: bigint | 'end';
  readonly backwards: boolean;
  /** At least 1. */
  readonly max: number;
}

/** Events that the server searches before it reports its position, when none matches. */
const SEARCH_WINDOW = 1_000;

const readRequest = (options: messages.ReadReq.Options): ReadRequest => ({
  bytes: streams.StreamsService.read.requestSerialize(new messages.ReadReq().setOptions(options)),
  isSubscription: options.hasSubscription(),
});

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

export const readOfStream = ({ stream, from, backwards, max }: StreamRequest): ReadRequest => {
  const of = new messages.ReadReq.Options.StreamOptions().setStreamIdentifier(identifier(stream));
  if (from === 'end') of.setEnd(new shared.Empty());
  else of.setRevision(String(from));
  const options = readOptions().setStream(of).setCount(String(max)).setNoFilter(new shared.Empty());
  return readRequest(options.setReadDirection(backwards ? BACKWARDS : FORWARDS));
};

/** For the first event at `position` or later. */
export const readFrom = (position: bigint): ReadRequest => {
  const options = readOptions().setAll(fromPosition(position)).setReadDirection(FORWARDS);
  return readRequest(options.setCount('1').setNoFilter(new shared.Empty()));
};

/** For the last event of the log. */
export const readOfEnd = readRequest(
  readOptions()
    .setAll(new messages.ReadReq.Options.AllOptions().setEnd(new shared.Empty()))
    .setCount('1')
    .setNoFilter(new shared.Empty())
    .setReadDirection(BACKWARDS),
);

/** For what is after `after`. */
export const subscriptionFrom = (after: bigint, filter: ServerFilter | null): ReadRequest => {
  const options = readOptions().setAll(fromPosition(after)).setReadDirection(FORWARDS);
  options.setSubscription(new messages.ReadReq.Options.SubscriptionOptions());
  if (filter === null) options.setNoFilter(new shared.Empty());
  else options.setFilter(filterOptions(filter));
  return readRequest(options);
};

export const identifier = (stream: string): shared.StreamIdentifier =>
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
