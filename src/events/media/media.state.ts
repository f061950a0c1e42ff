import type { Recorded } from '../envelope.js';
import type { StreamFold } from '../fold.js';
import type { MediaEvent } from './media.events.js';
import { mediaStream, type MediaKey } from './media.stream.js';

export type MediaState =
  | { readonly stage: 'none' }
  | {
      readonly stage: 'live' | 'deleted' | 'purged';
      readonly websiteId: string;
      readonly kind: 'image' | 'video';
      /** The file, and its variants. */
      readonly files: readonly string[];
      /** Of all of them, in bytes. */
      readonly size: number;
      readonly alt?: string;
      /** ISO 8601 UTC. */
      readonly deletedAt?: string;
    };

const evolve = (state: MediaState, { type, data, metadata }: Recorded<MediaEvent>): MediaState => {
  if (type === 'MediaUploaded') {
    const { websiteId, kind, file, size, alt, variants } = data;
    return {
      stage: 'live',
      websiteId,
      kind,
      files: [file, ...variants.map((variant) => variant.file)],
      size: variants.reduce((sum, variant) => sum + variant.size, size),
      ...(alt !== undefined && { alt }),
    };
  }
  if (state.stage === 'none') return state;
  switch (type) {
    case 'MediaDescribed': {
      const { alt: _, ...rest } = state;
      return { ...rest, ...(data.alt !== undefined && { alt: data.alt }) };
    }
    case 'MediaDeleted':
      return { ...state, stage: 'deleted', deletedAt: metadata.at };
    case 'MediaRestored': {
      const { deletedAt: _, ...rest } = state;
      return { ...rest, stage: 'live' };
    }
    case 'MediaPurged':
      return { ...state, stage: 'purged' };
    default:
      return state;
  }
};

export const mediaFold: StreamFold<MediaState, MediaEvent, MediaKey> = {
  name: 'media',
  stream: mediaStream,
  initialState: { stage: 'none' },
  evolve,
};
