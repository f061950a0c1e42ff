import type { ServiceEvent } from '../../events/service/service.events.js';
import { servicesFold, type AttachedService, type ServicesState } from '../../events/service/service.state.js';
import type { Decider } from '../decider.js';
import { refusals, type Refusal } from '../refusal.js';
import type { ServiceCommand } from './service.commands.js';

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
      // The id is derived from the command, so an existing service was made by this same command.
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
      // A service that was attached later is a new installation: such a webhook may arrive days
      // late.
      const isMeant = (service: AttachedService): boolean =>
        service.shopDomain === shopDomain && service.attachedAt <= triggeredAt;
      return services.filter(isMeant).map((service) => detachment(service, 'uninstalled'));
    }
    default:
      return command satisfies never;
  }
};

export const serviceDecider: Decider<ServicesState, ServiceCommand, ServiceEvent> = { ...servicesFold, decide };
