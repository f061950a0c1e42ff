import { TooManyConflicts } from '../commands/handleCommand.js';
import { Refused } from '../commands/refusal.js';
import { EventStoreError } from '../events/store/eventStore.js';
import { redactAddress } from '../integrations/email/port.js';
import { ProviderFault } from '../integrations/fault.js';
import { ProjectionBehind } from '../projections/runner/versions.js';
import { ReadModelStoreUnavailable } from '../projections/store/readModelStore.js';
import { LeaseLost } from './heldLease.js';
import type { Fault, RecordFailure } from './lease.js';

/** A fault of our own stores is no outcome of the attempt: it is made again. */
const isOurs = (error: unknown): boolean =>
  error instanceof EventStoreError ||
  error instanceof TooManyConflicts ||
  error instanceof ReadModelStoreUnavailable ||
  error instanceof ProjectionBehind;

/**
 * The fault to record for an attempt's error. Its message contains no secrets.
 * @throws the error itself when it is a fault of our stores or a lost lease
 */
export const faultOf = (error: unknown): Fault => {
  if (isOurs(error) || error instanceof LeaseLost) throw error;
  if (error instanceof ProviderFault) {
    return { error: error.message, transient: error.transient, retryAfterMs: error.retryAfterMs ?? 0 };
  }
  if (error instanceof Refused) return { error: error.message, transient: false, retryAfterMs: 0 };
  return { error: 'An unexpected error occurred', transient: true, retryAfterMs: 0 };
};

/** The outcome of a failure in most tasks. */
export const recordFailure = (error: unknown, jitter: number): RecordFailure => ({
  type: 'RecordFailure',
  fault: faultOf(error),
  jitter,
});

/**
 * The error with the address removed from its message, because faults are recorded and logged.
 * @throws as `faultOf`
 */
export const withoutAddress = (error: unknown, address: string): ProviderFault => {
  const { error: words, transient, retryAfterMs } = faultOf(error);
  const redact = (text: string): string => redactAddress(address, text);
  const cause = new Error(redact(String(error)));
  return new ProviderFault({ provider: 'email', message: redact(words), transient, retryAfterMs, cause });
};
