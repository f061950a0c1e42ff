import { defineStream } from '../defineStream.js';
import { clientEmailEvents, clientEvents, clientSubjectEvents } from './client.events.js';

export const clientStream = defineStream({
  category: 'client',
  key: ({ clientId }: { readonly clientId: string }) => clientId,
  named: '<clientId>',
  holds: 'the client: registration, name, changes of address, erasure',
  guards: 'an erased client never comes back',
  events: clientEvents,
  personal: {
    ClientRegistered: ['email', 'name'],
    ClientRenamed: ['name'],
    ClientEmailChangeRequested: ['email'],
    ClientEmailChanged: ['email', 'formerEmail'],
  },
});

const idLength = 26;

/** The id of a change of address ends with the client's, so that it alone leads to the stream. */
export const addressChangeIdFor = (unique: string, clientId: string): string => `${unique}${clientId}`;

/** The client that a change of address is of; `null` for an id that no change has. */
export const clientOfAddressChange = (changeId: string): string | null =>
  /^[0-9a-z]{52}$/.test(changeId) ? changeId.slice(idLength) : null;

/** `emailIndex`: the blind index of the lower-case address, so that the name does not reveal it. */
export const clientEmailStream = defineStream({
  category: 'client-email',
  key: ({ emailIndex }: { readonly emailIndex: string }) => emailIndex,
  named: '<blind index of the address>',
  holds: 'which client id an address stands for, from its first invitation on',
  guards: 'one client for each address',
  events: clientEmailEvents,
  personal: {},
  // Who had it was erased, or has another one.
  retention: { days: 30, isEnd: ({ type }) => type === 'ClientEmailReleased' },
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
