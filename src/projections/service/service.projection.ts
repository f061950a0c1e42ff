import { type ServiceEvent, type ServiceKind } from '../../events/service/service.events.js';
import type { Projection } from '../projection.js';
import { servicesStream } from '../../events/service/service.stream.js';

/** The services of a website, the newest first. */
export type ServicesDocument = {
  readonly websiteId: string;
  readonly services: readonly ServiceView[];
};

export type ServiceView = {
  readonly id: string;
  readonly kind: ServiceKind;
  readonly shopDomain?: string;
  readonly eventTypeIds?: readonly number[];
  readonly siteId?: string;
  readonly secretNames: readonly string[];
  readonly createdAt: string;
};

export const serviceProjection: Projection<ServicesDocument, ServiceEvent> = {
  name: 'service',
  version: 1,
  handles: ['ServiceAttached', 'ServiceDetached'],
  ignores: [],
  documentId: ({ data }) => data.websiteId,
  stream: (websiteId) => servicesStream.name({ websiteId }),
  indexes: [],
  evolve: (document, event) => {
    const { websiteId, serviceId } = event.data;
    const others = (document?.services ?? []).filter(({ id }) => id !== serviceId);
    switch (event.type) {
      case 'ServiceAttached': {
        const { kind, shopDomain, eventTypeIds, siteId, secretNames } = event.data;
        const service: ServiceView = {
          id: serviceId,
          kind,
          ...(shopDomain !== undefined && { shopDomain }),
          ...(eventTypeIds !== undefined && { eventTypeIds }),
          ...(siteId !== undefined && { siteId }),
          secretNames,
          createdAt: event.metadata.at,
        };
        return { websiteId, services: [service, ...others] };
      }
      case 'ServiceDetached':
        return { websiteId, services: others };
      default:
        return document;
    }
  },
};
