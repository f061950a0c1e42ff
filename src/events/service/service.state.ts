import type { Recorded } from '../envelope.js';
import { withItems, type StreamFold } from '../fold.js';
import type { ServiceEvent, ServiceKind } from './service.events.js';
import { servicesStream } from './service.stream.js';

export interface AttachedService {
  readonly serviceId: string;
  readonly kind: ServiceKind;
  readonly attachedAt: string;
  readonly shopDomain?: string;
}

export interface ServicesState {
  /** One of a kind at most. */
  readonly services: readonly AttachedService[];
  /** Ids of services that were detached. */
  readonly detached: readonly string[];
  /** Every shop that was ever attached, the present one as well. */
  readonly shops: readonly string[];
}

const evolve = (state: ServicesState, event: Recorded<ServiceEvent>): ServicesState => {
  const { services, detached, shops } = state;
  const { serviceId, kind } = event.data;
  if (event.type === 'ServiceDetached') {
    return {
      services: services.filter((other) => other.serviceId !== serviceId),
      detached: withItems(detached, serviceId),
      shops,
    };
  }
  const { shopDomain } = event.data;
  const attached = { serviceId, kind, attachedAt: event.metadata.at, ...(shopDomain !== undefined && { shopDomain }) };
  const isNew = shopDomain !== undefined && !shops.includes(shopDomain);
  return { services: [...services, attached], detached, shops: isNew ? withItems(shops, shopDomain) : shops };
};

export const servicesFold: StreamFold<ServicesState, ServiceEvent, { readonly websiteId: string }> = {
  name: 'services',
  stream: servicesStream,
  initialState: { services: [], detached: [], shops: [] },
  evolve,
};
