interface OfDocument {
  readonly at: string;
  readonly websiteId: string;
  readonly documentId: string;
}

export interface UploadDocument extends OfDocument {
  readonly type: 'UploadDocument';
  readonly file: string;
  /** Cleaned. */
  readonly name: string;
  readonly contentType: string;
  readonly size: number;
  readonly sha256: string;
  /** Bytes that the website may still store, as the read models know them. */
  readonly room: number;
}

export interface RenameDocument extends OfDocument {
  readonly type: 'RenameDocument';
  /** Cleaned. */
  readonly name: string;
}

export interface DeleteDocument extends OfDocument {
  readonly type: 'DeleteDocument';
}

export interface RestoreDocument extends OfDocument {
  readonly type: 'RestoreDocument';
  /** As of `UploadDocument`. */
  readonly room: number;
}

/** `evenIfLive`: the website is deleted. */
export interface PurgeDocument extends OfDocument {
  readonly type: 'PurgeDocument';
  readonly evenIfLive?: true;
}

export type DocumentCommand = UploadDocument | RenameDocument | DeleteDocument | RestoreDocument | PurgeDocument;
