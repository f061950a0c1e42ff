import { defineStream } from '../defineStream.js';
import { calendarEvents } from './booking.events.js';

export const calendarStream = defineStream({
  category: 'calendar',
  key: ({ websiteId }: { readonly websiteId: string }) => websiteId,
  named: '<websiteId>',
  holds: 'bookings of the embedded calendar',
  guards: '2,000 bookings',
  events: calendarEvents,
  personal: {},
});
