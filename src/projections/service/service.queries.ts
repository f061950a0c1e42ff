import type { Reader } from '../reader.js';
import type { ServiceKind } from '../../events/service/service.events.js';
import { serviceProjection, type ServiceView } from './service.projection.js';

/**
 * The services of a website as of now, or of the revision `through` of its stream, the newest
 * first.
 */
export const servicesOf = async (
  { read }: Pick<Reader, 'read'>,
  websiteId: string,
  through?: bigint,
): Promise<readonly ServiceView[]> => (await read(serviceProjection, websiteId, through)).document?.services ?? [];

/** The website's service of a kind as of now. */
export const serviceOf = async (
  reader: Pick<Reader, 'read'>,
  websiteId: string,
  kind: ServiceKind,
): Promise<ServiceView | undefined> => (await servicesOf(reader, websiteId)).find((service) => service.kind === kind);
