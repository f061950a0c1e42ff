import type { DocumentEvent } from '../../events/document/document.events.js';
import { documentStream } from '../../events/document/document.stream.js';
import { defineProjection, type Projection } from '../projection.js';

/** A document of a website; a deleted one until it is purged. */
export type DocumentDocument = {
  readonly id: string;
  readonly websiteId: string;
  readonly stage: 'live' | 'deleted';
  /** The key of the file in the file store. */
  readonly file: string;
  readonly name: string;
  readonly contentType: string;
  /** In bytes. */
  readonly size: number;
  /** The size as a text that sorts by it. */
  readonly sizeOrder: string;
  readonly sha256: string;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly deletedAt?: string;
};

export const documentProjection: Projection<DocumentDocument, DocumentEvent> = defineProjection({
  name: 'document',
  version: 1,
  stream: documentStream,
  on: {
    DocumentUploaded: (_document, { data, metadata: { at } }) => {
      const { documentId: id, websiteId, file, name, contentType, size, sha256 } = data;
      const sizeOrder = String(size).padStart(16, '0');
      return { id, websiteId, stage: 'live', file, name, contentType, size, sizeOrder, sha256, createdAt: at, updatedAt: at };
    },
    DocumentRenamed: (document, { data: { name }, metadata: { at } }) =>
      document === null ? null : { ...document, name, updatedAt: at },
    DocumentDeleted: (document, { metadata: { at } }) =>
      document === null ? null : { ...document, stage: 'deleted', deletedAt: at },
    DocumentRestored: (document) => {
      if (document === null) return null;
      const { deletedAt: _, ...rest } = document;
      return { ...rest, stage: 'live' };
    },
    DocumentPurged: () => null,
  },
  indexes: [
    { field: 'websiteId' },
    { field: 'stage' },
    { field: 'file' },
    { field: 'name', sorts: true },
    { field: 'sizeOrder', sorts: true },
    { field: 'createdAt', sorts: true },
  ],
});
