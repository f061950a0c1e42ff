import { Type } from 'typebox';
import { event, type EventOf } from '../defineStream.js';

/** Stream `client-<id>`. Address and name are encrypted (`platform/personal.ts`). */
export const clientEvents = {
  ClientRegistered: event(Type.Object({ clientId: Type.String(), email: Type.String(), name: Type.Optional(Type.String()) })),
  ClientRenamed: event(Type.Object({ clientId: Type.String(), name: Type.String() })),
  ClientNameRemoved: event(Type.Object({ clientId: Type.String() })),
  /** The address holds once its owner has confirmed it, until `expiresAt`. It replaces an earlier request. */
  ClientEmailChangeRequested: event(
    Type.Object({ clientId: Type.String(), changeId: Type.String(), email: Type.String(), expiresAt: Type.String() }),
  ),
  ClientEmailChangeWithdrawn: event(Type.Object({ clientId: Type.String(), changeId: Type.String() })),
  /** Its owner has confirmed the new address. `email` has a key of its own; `formerEmail` stands for nobody. */
  ClientEmailChanged: event(
    Type.Object({ clientId: Type.String(), changeId: Type.String(), email: Type.String(), formerEmail: Type.String() }),
  ),
  /**
   * From here on the client appears nowhere; what is left of them elsewhere is removed, and the key
   * of their personal data destroyed.
   */
  ClientErased: event(Type.Object({ clientId: Type.String() })),
};

export type ClientEvent = EventOf<typeof clientEvents>;

/** Stream `client-email-<blind index of the address>`: one client per address. */
export const clientEmailEvents = {
  ClientEmailReserved: event(Type.Object({ clientId: Type.String() })),
  /** The client was erased, or has another address. */
  ClientEmailReleased: event(Type.Object({ clientId: Type.String() })),
};

export type ClientEmailEvent = EventOf<typeof clientEmailEvents>;

/**
 * Stream `client-subject-<blind index of the subject>`: which client an identity provider's subject
 * is.
 */
export const clientSubjectEvents = {
  /** `subject` is encrypted when it contains an address. */
  ClientSubjectBound: event(Type.Object({ clientId: Type.String(), subject: Type.String() })),
};

export type ClientSubjectEvent = EventOf<typeof clientSubjectEvents>;
