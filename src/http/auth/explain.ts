import type { WebsiteDocument } from '../../projections/website/website.projection.js';
import { featuresOf } from '../../commands/website/website.decider.js';
import type { AccessRule, Route } from '../route.js';
import type { WebsiteStanding } from './caller.js';
import { archivedRefusalFor, refusalFor } from './rules.js';

/** By what somebody may call a route, or may not. */
export const explainedRules = ['admin', 'owner', 'link', 'role', 'invitation', 'feature', 'tier', 'archived', 'none'] as const;

/** Whether somebody may call a route of a website, by which rule, and that in words. */
export interface Explained {
  readonly allowed: boolean;
  readonly rule: (typeof explainedRules)[number];
  readonly why: string;
}

type ExplainedRoute = Pick<Route, 'access' | 'feature' | 'tag' | 'method' | 'whenArchived'>;

/**
 * What the rules that let callers in make of somebody of this standing. The explanation follows
 * from their outcome, so that it says what the service does.
 * @param isOffered whether an open transfer of the website is offered to them
 */
export const explain = (
  route: ExplainedRoute,
  standing: WebsiteStanding,
  website: WebsiteDocument,
  isOffered = false,
): Explained => {
  const refusal = refusalFor(route, standing, website, isOffered) ?? archivedRefusalFor(route, website);
  const isInvited = route.access === 'handover' && standing !== 'admin' && standing !== 'owner';
  if (refusal === null && isInvited) return { allowed: true, rule: 'invitation', why: 'The website is offered to them.' };
  if (refusal === null) return { allowed: true, ...whyAllowed(route.access, standing) };
  return { allowed: false, ...whyRefused(route, standing, website, refusal.code) };
};

const whyAllowed = (access: AccessRule, standing: WebsiteStanding): Pick<Explained, 'rule' | 'why'> => {
  switch (standing) {
    case 'admin':
      return { rule: 'admin', why: 'Admins may.' };
    case 'owner':
      return { rule: 'owner', why: 'The owner may.' };
    case 'editor':
      return access === 'editors'
        ? { rule: 'role', why: 'It takes an editor, and they are linked as one.' }
        : { rule: 'link', why: 'Everybody who is linked may.' };
    case 'viewer':
      return { rule: 'link', why: 'Everybody who is linked may.' };
    case 'stranger':
      return { rule: 'none', why: 'Everybody who is signed in may.' };
    default:
      return standing satisfies never;
  }
};

/** Whom a rule lets in, in words that go on from "Only". */
const onlyFor: Readonly<Partial<Record<AccessRule, string>>> = {
  admin: 'admins',
  adminOrOwner: 'the owner and admins',
  owner: 'the owner',
  handover: 'the owner, admins and the invited',
};

const whyRefused = (
  { access, feature }: ExplainedRoute,
  standing: WebsiteStanding,
  { tier }: WebsiteDocument,
  code: string,
): Pick<Explained, 'rule' | 'why'> => {
  if (code === 'website_archived') return { rule: 'archived', why: 'The website is archived, and nothing in it changes.' };
  if (code === 'feature_off' && feature !== undefined) {
    return featuresOf(tier).includes(feature)
      ? { rule: 'feature', why: `The website does not have the ${feature} feature enabled.` }
      : { rule: 'tier', why: `${feature} is not available on the ${tier} tier.` };
  }
  if (code === 'admin_required') return { rule: 'admin', why: 'Only admins may.' };
  if (code === 'editor_required') return { rule: 'role', why: 'It takes an editor, and they are linked as a viewer.' };
  if (standing === 'stranger') return { rule: 'none', why: 'They neither own the website nor are linked to it.' };
  return { rule: 'owner', why: `Only ${onlyFor[access] ?? 'others'} may.` };
};
