import { refusals, type Refusal } from '../../commands/refusal.js';
import type { LinkRole } from '../../events/access/access.events.js';
import type { WebsiteDocument } from '../../projections/website/website.projection.js';
import type { AccessRule, Route } from '../route.js';
import type { Caller, WebsiteStanding } from './caller.js';

/** What a client's way to a website makes of them; `null`: they have none. */
export const standingOf = (way: { readonly via: 'owner' | 'link'; readonly role: LinkRole } | null): WebsiteStanding => {
  if (way === null) return 'stranger';
  return way.via === 'owner' ? 'owner' : way.role;
};

/** A rule of a website. */
export type WebsiteRule = Exclude<AccessRule, 'public' | 'signedIn'>;

export const isWebsiteRule = (rule: AccessRule): rule is WebsiteRule => rule !== 'public' && rule !== 'signedIn';

/** Who may call (specification, "Authentication", rules 2 to 4). */
const allowed: Readonly<Record<WebsiteRule, readonly WebsiteStanding[]>> = {
  admin: ['admin'],
  members: ['admin', 'owner', 'editor', 'viewer'],
  adminOrOwner: ['admin', 'owner'],
  editors: ['admin', 'owner', 'editor'],
  owner: ['owner'],
  handover: ['admin', 'owner'],
};

/** Whether the rule lets somebody of this standing in, whatever else the route asks for. */
export const isAllowed = (rule: WebsiteRule, standing: WebsiteStanding): boolean => allowed[rule].includes(standing);

export type RuledRoute = Pick<Route, 'access' | 'feature' | 'tag'>;

/**
 * Why somebody of this standing may not call the route of the website; `null`: they may. All that
 * lets callers in, or explains it, asks this.
 * @param isOffered whether the website is offered to them, by the transfer that the route is about
 */
export const refusalFor = (
  { access: rule, feature, tag }: RuledRoute,
  standing: WebsiteStanding,
  { id, features }: Pick<WebsiteDocument, 'id' | 'features'>,
  isOffered = false,
): Refusal | null => {
  if (!isWebsiteRule(rule)) return null;
  if (rule === 'handover' && isOffered) return null;
  if (rule === 'admin' && standing !== 'admin') return refusals.adminRequired();
  if (standing === 'stranger') return refusals.notAuthorizedForWebsite(id);
  if (!isAllowed(rule, standing)) {
    if (rule === 'editors') return refusals.editorRequired();
    return refusals.notAuthorizedForWebsite(id, standing === 'admin' ? undefined : `${tag.name} is the owner's`);
  }
  return feature === undefined || features.includes(feature) ? null : refusals.featureOff(feature);
};

/** Why the route is refused to everybody while the website is archived; `null`: it is not. */
export const archivedRefusalFor = (
  { method, whenArchived }: Pick<Route, 'method' | 'whenArchived'>,
  { id, archivedAt }: Pick<WebsiteDocument, 'id' | 'archivedAt'>,
): Refusal | null =>
  method !== 'get' && archivedAt !== undefined && whenArchived !== 'allowed' ? refusals.websiteArchived(id) : null;

/** Why a token that may only read is refused the route; `null`: it is not. */
export const readOnlyRefusalFor = ({ method }: Pick<Route, 'method'>, { scope }: Pick<Caller, 'scope'>): Refusal | null =>
  method !== 'get' && scope === 'read' ? refusals.readOnlyToken() : null;
