import { encodeEvents } from '../encodeEvents.js';
import { MAX_APPEND_BYTES, WrongExpectedRevision, type CopyTarget, type EventStore, type StoredEvent } from '../eventStore.js';
import type { Calls } from './calls.js';
import { toWire, type WireEvent } from './records.js';

interface Copied {
  readonly event: StoredEvent;
  readonly wire: WireEvent;
}

const MAX_RUN_EVENTS = 500;

/**
 * `CopyTarget.copy` on EventStoreDB. The server gives events their places in the order in which it
 * gets them, so each append waits for the one before it.
 */
export const createCopyWriter = (parts: {
  readonly calls: Calls;
  readonly readStream: EventStore['readStream'];
}): CopyTarget['copy'] => {
  const { calls, readStream } = parts;

  const write = async (run: readonly Copied[]): Promise<void> => {
    const [first] = run;
    if (first === undefined) return;
    const { stream, revision } = first.event;
    const expected = revision - 1n;
    const reply = await calls.append({ stream, events: run.map(({ wire }) => wire), expected });
    if (reply.written) return;
    // Some of them are here, from before an interruption, or another event is.
    const { events: here } = await readStream(stream, { from: revision, max: run.length });
    if (here.length === 0 || here.some(({ id }, index) => id !== run[index]?.event.id))
      throw new WrongExpectedRevision(stream, expected, reply.actual);
    await write(run.slice(here.length));
  };

  return async (events) => {
    for (const run of runsOf(events)) await write(run);
  };
};

/** Neighbours in the log that belong to one stream, which one append can write. */
function* runsOf(events: readonly StoredEvent[]): Generator<readonly Copied[], void> {
  let run: Copied[] = [];
  let bytes = 0;
  for (const event of events) {
    const { stream, recordedAt } = event;
    for (const encoded of encodeEvents(stream, [event])) {
      const wire = toWire(encoded, recordedAt);
      const size = wire.data.length + wire.metadata.length;
      const isOver = run.length === MAX_RUN_EVENTS || bytes + size > MAX_APPEND_BYTES;
      if (run.length > 0 && (isOver || run[0]?.event.stream !== stream)) {
        yield run;
        run = [];
        bytes = 0;
      }
      run.push({ event, wire });
      bytes += size;
    }
  }
  if (run.length > 0) yield run;
}
