import { Type } from 'typebox';
import { event, type EventOf } from './definition.js';

/** Stream `client-<id>`. */
export const clientEvents = {
  ClientRegistered: event(Type.Object({ clientId: Type.String(), email: Type.String(), name: Type.Optional(Type.String()) })),
  ClientRenamed: event(Type.Object({ clientId: Type.String(), name: Type.String() })),
};

export type ClientEvent = EventOf<typeof clientEvents>;

/** Stream `client-email-<blind index of the address>`: one client per address. */
export const clientEmailEvents = {
  ClientEmailReserved: event(Type.Object({ clientId: Type.String() })),
};

export type ClientEmailEvent = EventOf<typeof clientEmailEvents>;

/** Stream `client-subject-<blind index of the subject>`: which client an identity provider's subject is. */
export const clientSubjectEvents = {
  ClientSubjectBound: event(Type.Object({ clientId: Type.String(), subject: Type.String() })),
};

export type ClientSubjectEvent = EventOf<typeof clientSubjectEvents>;
