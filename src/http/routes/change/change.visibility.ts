import type { AccessEvent } from '../../../events/access/access.events.js';
import { blockAfter, type DeliveryBlock } from '../../../events/delivery/delivery.block.js';
import type { DeliveryEvent } from '../../../events/delivery/delivery.events.js';
import { deliveryBefore } from '../../../events/delivery/delivery.history.js';
import { isSeenByClients } from '../../../events/delivery/delivery.steps.js';
import type { JsonObject, Recorded } from '../../../events/envelope.js';
import { readInvitation } from '../../../projections/access/access.queries.js';
import type { Reader } from '../../../projections/reader.js';
import { websiteProjection } from '../../../projections/website/website.projection.js';
import type { Caller, WebsiteAccess } from '../../auth/caller.js';
import { isAllowed } from '../../auth/rules.js';
import { areaOf, type ChangeArea } from './change.areas.js';
import { createCache } from '../../../platform/cache.js';

/** Whether the caller would see a change when they read what it is about. */
export type MaySee = (event: Recorded, caller: Caller, access: WebsiteAccess | undefined) => Promise<boolean>;

const mayRead = ({ readers }: ChangeArea, { role }: Caller, access: WebsiteAccess | undefined): boolean =>
  role === 'admin' || (access !== undefined && isAllowed(readers, access.standing));

/** Events whose visibility is kept: everybody who follows a website asks for the same ones. */
const maxKept = 1_000;
/** Websites whose block is kept as the last event that was asked for left it. */
const maxBlocks = 200;

export const createMaySee = (reader: Reader): MaySee => {
  const shownDeliveries = createCache<Promise<boolean>>(maxKept);
  /** By website. Who goes on where a connection broke asks for one event after the other. */
  const lastBlocks = createCache<{ readonly revision: bigint; readonly block: DeliveryBlock | null }>(maxBlocks);

  const hasFeature = async ({ feature }: ChangeArea, { data }: Recorded, websiteId: string | undefined): Promise<boolean> => {
    if (feature === undefined || websiteId === undefined) return true;
    const needed = typeof feature === 'function' ? feature(data as JsonObject) : feature;
    return (await reader.read(websiteProjection, websiteId)).document?.features.includes(needed) === true;
  };

  /** Clients do not learn that something changed which they do not see, such as a hidden preview's address. */
  const isDeliveryShown = async (event: Recorded<DeliveryEvent>): Promise<boolean> => {
    const { revision, data } = event;
    const { websiteId } = data;
    const last = lastBlocks.get(websiteId);
    const isNext = last !== undefined && last.revision + 1n === revision;
    const before = isNext ? last.block : await deliveryBefore(reader, websiteId, Number(revision));
    const after = blockAfter(before, event);
    lastBlocks.set(websiteId, { revision, block: after });
    return isSeenByClients({ event, before, after });
  };

  const isShownToClient = async (event: Recorded, { clientId }: Caller): Promise<boolean> => {
    const area = areaOf(event.type)?.name;
    if (area === 'delivery') {
      const key = `${event.stream}/${String(event.revision)}`;
      const known = shownDeliveries.get(key) ?? isDeliveryShown(event as Recorded<DeliveryEvent>);
      shownDeliveries.set(key, known);
      known.catch(() => shownDeliveries.delete(key));
      return known;
    }
    // A subscription of the owner before is not this one's business.
    if (area === 'billing') return (event.data as { readonly clientId?: string }).clientId === clientId;
    if (area === 'access') {
      const { data } = event as Recorded<AccessEvent>;
      // Offers of the website's ownership are the agency's.
      if ('kind' in data) return data.kind === 'client_access';
      if (!('invitationId' in data)) return true;
      return (await readInvitation(reader, data.invitationId))?.invitation.kind === 'client_access';
    }
    return true;
  };

  return async (event, caller, access) => {
    const area = areaOf(event.type);
    if (area === undefined || !mayRead(area, caller, access)) return false;
    if (!(await hasFeature(area, event, access?.website.id))) return false;
    return caller.role === 'admin' || isShownToClient(event, caller);
  };
};
