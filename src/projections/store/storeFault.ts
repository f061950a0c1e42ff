import { EventStoreUnavailable, OutcomeUnknown } from '../../events/store/eventStore.js';
import { ReadModelStoreUnavailable } from './readModelStore.js';

/** Whether a store is away, which its outage log reports once for all its users. */
export const isStoreAway = (fault: unknown): boolean =>
  fault instanceof EventStoreUnavailable || fault instanceof OutcomeUnknown || fault instanceof ReadModelStoreUnavailable;

/** The level at which a user of the stores logs a fault that it goes on after. */
export const storeFaultLevel = (fault: unknown): 'debug' | 'warn' => (isStoreAway(fault) ? 'debug' : 'warn');
