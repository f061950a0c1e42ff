import type { ContentEvent } from '../../events/content/content.events.js';
import { contentFold, type ContentState } from '../../events/content/content.state.js';
import type { Decider } from '../decider.js';
import { refusals, type Refusal } from '../refusal.js';
import type { ContentCommand } from './content.commands.js';

const decide = (command: ContentCommand, state: ContentState): readonly ContentEvent[] | Refusal => {
  const { websiteId, collection, documentId, hash } = command;
  const ofDocument = { websiteId, collection, documentId };
  const current = state.stage === 'none' ? null : state.versions[0];
  switch (command.type) {
    case 'SaveContent': {
      const { body, bytes, room, baseHash, initialHash } = command;
      // What is there already is no conflict: the answer to an earlier attempt may have been lost.
      if (current?.hash === hash) return [];
      const replaced = current ?? (initialHash === undefined ? null : { hash: initialHash });
      const isFirst = current === null && baseHash === null;
      if (!isFirst && baseHash !== replaced?.hash) return refusals.stale(replaced);
      if (bytes > room) return refusals.contentLimitReached();
      return [{ type: 'ContentSaved', data: { ...ofDocument, hash, body } }];
    }
    case 'RestoreContent': {
      const { body, bytes, room, baseHash } = command;
      if (state.stage === 'none' || current === null) return refusals.contentNotFound(documentId);
      if (current.hash === hash) return [];
      if (!state.versions.some((version) => version.hash === hash)) return refusals.contentVersionNotFound(hash, documentId);
      if (baseHash !== current.hash) return refusals.stale(current);
      if (bytes > room) return refusals.contentLimitReached();
      return [{ type: 'ContentRestored', data: { ...ofDocument, hash, body } }];
    }
    case 'RecordContentPublished': {
      const { commit, revision } = command;
      if (state.stage === 'none') return [];
      const { publishedHash, publishedRevision } = state;
      if (publishedHash === hash && (revision === undefined || revision === publishedRevision)) return [];
      // Publications commit in the order in which they read, and may record it in another one.
      if (revision !== undefined && publishedRevision !== undefined && revision < publishedRevision) return [];
      return [{ type: 'ContentPublished', data: { ...ofDocument, hash, ...(revision !== undefined && { revision }), commit } }];
    }
    default:
      return command satisfies never;
  }
};

export const contentDecider: Decider<ContentState, ContentCommand, ContentEvent> = { ...contentFold, decide };
