import type { ContentCollection } from '../../events/content/content.events.js';

interface OfDocument {
  readonly at: string;
  readonly websiteId: string;
  readonly collection: ContentCollection;
  readonly documentId: string;
}

interface OfBody {
  /** How many bytes the body has in its canonical form, and how many it may have beside the other documents. */
  readonly bytes: number;
  readonly room: number;
}

export interface SaveContent extends OfDocument, OfBody {
  readonly type: 'SaveContent';
  /** Of the version that the author saw; `null`: nobody had saved one. */
  readonly baseHash: string | null;
  /** Of what the document holds while nobody has saved it; absent: nothing. */
  readonly initialHash?: string;
  readonly hash: string;
  readonly body: unknown;
}

export interface RestoreContent extends OfDocument, OfBody {
  readonly type: 'RestoreContent';
  readonly baseHash: string | null;
  /** Of the version to save again. */
  readonly hash: string;
  /** Its body, read from the log, where it never changes. */
  readonly body: unknown;
}

/** The repository of the website holds this version since that commit. */
export interface RecordContentPublished extends OfDocument {
  readonly type: 'RecordContentPublished';
  readonly hash: string;
  /** Of the document's stream, as it was read; absent: of a publication that an earlier version of this service began. */
  readonly revision?: number;
  readonly commit: string;
}

export type ContentCommand = SaveContent | RestoreContent | RecordContentPublished;
