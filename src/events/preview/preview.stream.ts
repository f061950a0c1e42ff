import { defineStream } from '../defineStream.js';
import { previewEvents } from './preview.events.js';

export const previewStream = defineStream({
  category: 'preview',
  key: ({ previewId }: { readonly previewId: string }) => previewId,
  named: '<previewId>',
  holds: 'that somebody had a draft of a website built, and until when it is shown',
  guards: 'recorded once',
  events: previewEvents,
  personal: {},
});
