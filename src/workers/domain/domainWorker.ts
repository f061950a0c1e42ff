import { domainDecider } from '../../commands/domain/domain.decider.js';
import type { Engine } from '../../engine.js';
import { domainFold, isDomainOf } from '../../events/domain/domain.state.js';
import { domainStream } from '../../events/domain/domain.stream.js';
import { hostingFold } from '../../events/website/hosting.state.js';
import { websiteStream } from '../../events/website/website.stream.js';
import { ProviderFault } from '../../integrations/fault.js';
import { bringDomain } from '../../integrations/hostedDomain.js';
import type { Hosting } from '../../integrations/hosting/port.js';
import { domainsOf } from '../../projections/domain/domain.queries.js';
import type { Reader } from '../../projections/reader.js';
import { createContextOf } from '../contextOf.js';
import type { CreateReactor } from '../reactions.js';
import type { Worker } from '../worker.js';

interface OfDomain {
  readonly websiteId: string;
  readonly domain: string;
}

/**
 * Adds the domains of websites at the hosting provider, and removes those that a website has no longer;
 * frees the domains of websites that are deleted for good. It needs no lease: each reaction brings the
 * provider to what the domain's stream says now, and looks again after it acted, so that any number of
 * these, however late, end with the same.
 */
export const createDomainWorker = (parts: {
  engine: Engine;
  reader: Reader;
  createReactor: CreateReactor;
  hosting: Hosting;
}): Worker => {
  const { engine, reader, createReactor, hosting } = parts;

  const contextOf = createContextOf(engine, 'domain');

  const isTheirs = async ({ websiteId, domain }: OfDomain): Promise<boolean> =>
    isDomainOf((await engine.state(domainFold, { domain })).state, websiteId);

  const bring = async (of: OfDomain): Promise<void> => {
    if (!hosting.needsDomains) return;
    const { websiteId, domain } = of;
    const { state: website } = await engine.state(hostingFold, { websiteId });
    // Not provisioned yet, or served elsewhere.
    if (website.hosting?.provider !== hosting.provider) return;
    await bringDomain(hosting, { projectId: website.hosting.projectId, domain }, () => isTheirs(of));
  };

  /**
   * What the provider refuses to add is not tried again; a check of the domain says why. What it refuses to
   * remove would stay there for good, and no check would say so: the reaction fails, and is parked in the end.
   */
  const bringUnlessRefused = async (of: OfDomain): Promise<void> => {
    try {
      await bring(of);
    } catch (error) {
      if (!(error instanceof ProviderFault) || error.transient || !(await isTheirs(of))) throw error;
      engine.logger.warn({ err: error, ...of }, 'the hosting provider refused a domain');
    }
  };

  return createReactor({
    name: 'domain',
    streams: [domainStream, websiteStream],
    key: ({ data }) => ('domain' in data ? data.domain : data.websiteId),
    on: {
      DomainAdded: ({ data }) => bringUnlessRefused(data),
      // The provider may find now what it asked for.
      DomainVerified: ({ data }) => bringUnlessRefused(data),
      DomainChecked: ({ data }) => bringUnlessRefused(data),
      DomainRemoved: ({ data }) => bringUnlessRefused(data),
      WebsiteActivated: async ({ data: { websiteId } }) => {
        if (!hosting.needsDomains) return;
        for (const { domain } of await domainsOf(reader, websiteId)) await bringUnlessRefused({ websiteId, domain });
      },
      WebsiteDeleted: async (event) => {
        const { websiteId } = event.data;
        for (const { domain } of await domainsOf(reader, websiteId)) {
          const command = { type: 'RemoveDomain', websiteId, domain, reason: 'websiteDeleted' } as const;
          await engine.handle(domainDecider, command, contextOf(event));
        }
      },
    },
  });
};
