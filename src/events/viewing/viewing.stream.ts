import { defineStream } from '../defineStream.js';
import { viewingEvents } from './viewing.events.js';

export const viewingStream = defineStream({
  category: 'viewing',
  key: ({ viewingId }: { readonly viewingId: string }) => viewingId,
  named: '<viewingId>',
  holds: 'that an admin looked at an answer as somebody else would get it: as whom, at which path',
  guards: 'recorded once',
  events: viewingEvents,
  personal: { PersonViewed: ['email'] },
});
