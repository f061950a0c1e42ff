import { Type, type Static } from 'typebox';
import { event, type EventOf } from '../defineStream.js';

export const ServiceKind = Type.Enum(['commerce', 'scheduling', 'analytics']);
export type ServiceKind = Static<typeof ServiceKind>;

const ofService = { websiteId: Type.String(), serviceId: Type.String(), kind: ServiceKind };

/** What a service is known by at its provider; which of these there are depends on its kind. */
const serviceSettings = {
  /** Lower-case, as in `corner-bakery.myshopify.com`. */
  shopDomain: Type.Optional(Type.String()),
  eventTypeIds: Type.Optional(Type.Array(Type.Integer())),
  siteId: Type.Optional(Type.String()),
};

/**
 * Stream `services-<websiteId>`. Secrets are in the vault, under the service's id; events hold only
 * their names.
 */
export const serviceEvents = {
  ServiceAttached: event(Type.Object({ ...ofService, ...serviceSettings, secretNames: Type.Array(Type.String()) })),
  ServiceDetached: event(Type.Object({ ...ofService, reason: Type.Enum(['deleted', 'replaced', 'uninstalled']) })),
};

export type ServiceEvent = EventOf<typeof serviceEvents>;
