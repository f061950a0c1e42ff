import type { AnyCommand, Decider } from '../../commands/decider.js';
import type { StreamFold } from '../../events/fold.js';
import type { PushEvent } from '../../events/push/push.events.js';
import { pushStream } from '../../events/push/push.stream.js';

export interface PushState {
  /** Absent before the first push. */
  readonly commit?: string;
}

export type PushCommand = AnyCommand & {
  readonly websiteId: string;
  /** What the default branch points to now. */
  readonly commit: string;
} & (
    | { readonly type: 'RecordPush'; readonly previousCommit?: string }
    /** Nobody pushed: the service put it there. */
    | { readonly type: 'RecordOwnCommit'; readonly previousCommit: string }
  );

/** The process that takes a push and the one that watches the repository both notice it: it is one. */
const decide = (command: PushCommand, state: PushState): readonly PushEvent[] => {
  const { websiteId, commit, previousCommit } = command;
  if (state.commit === commit) return [];
  if (command.type === 'RecordOwnCommit') {
    return [{ type: 'OwnCommitMade', data: { websiteId, commit, previousCommit: command.previousCommit } }];
  }
  return [{ type: 'DefaultBranchPushed', data: { websiteId, commit, ...(previousCommit !== undefined && { previousCommit }) } }];
};

export const pushFold: StreamFold<PushState, PushEvent, { readonly websiteId: string }> = {
  name: 'push',
  stream: pushStream,
  initialState: {},
  evolve: (_, { data: { commit } }) => ({ commit }),
};

/** Stream `push-<websiteId>`: a worker deploys what is recorded here. */
export const pushProcess: Decider<PushState, PushCommand, PushEvent> = { ...pushFold, decide };
