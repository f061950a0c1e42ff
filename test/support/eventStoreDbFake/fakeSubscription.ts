import type messages from '@eventstore/db-client/generated/streams_pb.js';
import { status, type ServerWritableStream } from '@grpc/grpc-js';
import type { FakeCluster } from './fakeEventStoreDb.js';
import { isHidden, type FakeEvent } from './fakeLog.js';
import { caughtUp, checkpointAnswer, confirmation, eventAnswer, filterOf } from './fakeStreams.js';

export type Reading = ServerWritableStream<messages.ReadReq, messages.ReadResp>;

/**
 * Events that the real server reads at once. It drops a subscription as too slow when a hundred
 * pages of messages wait.
 */
const PAGE = 32;

/**
 * A subscription to the whole log: history, page by page as the real server reads it, then new
 * events.
 */
export const subscribe = async (
  call: Reading,
  options: messages.ReadReq.Options,
  { log, calls, faults }: Pick<FakeCluster, 'log' | 'calls' | 'faults'>,
  ends: Set<(error: object | null) => void>,
): Promise<void> => {
  const filter = options.getFilter();
  const passes = filterOf(options);
  const from = options.getAll()?.getPosition()?.getCommitPosition();
  calls.subscriptions.push({ after: BigInt(from ?? 0), filter: filter?.toObject() ?? null });
  const interval = (filter?.getMax() ?? PAGE) * (filter?.getCheckpointintervalmultiplier() ?? 1);
  let considered = 0;
  let over = false;
  const ended = (): boolean => over;
  const live: messages.ReadResp[] = [];
  let wake = (): void => undefined;

  const end = (error: object | null): void => {
    if (ended()) return;
    over = true;
    stopListening();
    ends.delete(end);
    if (error === null) call.end();
    else call.emit('error', error);
  };
  const onEvent = (event: FakeEvent): void => {
    if (faults.mute) return;
    considered += 1;
    if (passes(event)) live.push(eventAnswer(event));
    else if (filter !== undefined && considered % interval === 0) live.push(checkpointAnswer(event.position));
    if (live.length > PAGE * 100) end(tooSlow());
    wake();
  };
  let stopListening = (): void => undefined;
  ends.add(end);
  call.on('cancelled', () => {
    over = true;
    stopListening();
    ends.delete(end);
    wake();
  });

  call.write(confirmation());
  const { events } = log;
  let start = from === undefined ? 0n : BigInt(from);
  let index = log.indexOf(start);
  // The event at the position, or the next one when that is gone, counts as seen.
  let seen = from === undefined ? -1 : index;
  for (let event = events[seen]; event !== undefined && isHidden(event); event = events[seen]) seen += 1;
  if (seen >= 0 && seen < events.length) {
    index = seen + 1;
    start = events[index]?.position ?? log.end;
  }
  for (;;) {
    const beginning = index;
    let [position, found] = [start, 0];
    for (; index < events.length && found < PAGE && (filter === undefined || index - beginning < interval); index += 1) {
      const event = events[index];
      if (event === undefined || !passes(event)) continue;
      ({ position } = event);
      found += 1;
      await send(call, eventAnswer(event));
      if (ended()) return;
    }
    considered += index - beginning;
    if (index >= events.length && (filter === undefined || (found < PAGE && index - beginning < interval))) break;
    // The checkpoint is where the page began, or its last match.
    if (filter !== undefined && considered >= interval) {
      considered %= interval;
      await send(call, checkpointAnswer(position));
      if (ended()) return;
    }
    start = events[index]?.position ?? log.end;
  }
  if (ended()) return;
  stopListening = log.listen(onEvent);
  await send(call, caughtUp());
  for (;;) {
    for (let next = live.shift(); next !== undefined && !ended(); next = live.shift()) await send(call, next);
    if (ended()) return;
    await new Promise<void>((resolve) => (wake = resolve));
  }
};

/** Writes, and waits while the reader is slow. */
export const send = async (call: Reading, answer: messages.ReadResp): Promise<void> => {
  if (call.write(answer) || call.cancelled) return;
  await new Promise<void>((resolve) => {
    const goOn = (): void => {
      call.off('drain', goOn).off('cancelled', goOn);
      resolve();
    };
    call.on('drain', goOn).on('cancelled', goOn);
  });
};

export const tooSlow = (): object => ({
  code: status.ABORTED,
  details: 'Operation timed out: Consumer too slow to handle event while live. Client resubscription required.',
});
