import type { Engine } from '../../engine.js';
import type { ServiceKind } from '../../events/service/service.events.js';
import { serviceProjection, type ServiceView } from './service.projection.js';

/** The services of a website as of now, the newest first. */
export const servicesOf = async ({ read }: Pick<Engine, 'read'>, websiteId: string): Promise<readonly ServiceView[]> =>
  (await read(serviceProjection, websiteId)).document?.services ?? [];

/** The website's service of a kind as of now. */
export const serviceOf = async (
  engine: Pick<Engine, 'read'>,
  websiteId: string,
  kind: ServiceKind,
): Promise<ServiceView | undefined> => (await servicesOf(engine, websiteId)).find((service) => service.kind === kind);
