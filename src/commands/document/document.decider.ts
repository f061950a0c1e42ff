import type { DocumentEvent } from '../../events/document/document.events.js';
import { documentFold, type DocumentState } from '../../events/document/document.state.js';
import type { Decider } from '../decider.js';
import { purgedBefore } from '../deletedFiles.js';
import { refusals, type Refusal } from '../refusal.js';
import type { DocumentCommand } from './document.commands.js';

const decide = (command: DocumentCommand, state: DocumentState): readonly DocumentEvent[] | Refusal => {
  const { type, websiteId, documentId } = command;
  const ofDocument = { websiteId, documentId };
  if (type === 'UploadDocument') {
    // The id is derived from the command, so an existing document was made by this same command.
    if (state.stage !== 'none') return [];
    const { file, name, contentType, size, sha256, room } = command;
    if (size > room) return refusals.storageLimitReached(websiteId);
    return [{ type: 'DocumentUploaded', data: { ...ofDocument, file, name, contentType, size, sha256 } }];
  }
  if (state.stage === 'none' || state.websiteId !== websiteId) return refusals.documentNotFound(documentId);
  switch (type) {
    case 'RenameDocument': {
      if (state.stage !== 'live') return refusals.documentNotFound(documentId);
      const { name } = command;
      return name === state.name ? [] : [{ type: 'DocumentRenamed', data: { ...ofDocument, name, previousName: state.name } }];
    }
    case 'DeleteDocument':
      return state.stage === 'live' ? [{ type: 'DocumentDeleted', data: ofDocument }] : [];
    case 'RestoreDocument': {
      if (state.stage === 'live') return [];
      const isPast = state.deletedAt === undefined || state.deletedAt < purgedBefore(command.at);
      if (state.stage === 'purged' || isPast) return refusals.documentDeletedTooLongAgo(documentId);
      if (state.size > command.room) return refusals.storageLimitReached(websiteId);
      return [{ type: 'DocumentRestored', data: ofDocument }];
    }
    case 'PurgeDocument': {
      if (state.stage === 'purged') return [];
      const isDue = state.deletedAt !== undefined && state.deletedAt < purgedBefore(command.at);
      if (!isDue && command.evenIfLive !== true) return [];
      return [{ type: 'DocumentPurged', data: { ...ofDocument, file: state.file } }];
    }
    default:
      return command satisfies never;
  }
};

export const documentDecider: Decider<DocumentState, DocumentCommand, DocumentEvent> = { ...documentFold, decide };
