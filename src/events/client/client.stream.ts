import { defineStream } from '../defineStream.js';
import { clientEmailEvents, clientEvents, clientSubjectEvents } from './client.events.js';

export const clientStream = defineStream({
  category: 'client',
  key: ({ clientId }: { readonly clientId: string }) => clientId,
  named: '<clientId>',
  holds: 'the client: registration, name, erasure',
  guards: 'an erased client never comes back',
  events: clientEvents,
  personal: { ClientRegistered: ['email', 'name'], ClientRenamed: ['name'] },
});

/** `emailIndex`: the blind index of the lower-case address, so that the name does not reveal it. */
export const clientEmailStream = defineStream({
  category: 'client-email',
  key: ({ emailIndex }: { readonly emailIndex: string }) => emailIndex,
  named: '<blind index of the address>',
  holds: 'which client id an address stands for, from its first invitation on',
  guards: 'one client for each address',
  events: clientEmailEvents,
  personal: {},
});

/** `subjectIndex`: the blind index of the identity provider's subject. */
export const clientSubjectStream = defineStream({
  category: 'client-subject',
  key: ({ subjectIndex }: { readonly subjectIndex: string }) => subjectIndex,
  named: '<blind index of the subject>',
  holds: 'which client a subject of the identity provider is',
  guards: 'one client for each subject',
  events: clientSubjectEvents,
  personal: { ClientSubjectBound: ['subject'] },
});
