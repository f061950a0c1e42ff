import { createRequire } from 'node:module';
import shared from '@eventstore/db-client/generated/shared_pb.js';
import statuses from '@eventstore/db-client/generated/status_pb.js';
import messages from '@eventstore/db-client/generated/streams_pb.js';
import { status, type Metadata } from '@grpc/grpc-js';
import { isHidden, type FakeEvent, type FakeExpectation, type NewFakeEvent, type Written } from './fakeLog.js';

/** Converts the fake's events to answers of the protocol, and requests to the fake's types. */

export const eventAnswer = (event: FakeEvent): messages.ReadResp => {
  const recorded = new messages.ReadResp.ReadEvent.RecordedEvent()
    .setId(new shared.UUID().setString(event.id))
    .setStreamIdentifier(new shared.StreamIdentifier().setStreamName(Uint8Array.from(Buffer.from(event.stream))))
    .setStreamRevision(String(event.revision))
    .setCommitPosition(String(event.position))
    .setPreparePosition(String(event.position))
    .setData(event.data)
    .setCustomMetadata(event.metadata);
  recorded
    .getMetadataMap()
    .set('type', event.type)
    .set('content-type', event.contentType)
    // Ticks of 100 ns.
    .set('created', String(BigInt(event.createdMs) * 10_000n));
  const answer = new messages.ReadResp.ReadEvent().setEvent(recorded).setCommitPosition(String(event.position));
  return new messages.ReadResp().setEvent(answer);
};

export const checkpointAnswer = (position: bigint): messages.ReadResp =>
  new messages.ReadResp().setCheckpoint(
    new messages.ReadResp.Checkpoint().setCommitPosition(String(position)).setPreparePosition(String(position)),
  );

export const confirmation = (): messages.ReadResp =>
  new messages.ReadResp().setConfirmation(
    new messages.ReadResp.SubscriptionConfirmation().setSubscriptionId(crypto.randomUUID()),
  );

export const caughtUp = (): messages.ReadResp => new messages.ReadResp().setCaughtUp(new messages.ReadResp.CaughtUp());

export const streamNotFound = (stream: string): messages.ReadResp =>
  new messages.ReadResp().setStreamNotFound(
    new messages.ReadResp.StreamNotFound().setStreamIdentifier(
      new shared.StreamIdentifier().setStreamName(Uint8Array.from(Buffer.from(stream))),
    ),
  );

export const streamName = (identifier: shared.StreamIdentifier | undefined): string =>
  Buffer.from(identifier?.getStreamName_asU8() ?? []).toString('utf8');

export const expectationOf = (options: messages.AppendReq.Options): FakeExpectation => {
  if (options.hasAny()) return 'any';
  if (options.hasStreamExists()) return 'exists';
  return options.hasNoStream() ? 'none' : BigInt(options.getRevision());
};

export const proposedEvent = (
  message: messages.AppendReq.ProposedMessage | messages.BatchAppendReq.ProposedMessage,
): NewFakeEvent => ({
  id: message.getId()?.getString() ?? '',
  type: message.getMetadataMap().get('type') ?? '',
  contentType: message.getMetadataMap().get('content-type') ?? '',
  data: message.getData_asU8(),
  metadata: message.getCustomMetadata_asU8(),
});

export const appendAnswer = (outcome: Written): messages.AppendResp => {
  const answer = new messages.AppendResp();
  if (!outcome.written) {
    const wrong = new messages.AppendResp.WrongExpectedVersion();
    if (outcome.actual < 0n) wrong.setCurrentNoStream(new shared.Empty());
    else wrong.setCurrentRevision(String(outcome.actual));
    return answer.setWrongExpectedVersion(wrong);
  }
  const success = new messages.AppendResp.Success().setCurrentRevision(String(outcome.revision));
  if (outcome.position === null) success.setNoPosition(new shared.Empty());
  else {
    const position = String(outcome.position);
    success.setPosition(new messages.AppendResp.Position().setCommitPosition(position).setPreparePosition(position));
  }
  return answer.setSuccess(success);
};

/** Why a call failed. */
export interface Fault {
  readonly code: status;
  readonly details: string;
  readonly metadata?: Metadata;
}

