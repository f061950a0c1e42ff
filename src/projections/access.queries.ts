import { accessStream } from '../commands/access.commands.js';
import { accessDecider, linkRole } from '../commands/access.decider.js';
import type { Engine } from '../engine.js';
import type { WebsiteDocument } from './website.projection.js';

/** A client's way to a website as of now; `null` when there is none. An owner always behaves as an editor. */
export const websiteRoleOf = async (
  engine: Engine,
  website: Pick<WebsiteDocument, 'id' | 'clientId'>,
  clientId: string,
): Promise<{ readonly via: 'owner' | 'link'; readonly role: 'viewer' | 'editor' } | null> => {
  if (website.clientId === clientId) return { via: 'owner', role: 'editor' };
  const { state } = await engine.state(accessDecider, accessStream(website.id));
  const role = linkRole(state, clientId);
  return role === undefined ? null : { via: 'link', role };
};
