import { createBackoff } from '../../../platform/backoff.js';
import type { Clock } from '../../../platform/clock.js';
import type { EndSignal } from '../../../platform/endSignal.js';
import { createListeningClock } from '../../../platform/listeningClock.js';
import type { Random } from '../../../platform/random.js';
import type { AppendReply } from './appendMessages.js';
import { AppendTooLarge, EventStoreUnavailable, MAX_APPEND_BYTES, OutcomeUnknown } from '../eventStore.js';
import { withDeadlines } from './deadline.js';
import { faultKind, unavailable } from './faults.js';
import type { AppendRequest, Wire } from './wire.js';

/**
 * Calls with a deadline. They are retried while the server cannot accept them, and their faults are
 * mapped to the port's.
 */
export interface Calls {
  /**
   * @throws AnswerTooSlow when a part of the answer had arrived in time: ask for less
   * @throws EventStoreUnavailable otherwise, at the latest after `MAX_READ_MS`
   */
  read<Result>(call: (signal: EndSignal) => Promise<Result>): Promise<Result>;
  /**
   * @throws EventStoreUnavailable, AppendTooLarge: nothing was written
   * @throws OutcomeUnknown when the append was sent and not answered
   */
  append(request: AppendRequest): Promise<AppendReply>;
}

/** A read ends within 2 s, even if the server accepts connections and never answers. */
const READ_MS = 1_500;
/**
 * How long a server has that shows life. One that was just started answers its first dozens of
 * parallel calls only after 1.5 to 3 s, and under load single reads stall as long.
 */
export const MAX_READ_MS = 4_000;
/** How long an append waits to be sent while no leader accepts it. */
const SEND_MS = 1_500;
/**
 * How long an append waits for its outcome: longer than the server's own limit of 2 s, shorter than
 * a command's of 5 s.
 */
const APPEND_MS = 3_500;

/** The answer to a read was arriving when its time was over. */
export class AnswerTooSlow extends EventStoreUnavailable {}

export const createCalls = (wire: Wire, parts: { readonly clock: Clock; readonly random: Random }): Calls => {
  const listening = createListeningClock(parts.clock);
  const backOff = createBackoff(parts, { firstMs: 20, maxMs: 300 });

  const read = async <Result>(call: (signal: EndSignal) => Promise<Result>): Promise<Result> => {
    let lastFault: unknown = null;
    let times = 0;
    return withDeadlines(
      listening,
      [READ_MS, 2 * READ_MS, MAX_READ_MS],
      async (signal) => {
        for (let attempt = 0; ; attempt += 1) {
          try {
            return await call(signal);
          } catch (fault) {
            if (signal.aborted || faultKind(fault) === 'denied') throw unavailable('the event store cannot be read', fault);
            lastFault = fault;
          }
          await backOff(attempt, signal);
        }
      },
      (signal) => {
        times += 1;
        const progress = wire.progress(signal);
        if (progress === 'arriving') return new AnswerTooSlow('the event store needs too long for an answer');
        if (progress === 'slow' && times < 3) return null;
        return unavailable('the event store cannot be read', lastFault);
      },
    );
  };

  const append = (request: AppendRequest): Promise<AppendReply> => {
    const { stream, expected } = request;
    let mayRetry = true;
    /** Whether the server may have received the request and has not answered yet. */
    let sent = false;
    let unknownFault: unknown = null;
    let lastFault: unknown = null;

    const notAccepted = (): Error => unavailable(`an append to stream ${stream} was not accepted`, lastFault);
    const outcomeUnknown = (): Error =>
      new OutcomeUnknown(`an append to stream ${stream} was not answered`, { cause: unknownFault ?? undefined });

    const attempt = async (signal: EndSignal): Promise<AppendReply> => {
      for (let attempts = 0; ; attempts += 1) {
        try {
          return await wire.append(request, signal, () => (sent = true));
        } catch (fault) {
          lastFault = fault;
          const reported = faultKind(fault);
          const kind = sent || reported === 'denied' ? reported : 'refused';
          sent = false;
          if (kind === 'outcome unknown') unknownFault = fault;
          // The caller has its answer, and an aborted signal ends every pause at once: retrying
          // would block the process.
          if (signal.aborted) throw fault;
          if (unknownFault === null) {
            if (kind === 'too large') throw new AppendTooLarge(stream, bytesOf(request));
            if (kind === 'denied' || !mayRetry) throw notAccepted();
          } else if (typeof expected !== 'bigint') {
            // The server recognises a repetition for certain only by its expected revision.
            throw outcomeUnknown();
          }
        }
        await backOff(attempts, signal);
      }
    };

    let times = 0;
    return withDeadlines(listening, [SEND_MS, APPEND_MS], attempt, () => {
      times += 1;
      mayRetry = false;
      if (sent || unknownFault !== null) return times === 1 ? null : outcomeUnknown();
      return notAccepted();
    });
  };

  return { read, append };
};

const bytesOf = ({ events }: AppendRequest): number =>
  Math.max(
    MAX_APPEND_BYTES,
    events.reduce((sum, { data, metadata }) => sum + data.length + metadata.length, 0),
  );
