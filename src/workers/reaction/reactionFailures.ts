import { TooManyConflicts } from '../../commands/handleCommand.js';
import { Refused } from '../../commands/refusal.js';
import type { Engine } from '../../engine.js';
import { EventStoreClosed, type StoredEvent } from '../../events/store/eventStore.js';
import { ProviderFault } from '../../integrations/fault.js';
import { placeOf } from '../../platform/faultPlace.js';
import type { Logger } from '../../platform/logger.js';
import { ProjectionBehind } from '../../projections/runner/versions.js';
import { isStoreAway, storeFaultLevel } from '../../projections/store/storeFault.js';
import { processActor } from '../contextOf.js';
import { reactionFold, reactionProcess, type FailedReaction } from './reaction.process.js';

/** What the log says of the reactions of a worker that failed. */
export interface ReactionFailures {
  /**
   * Logs a failure, and records it unless our stores are away: that is no fault of the reaction.
   * @returns whether the reaction is parked by now, by any process; false when that cannot be recorded
   */
  record(stored: StoredEvent, error: unknown, attempt: number): Promise<boolean>;
  /** When it cannot be asked, yes: recording a success changes nothing then. */
  areRecorded(stored: StoredEvent): Promise<boolean>;
  recordSuccess(stored: StoredEvent): Promise<void>;
}

const actor = processActor('workers');

const isOutage = (error: unknown): boolean =>
  isStoreAway(error) || [EventStoreClosed, TooManyConflicts, ProjectionBehind].some((kind) => error instanceof kind);

/** The words of an unknown error may quote the event, so only its place is recorded. */
const reasonOf = (error: unknown): string =>
  error instanceof ProviderFault || error instanceof Refused ? error.message : placeOf(error);

/** @param parts `name`: of the worker */
export const createReactionFailures = (parts: {
  readonly name: string;
  readonly engine: Engine;
  readonly logger: Logger;
}): ReactionFailures => {
  const { name, engine, logger } = parts;

  const reactionTo = ({ id, type, stream, revision, position }: StoredEvent): FailedReaction => ({
    worker: name,
    eventId: id,
    eventType: type,
    stream,
    revision: String(revision),
    position: String(position),
  });

  const report = async (
    stored: StoredEvent,
    command: { readonly type: 'RecordReactionFailure'; readonly reason: string } | { readonly type: 'RecordReactionSuccess' },
  ): Promise<'none' | 'failing' | 'parked'> => {
    const because = { commandId: engine.ids.commandId(), actor, requestId: stored.metadata.requestId, causationId: stored.id };
    const { state } = await engine.handle(reactionProcess, { ...reactionTo(stored), ...command }, because);
    return state.stage;
  };

  return {
    record: async (stored, error, attempt) => {
      const { type, stream, id, position } = stored;
      const event = { type, stream, id, position: String(position) };
      const level = isStoreAway(error) ? 'debug' : 'error';
      logger[level]({ err: error, event, attempt }, 'the reaction to an event failed; it will be repeated');
      if (isOutage(error)) return false;
      try {
        const isParked = (await report(stored, { type: 'RecordReactionFailure', reason: reasonOf(error) })) === 'parked';
        if (isParked) logger.error({ event }, 'the reaction to an event is parked');
        return isParked;
      } catch (err) {
        logger[storeFaultLevel(err)]({ err }, 'the failure of a reaction could not be recorded; it will be repeated');
        return false;
      }
    },
    areRecorded: async ({ id }) => {
      try {
        return (await engine.state(reactionFold, { worker: name, eventId: id })).state.stage !== 'none';
      } catch {
        return true;
      }
    },
    recordSuccess: async (stored) => {
      await report(stored, { type: 'RecordReactionSuccess' });
    },
  };
};
