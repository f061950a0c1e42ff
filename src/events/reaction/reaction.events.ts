import { Type } from 'typebox';
import { event, type EventOf } from '../defineStream.js';

/**
 * A worker's reaction to one event of the log: `stream` and `revision` lead to the event,
 * `position` names it for people.
 */
const ofReaction = {
  worker: Type.String(),
  eventId: Type.String(),
  eventType: Type.String(),
  stream: Type.String(),
  revision: Type.String(),
  position: Type.String(),
};

/** Stream `reaction-<worker>-<eventId>`: only for a reaction that has failed. */
export const reactionEvents = {
  /** It failed for the first time; it is retried. `reason` contains no data of the event. */
  ReactionFailed: event(Type.Object({ ...ofReaction, reason: Type.String() })),
  /** It succeeded after it had failed. */
  ReactionRecovered: event(Type.Object(ofReaction)),
  /** Given up until an operator has it tried again (`npm run workers:status`). */
  ReactionParked: event(Type.Object({ ...ofReaction, reason: Type.String() })),
  /** An operator has it tried again. */
  ReactionReopened: event(Type.Object(ofReaction)),
};

export type ReactionEvent = EventOf<typeof reactionEvents>;
