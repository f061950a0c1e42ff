import type { AnyCommand, Decider } from '../../commands/decider.js';
import type { DeletionEvent, DeletionStep } from '../../events/deletion/deletion.events.js';
import { deletionStream } from '../../events/deletion/deletion.stream.js';
import type { Recorded } from '../../events/envelope.js';
import type { StreamFold } from '../../events/fold.js';
import { attemptFailed, attemptStarted, isUnderWay, leaseRenewed, noAttempts, type Attempts } from '../../events/attempts.js';
import { decideLease, retryAlways, type LeaseCommand } from '../lease.js';

export interface DeletionState {
  readonly done: readonly DeletionStep[];
  readonly attempts: Attempts;
  readonly isGivenUp: boolean;
}

/** Commands that come late, twice, or of an attempt that is no longer the current one change nothing. */
export type DeletionCommand = AnyCommand & { readonly websiteId: string; readonly attempt: number } & DeletionOutcome;

export type DeletionOutcome =
  LeaseCommand | { readonly type: 'RecordStep'; readonly step: DeletionStep; readonly removed: number };

const evolve = (state: DeletionState, event: Recorded<DeletionEvent>): DeletionState => {
  const { attempts, done } = state;
  switch (event.type) {
    case 'DeletionStarted':
      return { ...state, attempts: attemptStarted(attempts, event) };
    case 'DeletionLeaseRenewed':
      return { ...state, attempts: leaseRenewed(attempts, event) };
    case 'DeletionStepDone':
      return { ...state, done: [...done, event.data.step] };
    case 'DeletionFailed':
      return { ...state, attempts: attemptFailed(attempts, event), isGivenUp: event.data.nextAttemptAt === undefined };
  }
};

const RETRY_MS = 30 * 86_400_000;
const MAX_PAUSE_MS = 3_600_000;

/**
 * Whatever the fault: nobody is there any more who would ask again, and a token that may not delete is
 * replaced by one that may.
 */
const retry = retryAlways(MAX_PAUSE_MS, RETRY_MS);

const decide = (command: DeletionCommand, { done, attempts, isGivenUp }: DeletionState): readonly DeletionEvent[] => {
  const { websiteId } = command;
  if (isGivenUp) return [];
  switch (command.type) {
    case 'RecordStep': {
      const { attempt, step, removed } = command;
      if (!isUnderWay(attempts, attempt) || done.includes(step)) return [];
      return [{ type: 'DeletionStepDone', data: { websiteId, attempt, step, removed } }];
    }
    default:
      return decideLease<DeletionEvent>(
        attempts,
        command,
        {
          started: (lease) => [{ type: 'DeletionStarted', data: { websiteId, ...lease } }],
          renewed: (lease) => [{ type: 'DeletionLeaseRenewed', data: { websiteId, ...lease } }],
          failed: (failure) => [{ type: 'DeletionFailed', data: { websiteId, ...failure } }],
        },
        retry,
      );
  }
};

export const deletionFold: StreamFold<DeletionState, DeletionEvent, { readonly websiteId: string }> = {
  name: 'deletion',
  stream: deletionStream,
  initialState: { done: [], attempts: noAttempts, isGivenUp: false },
  evolve,
};

/** Stream `deletion-<websiteId>`: removes what a deleted website has left. The stream is the lock. */
export const deletionProcess: Decider<DeletionState, DeletionCommand, DeletionEvent> = { ...deletionFold, decide };
