import type { Engine } from '../../engine.js';
import type { MediaEvent } from '../../events/media/media.events.js';
import type { MediaState } from '../../events/media/media.state.js';
import { entityId } from '../../platform/ids.js';
import type { CommandContext, Handled } from '../handleCommand.js';
import type { UploadMedia } from './media.commands.js';
import { mediaDecider } from './media.decider.js';

/**
 * Records an image or video whose files are stored already.
 * @returns also whether it has these files: a repeated command has the first one's
 * @throws Refused: `Storage limit of website <id> reached`, `Too many images and videos`
 */
export const uploadMedia = async (
  engine: Engine,
  input: Omit<UploadMedia, 'type' | 'at' | 'mediaId'>,
  context: CommandContext,
): Promise<Handled<MediaState, MediaEvent> & { readonly mediaId: string; readonly hasFiles: boolean }> => {
  const mediaId = entityId(context.commandId, 'media');
  const handled = await engine.handle(mediaDecider, { type: 'UploadMedia', mediaId, ...input }, context);
  const { state } = handled;
  return { ...handled, mediaId, hasFiles: state.stage !== 'none' && state.files.includes(input.file) };
};
