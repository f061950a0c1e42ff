import { defineStream } from '../defineStream.js';
import { noticeMailEvents } from './noticeMail.events.js';

export const noticeMailStream = defineStream({
  category: 'notice-mail',
  key: ({ noticeId }: { readonly noticeId: string }) => noticeId,
  named: '<eventId>-<recipient>',
  holds: 'one mail that tells of an event: access given, a renewal asked for, a change of address',
  guards: 'one mail to each recipient for each event',
  events: noticeMailEvents,
  personal: {},
});
