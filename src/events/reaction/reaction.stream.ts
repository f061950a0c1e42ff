import { defineStream } from '../defineStream.js';
import { reactionEvents } from './reaction.events.js';

export const reactionStream = defineStream({
  category: 'reaction',
  key: ({ worker, eventId }: { readonly worker: string; readonly eventId: string }) => `${worker}-${eventId}`,
  named: '<worker>-<eventId>',
  holds: "a worker's reaction to an event that failed: since when, parked, tried again",
  guards: 'parked once, whichever process gives up',
  events: reactionEvents,
  personal: {},
});
