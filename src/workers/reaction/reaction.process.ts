import type { AnyCommand, Decider } from '../../commands/decider.js';
import type { Recorded } from '../../events/envelope.js';
import type { ReactionEvent } from '../../events/reaction/reaction.events.js';
import { reactionStream } from '../../events/reaction/reaction.stream.js';
import type { StreamFold } from '../../events/fold.js';

/** Stream `reaction-<worker>-<eventId>`. `since`: when it failed first, ISO 8601. */
export type ReactionState = { readonly stage: 'none' | 'parked' } | { readonly stage: 'failing'; readonly since: string };

/** A reaction that failed: whose, and the event that it was to. */
export type FailedReaction = Extract<ReactionEvent, { type: 'ReactionReopened' }>['data'];

export type ReactionCommand = AnyCommand &
  FailedReaction &
  (
    | { readonly type: 'RecordReactionFailure'; readonly reason: string }
    | { readonly type: 'RecordReactionSuccess' }
    /** It is tried again at once, with the whole time ahead of it. */
    | { readonly type: 'ReopenReaction' }
  );

/** How long a reaction is retried from its first failure, in milliseconds, before it is parked. */
export const REACTION_RETRY_MS = 24 * 3_600_000;

const evolve = (_: ReactionState, event: Recorded<ReactionEvent>): ReactionState => {
  switch (event.type) {
    case 'ReactionFailed':
      return { stage: 'failing', since: event.metadata.at };
    case 'ReactionParked':
      return { stage: 'parked' };
    case 'ReactionRecovered':
    case 'ReactionReopened':
      return { stage: 'none' };
  }
};

const reactionOf = ({ worker, eventId, eventType, stream, revision, position }: FailedReaction): FailedReaction => ({
  worker,
  eventId,
  eventType,
  stream,
  revision,
  position,
});

const decide = (command: ReactionCommand, state: ReactionState): readonly ReactionEvent[] => {
  const data = reactionOf(command);
  switch (command.type) {
    case 'RecordReactionFailure': {
      const failure = { ...data, reason: command.reason };
      if (state.stage === 'none') return [{ type: 'ReactionFailed', data: failure }];
      const isOver = state.stage === 'failing' && Date.parse(command.at) - Date.parse(state.since) >= REACTION_RETRY_MS;
      return isOver ? [{ type: 'ReactionParked', data: failure }] : [];
    }
    case 'RecordReactionSuccess':
      return state.stage === 'none' ? [] : [{ type: 'ReactionRecovered', data }];
    case 'ReopenReaction':
      return state.stage === 'none' ? [] : [{ type: 'ReactionReopened', data }];
    default:
      return command satisfies never;
  }
};

export const reactionFold: StreamFold<ReactionState, ReactionEvent, { readonly worker: string; readonly eventId: string }> = {
  name: 'reaction',
  stream: reactionStream,
  initialState: { stage: 'none' },
  evolve,
};

/**
 * Keeps what a worker cannot do from being lost, and from being tried for ever: it is parked, named
 * and can be tried again. The time is compared across processes, whose clocks differ by far less.
 */
export const reactionProcess: Decider<ReactionState, ReactionCommand, ReactionEvent> = { ...reactionFold, decide };
