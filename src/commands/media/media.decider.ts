import type { MediaEvent } from '../../events/media/media.events.js';
import { mediaFold, type MediaState } from '../../events/media/media.state.js';
import type { Decider } from '../decider.js';
import { purgedBefore } from '../deletedFiles.js';
import { refusals, type Refusal } from '../refusal.js';
import type { DescribeMedia, MediaCommand, RestoreMedia, UploadMedia } from './media.commands.js';

/** Images and videos of one website, with deleted ones that can be restored. */
const maxMedia = 5_000;

type Known = Exclude<MediaState, { readonly stage: 'none' }>;

const upload = (command: UploadMedia, state: MediaState): readonly MediaEvent[] | Refusal => {
  // The id is derived from the command, so what is there was made by this same command.
  if (state.stage !== 'none') return [];
  const { type: _, at: __, room, kept, alt, width, height, durationMs, variants, ...data } = command;
  if (kept >= maxMedia) return refusals.tooManyMedia();
  if (variants.reduce((sum, { size }) => sum + size, data.size) > room) return refusals.storageLimitReached(data.websiteId);
  return [
    {
      type: 'MediaUploaded',
      data: {
        ...data,
        ...(alt !== undefined && { alt }),
        ...(width !== undefined && { width }),
        ...(height !== undefined && { height }),
        ...(durationMs !== undefined && { durationMs }),
        variants: [...variants],
      },
    },
  ];
};

const describe = ({ websiteId, mediaId, alt }: DescribeMedia, state: Known): readonly MediaEvent[] | Refusal => {
  if (state.stage !== 'live') return refusals.mediaNotFound(mediaId);
  if ((alt ?? undefined) === state.alt) return [];
  const { alt: previousAlt } = state;
  return [
    {
      type: 'MediaDescribed',
      data: { websiteId, mediaId, ...(alt !== null && { alt }), ...(previousAlt !== undefined && { previousAlt }) },
    },
  ];
};

const restore = ({ websiteId, mediaId, at, room }: RestoreMedia, state: Known): readonly MediaEvent[] | Refusal => {
  if (state.stage === 'live') return [];
  const isPast = state.deletedAt === undefined || state.deletedAt < purgedBefore(at);
  if (state.stage === 'purged' || isPast) return refusals.mediaDeletedTooLongAgo(mediaId);
  if (state.size > room) return refusals.storageLimitReached(websiteId);
  return [{ type: 'MediaRestored', data: { websiteId, mediaId } }];
};

const decide = (command: MediaCommand, state: MediaState): readonly MediaEvent[] | Refusal => {
  if (command.type === 'UploadMedia') return upload(command, state);
  const { websiteId, mediaId } = command;
  if (state.stage === 'none' || state.websiteId !== websiteId) return refusals.mediaNotFound(mediaId);
  switch (command.type) {
    case 'DescribeMedia':
      return describe(command, state);
    case 'DeleteMedia':
      return state.stage === 'live' ? [{ type: 'MediaDeleted', data: { websiteId, mediaId } }] : [];
    case 'RestoreMedia':
      return restore(command, state);
    case 'PurgeMedia': {
      const isDue = state.deletedAt !== undefined && state.deletedAt < purgedBefore(command.at);
      if (state.stage === 'purged' || (!isDue && command.evenIfLive !== true)) return [];
      return [{ type: 'MediaPurged', data: { websiteId, mediaId, files: [...state.files] } }];
    }
    default:
      return command satisfies never;
  }
};

export const mediaDecider: Decider<MediaState, MediaCommand, MediaEvent> = { ...mediaFold, decide };
