import { defineStream } from '../defineStream.js';
import { invitationMailEvents } from './invitationMail.events.js';

export const invitationMailStream = defineStream({
  category: 'invitation-mail',
  key: ({ invitationId }: { readonly invitationId: string }) => invitationId,
  named: '<invitationId>',
  holds: 'mails requested, sent, given up',
  guards: 'one mail for each event that asks for one',
  events: invitationMailEvents,
  personal: {},
});