export const expectationOfMany = (options: messages.BatchAppendReq.Options): FakeExpectation => {
  if (options.hasAny()) return 'any';
  if (options.hasStreamExists()) return 'exists';
  return options.hasNoStream() ? 'none' : BigInt(options.getStreamPosition());
};

/**
 * The answer to one of the appends of a call. What the server did not handle has words and no code.
 * The id comes back as two numbers, and as it was sent from a refusal before the append was tried.
 */
export const appendManyAnswer = (request: messages.BatchAppendReq, outcome: Written | Fault): messages.BatchAppendResp => {
  const wasTried = !('code' in outcome) || outcome.code === status.UNAVAILABLE;
  const id = request.getCorrelationId();
  const answer = new messages.BatchAppendResp().setCorrelationId(wasTried ? inNumbers(id) : id);
  answer.setStreamIdentifier(request.getOptions()?.getStreamIdentifier());
  const refused = (code: status, message: string, type: string, details: Uint8Array): messages.BatchAppendResp =>
    answer.setError(
      new statuses.Status()
        .setCode(code as unknown as StatusCode)
        .setMessage(message)
        .setDetails(packed(type, details)),
    );
  if ('code' in outcome) {
    if (outcome.code === status.UNAVAILABLE)
      return refused(status.OK, outcome.details, 'google.protobuf.Empty', new Uint8Array());
    if (outcome.metadata?.get('exception')[0] === 'maximum-append-size-exceeded') {
      const limit = new shared.MaximumAppendSizeExceeded().setMaxappendsize(1).serializeBinary();
      const name = 'MaximumAppendSizeExceeded';
      return refused(outcome.code, name, `event_store.client.${name}`, limit);
    }
    return refused(outcome.code, outcome.details, 'google.protobuf.Empty', new Uint8Array());
  }
  if (!outcome.written) {
    const wrong = new shared.WrongExpectedVersion();
    if (outcome.actual >= 0n) wrong.setCurrentStreamRevision(String(outcome.actual));
    const name = 'WrongExpectedVersion';
    return refused(status.ALREADY_EXISTS, name, `event_store.client.${name}`, wrong.serializeBinary());
  }
  const success = new messages.BatchAppendResp.Success().setCurrentRevision(String(outcome.revision));
  if (outcome.position === null) return answer.setSuccess(success);
  const position = String(outcome.position);
  return answer.setSuccess(
    success.setPosition(new shared.AllStreamPosition().setCommitPosition(position).setPreparePosition(position)),
  );
};

const inNumbers = (id: shared.UUID | undefined): shared.UUID => {
  const hex = (id?.getString() ?? '').replaceAll('-', '');
  const bits = (from: number): string => String(BigInt.asIntN(64, BigInt(`0x${hex.slice(from, from + 16)}`)));
  const numbers = new shared.UUID.Structured().setMostSignificantBits(bits(0)).setLeastSignificantBits(bits(16));
  return new shared.UUID().setStructured(numbers);
};

/** The same numbers as gRPC's own. */
type StatusCode = ReturnType<statuses.Status['getCode']>;
type Packed = NonNullable<ReturnType<statuses.Status['getDetails']>>;

/** The client library has its own copy of what packs messages. */
const { Any } = createRequire(createRequire(import.meta.url).resolve('@eventstore/db-client'))(
  'google-protobuf/google/protobuf/any_pb.js',
) as { readonly Any: new () => Packed };

const packed = (type: string, value: Uint8Array): Packed => {
  const any = new Any();
  any.setTypeUrl(`type.googleapis.com/${type}`);
  any.setValue(value);
  return any;
};

/** Whether an event passes the filter of a request. */
export const filterOf = (options: messages.ReadReq.Options): ((event: FakeEvent) => boolean) => {
  const filter = options.getFilter();
  if (filter === undefined) return (event) => !isHidden(event);
  const ofStream = filter.getStreamIdentifier();
  const expression = ofStream ?? filter.getEventType();
  const regex = new RegExp(expression?.getRegex() ?? '', 'u');
  const prefixes = expression?.getPrefixList() ?? [];
  return (event) => {
    const { stream, type } = event;
    if (isHidden(event)) return false;
    const text = ofStream === undefined ? type : stream;
    return prefixes.length > 0 ? prefixes.some((prefix) => text.startsWith(prefix)) : regex.test(text);
  };
};
