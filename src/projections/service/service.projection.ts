import type { ServiceEvent, ServiceKind } from '../../events/service/service.events.js';
import { servicesStream } from '../../events/service/service.stream.js';
import { defineProjection, type Projection } from '../projection.js';

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

const withoutService = (document: ServicesDocument | null, serviceId: string): readonly ServiceView[] =>
  (document?.services ?? []).filter(({ id }) => id !== serviceId);

export const serviceProjection: Projection<ServicesDocument, ServiceEvent> = defineProjection({
  name: 'service',
  version: 1,
  stream: servicesStream,
  on: {
    ServiceAttached: (document, { data, metadata }) => {
      const { websiteId, serviceId, kind, shopDomain, eventTypeIds, siteId, secretNames } = data;
      const service: ServiceView = {
        id: serviceId,
        kind,
        ...(shopDomain !== undefined && { shopDomain }),
        ...(eventTypeIds !== undefined && { eventTypeIds }),
        ...(siteId !== undefined && { siteId }),
        secretNames,
        createdAt: metadata.at,
      };
      return { websiteId, services: [service, ...withoutService(document, serviceId)] };
    },
    ServiceDetached: (document, { data: { websiteId, serviceId } }) => ({
      websiteId,
      services: withoutService(document, serviceId),
    }),
  },
});
