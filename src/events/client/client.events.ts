import { Type } from 'typebox';
import { event, type EventOf } from '../defineStream.js';

/** Stream `client-<id>`. Address and name are sealed (`platform/personal.ts`). */
export const clientEvents = {
  ClientRegistered: event(Type.Object({ clientId: Type.String(), email: Type.String(), name: Type.Optional(Type.String()) })),
  ClientRenamed: event(Type.Object({ clientId: Type.String(), name: Type.String() })),
  /** Who it was is told no more: what is left of them elsewhere goes, and with it the key that opens the rest. */
  ClientErased: event(Type.Object({ clientId: Type.String() })),
};

export type ClientEvent = EventOf<typeof clientEvents>;

/** Stream `client-email-<blind index of the address>`: one client per address. */
export const clientEmailEvents = {
  ClientEmailReserved: event(Type.Object({ clientId: Type.String() })),
  /** The client was erased. */
  ClientEmailReleased: event(Type.Object({ clientId: Type.String() })),
};

export type ClientEmailEvent = EventOf<typeof clientEmailEvents>;

/** Stream `client-subject-<blind index of the subject>`: which client an identity provider's subject is. */
export const clientSubjectEvents = {
  /** `subject` is sealed when it tells an address. */
  ClientSubjectBound: event(Type.Object({ clientId: Type.String(), subject: Type.String() })),
};

export type ClientSubjectEvent = EventOf<typeof clientSubjectEvents>;
