import type { Recorded } from '../../events/envelope.js';
import type { ServiceEvent, ServiceKind } from '../../events/service/service.events.js';
import type { Decider } from '../decider.js';
import { refusals, type Refusal } from '../refusal.js';
import type { ServiceCommand } from './service.commands.js';

export interface AttachedService {
  readonly serviceId: string;
  readonly kind: ServiceKind;
  readonly attachedAt: string;
  readonly shopDomain?: string;
}

/** Stream `services-<websiteId>`. */
export interface ServicesState {
  /** One of a kind at most. */
  readonly services: readonly AttachedService[];
  /** Ids of those that were. */
  readonly detached: readonly string[];
  /** Every shop that was ever attached, the present one as well. */
  readonly shops: readonly string[];
}

const evolve = (state: ServicesState, event: Recorded<ServiceEvent>): ServicesState => {
  const { services, detached, shops } = state;
  const { serviceId, kind } = event.data;
  if (event.type === 'ServiceDetached') {
    return { services: services.filter((other) => other.serviceId !== serviceId), detached: [...detached, serviceId], shops };
  }
  const { shopDomain } = event.data;
  const attached = { serviceId, kind, attachedAt: event.metadata.at, ...(shopDomain !== undefined && { shopDomain }) };
  const isNew = shopDomain !== undefined && !shops.includes(shopDomain);
  return { services: [...services, attached], detached, shops: isNew ? [...shops, shopDomain] : shops };
};

const decide = (command: ServiceCommand, { services, detached }: ServicesState): readonly ServiceEvent[] | Refusal => {
  const { websiteId } = command;
  const detachment = (
    service: AttachedService,
    reason: Extract<ServiceEvent, { type: 'ServiceDetached' }>['data']['reason'],
  ): ServiceEvent => ({
    type: 'ServiceDetached',
    data: { websiteId, serviceId: service.serviceId, kind: service.kind, reason },
  });
  switch (command.type) {
    case 'AttachService': {
      const { serviceId, kind, shopDomain, eventTypeIds, siteId, secretNames } = command;
      // The id is derived from the command, so an existing service is this very command's.
      if (detached.includes(serviceId) || services.some((service) => service.serviceId === serviceId)) return [];
      return [
        ...services.filter((service) => service.kind === kind).map((service) => detachment(service, 'replaced')),
        {
          type: 'ServiceAttached',
          data: {
            websiteId,
            serviceId,
            kind,
            ...(shopDomain !== undefined && { shopDomain }),
            ...(eventTypeIds !== undefined && { eventTypeIds: [...eventTypeIds] }),
            ...(siteId !== undefined && { siteId }),
            secretNames: [...secretNames],
          },
        },
      ];
    }
    case 'DetachService': {
      const service = services.find(({ serviceId }) => serviceId === command.serviceId);
      if (service !== undefined) return [detachment(service, 'deleted')];
      return detached.includes(command.serviceId) ? [] : refusals.serviceNotFound(command.serviceId);
    }
    case 'RecordUninstall': {
      const { shopDomain, triggeredAt } = command;
      // Whatever was attached since is a new installation: such a webhook may come days late.
      const isMeant = (service: AttachedService): boolean =>
        service.shopDomain === shopDomain && service.attachedAt <= triggeredAt;
      return services.filter(isMeant).map((service) => detachment(service, 'uninstalled'));
    }
    default:
      return command satisfies never;
  }
};

export const serviceDecider: Decider<ServicesState, ServiceCommand, ServiceEvent> = {
  name: 'services',
  initialState: { services: [], detached: [], shops: [] },
  evolve,
  decide,
};
