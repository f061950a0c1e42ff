import type { Recorded } from '../envelope.js';
import type { StreamFold } from '../fold.js';
import type { DocumentEvent } from './document.events.js';
import { documentStream, type DocumentKey } from './document.stream.js';

export type DocumentState =
  | { readonly stage: 'none' }
  | {
      readonly stage: 'live' | 'deleted' | 'purged';
      readonly websiteId: string;
      readonly file: string;
      readonly name: string;
      readonly size: number;
      /** ISO 8601 UTC. */
      readonly deletedAt?: string;
    };

const evolve = (state: DocumentState, { type, data, metadata }: Recorded<DocumentEvent>): DocumentState => {
  if (type === 'DocumentUploaded') {
    const { websiteId, file, name, size } = data;
    return { stage: 'live', websiteId, file, name, size };
  }
  if (state.stage === 'none') return state;
  switch (type) {
    case 'DocumentRenamed':
      return { ...state, name: data.name };
    case 'DocumentDeleted':
      return { ...state, stage: 'deleted', deletedAt: metadata.at };
    case 'DocumentRestored': {
      const { deletedAt: _, ...rest } = state;
      return { ...rest, stage: 'live' };
    }
    case 'DocumentPurged':
      return { ...state, stage: 'purged' };
    default:
      return state;
  }
};

export const documentFold: StreamFold<DocumentState, DocumentEvent, DocumentKey> = {
  name: 'document',
  stream: documentStream,
  initialState: { stage: 'none' },
  evolve,
};
