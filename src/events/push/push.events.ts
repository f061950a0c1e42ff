import { Type } from 'typebox';
import { event, type EventOf } from '../defineStream.js';

/**
 * Stream `push-<websiteId>`: what the default branch of an embedded repository came to point to.
 * Who pushed is the actor; on the server's machine itself nobody is known.
 */
export const pushEvents = {
  /** The service itself has put content into a commit, and deploys it where it was made. */
  OwnCommitMade: event(Type.Object({ websiteId: Type.String(), commit: Type.String(), previousCommit: Type.String() })),
  DefaultBranchPushed: event(
    Type.Object({
      websiteId: Type.String(),
      commit: Type.String(),
      /** Absent when nobody knows what was there before. */
      previousCommit: Type.Optional(Type.String()),
    }),
  ),
};

export type PushEvent = EventOf<typeof pushEvents>;
