import { isRefusal, type AnyCommand, type Decider } from '../../src/commands/decider.js';
import type { DomainEvent } from '../../src/events/envelope.js';
import { now, recorded, stateAfter, type Timeless } from './given.js';

export interface Retries {
  /** The pauses, in milliseconds, in order. */
  readonly pauses: readonly number[];
  /** From the first failure to the last, in milliseconds. */
  readonly retriedForMs: number;
  /** The events of the last failure. */
  readonly last: readonly DomainEvent[];
}

/**
 * Fails every attempt, `attemptMs` after it began, until there is no further one.
 * @param parts `start`: absent where attempts take no lease; `waitedOut` is the pause before it
 */
export const failUntilGivenUp = <State, Command extends AnyCommand, Event extends DomainEvent>(
  decider: Decider<State, Command, Event>,
  given: readonly Event[],
  parts: {
    readonly start?: (attempt: number, waitedOut: bigint) => Timeless<Command>;
    readonly fail: (attempt: number) => Timeless<Command>;
    readonly attemptMs?: number;
  },
): Retries => {
  const { start, fail, attemptMs = 0 } = parts;
  const events = given.map((event, revision) => recorded(event, { revision }));
  let clock = Date.parse(now);
  const decide = (command: Timeless<Command>): readonly Event[] => {
    const at = new Date(clock).toISOString();
    const outcome = decider.decide({ ...command, at } as unknown as Command, stateAfter(decider, events));
    if (isRefusal(outcome)) throw new Error(outcome.message);
    for (const event of outcome) events.push(recorded(event, { revision: events.length, at }));
    return outcome;
  };

  const pauses: number[] = [];
  let firstFailure: number | undefined;
  for (let attempt = 1; attempt < 1_000; attempt += 1) {
    if (start !== undefined && decide(start(attempt, BigInt(events.length - 1))).length !== 1)
      throw new Error('it did not start');
    clock += attemptMs;
    firstFailure ??= clock;
    const last = decide(fail(attempt));
    const next = (last[0]?.data as { nextAttemptAt?: string } | undefined)?.nextAttemptAt;
    if (next === undefined) return { pauses, retriedForMs: clock - firstFailure, last };
    pauses.push(Date.parse(next) - clock);
    clock = Date.parse(next);
  }
  throw new Error('it is never given up');
};
