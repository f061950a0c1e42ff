/**
 * Reads uploaded pictures and videos, and makes the variants of pictures that websites show. The files
 * are those of a `FileStore`, named by their keys. Every call may throw ProviderFault.
 */
export interface MediaProcessor {
  /**
   * Decodes a picture and stores its variants, which hold nothing of its metadata (places, cameras)
   * and stand upright. When it throws, no variant is left.
   * @throws UnreadableMedia; FileStoreFull
   */
  processPicture(file: MediaFile): Promise<ProcessedPicture>;

  /** Reads what the container of a video says. @throws UnreadableMedia */
  readVideo(file: MediaFile): Promise<VideoShape>;

  /** Removes variants. */
  removeVariants(variants: readonly MediaVariant[]): Promise<void>;
}

export interface MediaFile {
  /** Under which it is stored. Variants are stored under keys that begin with it. */
  readonly key: string;
  readonly contentType: string;
  readonly bytes: number;
}

/** In pixels, as it is shown. */
export interface Size {
  readonly width: number;
  readonly height: number;
}

export interface ProcessedPicture extends Size {
  /** The smallest first; of one size WebP first. */
  readonly variants: readonly MediaVariant[];
}

export interface MediaVariant extends Size {
  readonly key: string;
  readonly contentType: string;
  readonly bytes: number;
}

export interface VideoShape extends Size {
  /** Absent where the container does not say. */
  readonly durationMs?: number;
}

/** The types that are taken, by what an upload is found to be. */
const pictureTypes: readonly string[] = ['image/jpeg', 'image/png', 'image/gif', 'image/webp', 'image/avif'];
const videoTypes: readonly string[] = ['video/mp4', 'video/webm'];

export type MediaKind = 'image' | 'video';

/** `null`: it is neither a picture nor a video that is taken. */
export const mediaKindOf = (contentType: string): MediaKind | null => {
  if (pictureTypes.includes(contentType)) return 'image';
  return videoTypes.includes(contentType) ? 'video' : null;
};

/** The file is not what it claims to be, is broken, or is too large to be decoded; the message says so, for people. */
export class UnreadableMedia extends Error {
  override readonly name = 'UnreadableMedia';
}
