import { defineStream } from '../defineStream.js';
import { mediaEvents } from './media.events.js';

export interface MediaKey {
  readonly mediaId: string;
}

export const mediaStream = defineStream({
  category: 'media',
  key: ({ mediaId }: MediaKey) => mediaId,
  named: '<mediaId>',
  holds: 'one image or video of a website: its file and variants, its description, its deletion',
  guards: 'restored or purged, never both',
  events: mediaEvents,
  personal: {},
});
