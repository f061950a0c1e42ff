import type { Clock } from '../../../platform/clock.js';
import type { Random } from '../../../platform/random.js';
import { AppendTooLarge, MAX_APPEND_BYTES, OutcomeUnknown } from '../eventStore.js';
import { createBackoff, within } from './deadline.js';
import { faultKind, unavailable } from './faults.js';
import type { AppendReply, AppendRequest, Wire } from './wire.js';

/** Calls with an end: repeated while the server cannot take them, given up in time, their faults in the port's words. */
export interface Calls {
  /** @throws EventStoreUnavailable within `READ_MS` */
  read<Result>(call: (signal: AbortSignal) => Promise<Result>): Promise<Result>;
  /**
   * @throws EventStoreUnavailable, AppendTooLarge: nothing was written
   * @throws OutcomeUnknown when it was sent and not answered
   */
  append(request: AppendRequest): Promise<AppendReply>;
}

/** Whoever asks is answered within 2 s, also by a server that takes connections and says nothing. */
export const READ_MS = 1_500;
/** How long an append waits to be sent, while no leader takes it. */
const SEND_MS = 1_500;
/** The server itself gives up after 2 s; a command asks for 5 s. */
const APPEND_MS = 3_500;

export const createCalls = (wire: Wire, parts: { readonly clock: Clock; readonly random: Random }): Calls => {
  const { clock } = parts;
  const backOff = createBackoff(parts, { firstMs: 20, longestMs: 300 });

  const read = async <Result>(call: (signal: AbortSignal) => Promise<Result>): Promise<Result> => {
    let last: unknown = null;
    return within(
      clock,
      [READ_MS],
      async (signal) => {
        for (let attempt = 0; ; attempt += 1) {
          try {
            return await call(signal);
          } catch (fault) {
            if (signal.aborted || faultKind(fault) === 'denied') throw unavailable('the event store cannot be read', fault);
            last = fault;
          }
          await backOff(attempt, signal);
        }
      },
      () => unavailable('the event store cannot be read', last),
    );
  };

  const append = (request: AppendRequest): Promise<AppendReply> => {
    const { stream, expected } = request;
    let patient = true;
    /** Whether the server may have the request, and has not answered yet. */
    let sent = false;
    let unsure: unknown = null;
    let last: unknown = null;

    const notTaken = (): Error => unavailable(`an append to stream ${stream} was not taken`, last);
    const unknown = (): Error =>
      new OutcomeUnknown(`an append to stream ${stream} was not answered`, { cause: unsure ?? undefined });

    const attempt = async (signal: AbortSignal): Promise<AppendReply> => {
      for (let attempts = 0; ; attempts += 1) {
        try {
          return await wire.append(request, signal, () => (sent = true));
        } catch (fault) {
          last = fault;
          const told = faultKind(fault);
          const kind = sent || told === 'denied' ? told : 'refused';
          sent = false;
          if (kind === 'unsure') unsure = fault;
          // Nobody waits any more, and pauses are none from here on: to go on would never let go of the process.
          if (signal.aborted) throw fault;
          if (unsure === null) {
            if (kind === 'too large') throw new AppendTooLarge(stream, bytesOf(request));
            if (kind === 'denied' || !patient) throw notTaken();
          } else if (typeof expected !== 'bigint') {
            // Only where it is told at which revision does the server know a repetition for certain.
            throw unknown();
          }
        }
        await backOff(attempts, signal);
      }
    };

    let times = 0;
    return within(clock, [SEND_MS, APPEND_MS], attempt, () => {
      times += 1;
      patient = false;
      if (sent || unsure !== null) return times === 1 ? null : unknown();
      return notTaken();
    });
  };

  return { read, append };
};

const bytesOf = ({ events }: AppendRequest): number =>
  Math.max(
    MAX_APPEND_BYTES,
    events.reduce((sum, { data, metadata }) => sum + data.length + metadata.length, 0),
  );
