import { Refused, refusals } from '../../commands/refusal.js';
import { websiteRoleOf } from '../../projections/access/access.queries.js';
import { websiteProjection } from '../../projections/website/website.projection.js';
import type { AccessRule, Route } from '../route.js';
import type { Caller, WebsiteAccess } from './caller.js';
import type { Reader } from '../../projections/reader.js';

/** What a caller is to a website. */
type Standing = 'admin' | 'owner' | 'editor' | 'viewer' | 'stranger';

/**
 * Who may call (specification, "Authentication", rules 2 to 4). The rules without a website follow
 * below.
 */
const allowed: Readonly<Record<Exclude<AccessRule, 'public' | 'signedIn'>, readonly Standing[]>> = {
  admin: ['admin'],
  members: ['admin', 'owner', 'editor', 'viewer'],
  adminOrOwner: ['admin', 'owner'],
  editors: ['admin', 'owner', 'editor'],
  owner: ['owner'],
};

/**
 * Lets the caller through, or refuses. It reads streams as they are now, so that after the answer
 * to a revocation the person has no access, on any instance.
 *
 * @returns the website that the route is about and the caller's way to it, if it is about one
 * @throws Refused: 403, `Website <id> not found`, 401 `Editor role required`; faults of the event
 *   store
 */
export type Authorise = (
  route: Pick<Route, 'access' | 'scope' | 'operationId' | 'feature' | 'tag'>,
  caller: Caller,
  params: Readonly<Record<string, string>>,
) => Promise<WebsiteAccess | undefined>;

export const createAuthorise = (reader: Reader): Authorise => {
  const accessOf = async (caller: Caller, id: string): Promise<{ access: WebsiteAccess; standing: Standing }> => {
    const { document: website, revision } = await reader.read(websiteProjection, id);
    if (website === null) throw new Refused(refusals.websiteNotFound(id));
    if (caller.role === 'admin') return { access: { website, revision }, standing: 'admin' };
    const way = caller.clientId === undefined ? null : await websiteRoleOf(reader, website, caller.clientId);
    if (way === null) return { access: { website, revision }, standing: 'stranger' };
    return { access: { website, revision, ...way }, standing: way.via === 'owner' ? 'owner' : way.role };
  };

  return async (route, caller, { id }) => {
    const rule = route.access;
    if (rule === 'public' || rule === 'signedIn') return undefined;
    if (rule === 'admin' && caller.role !== 'admin') throw new Refused(refusals.adminRequired());
    if (rule === 'admin' && route.scope === 'installation') return undefined;
    // Nobody is let in by a route that declares a website's rule and no website.
    if (route.scope !== 'website' || id === undefined) throw new Error(`${route.operationId} names no website`);

    const { access, standing } = await accessOf(caller, id);
    if (standing === 'stranger') throw new Refused(refusals.notAuthorizedForWebsite(id));
    if (!allowed[rule].includes(standing)) {
      if (rule === 'editors') throw new Refused(refusals.editorRequired());
      const isMember = standing !== 'admin';
      throw new Refused(refusals.notAuthorizedForWebsite(id, isMember ? `${route.tag.name} is the owner's` : undefined));
    }
    if (route.feature !== undefined && !access.website.features.includes(route.feature)) {
      throw new Refused(refusals.featureOff(route.feature));
    }
    return access;
  };
};
