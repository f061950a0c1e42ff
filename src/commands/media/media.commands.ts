interface OfMedia {
  readonly at: string;
  readonly websiteId: string;
  readonly mediaId: string;
}

export interface UploadMedia extends OfMedia {
  readonly type: 'UploadMedia';
  readonly kind: 'image' | 'video';
  /** The key of the stored file. */
  readonly file: string;
  /** Cleaned. */
  readonly name: string;
  readonly contentType: string;
  readonly size: number;
  readonly sha256: string;
  readonly alt?: string | undefined;
  /** In pixels; absent in a dry run, which stores no file to read them from. */
  readonly width?: number | undefined;
  readonly height?: number | undefined;
  readonly durationMs?: number | undefined;
  readonly variants: readonly UploadedVariant[];
  /** Bytes that the website may still store, as the read models know them. */
  readonly room: number;
  /** How many images and videos it has, likewise, with deleted ones that can be restored. */
  readonly kept: number;
}

export interface UploadedVariant {
  readonly file: string;
  readonly contentType: string;
  readonly width: number;
  readonly height: number;
  readonly size: number;
}

export interface DescribeMedia extends OfMedia {
  readonly type: 'DescribeMedia';
  /** `null`: none. */
  readonly alt: string | null;
}

export interface DeleteMedia extends OfMedia {
  readonly type: 'DeleteMedia';
}

export interface RestoreMedia extends OfMedia {
  readonly type: 'RestoreMedia';
  /** As of `UploadMedia`. */
  readonly room: number;
}

/** `evenIfLive`: the website is deleted. */
export interface PurgeMedia extends OfMedia {
  readonly type: 'PurgeMedia';
  readonly evenIfLive?: true;
}

export type MediaCommand = UploadMedia | DescribeMedia | DeleteMedia | RestoreMedia | PurgeMedia;
