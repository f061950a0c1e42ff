import { createWebsite } from '../../src/commands/website/website.handlers.js';
import { websiteDecider } from '../../src/commands/website/website.decider.js';
import type { CommandContext } from '../../src/commands/handleCommand.js';
import type { Feature } from '../../src/events/website/website.events.js';
import type { SiteAddress } from '../../src/integrations/hosting/port.js';
import { projections } from '../../src/projections/catalogue.js';
import { createProjector, type Projector } from '../../src/projections/runner/projector.js';
import { someAdmin } from '../support/given.js';
import { createTestClock, type TestClock } from '../support/testClock.js';
import type { TestProcess } from '../support/process.js';
import { engineOn, openStores, type Stores } from '../workers/engines.js';

/** Where the websites are by now. */
export const siteAddress: SiteAddress = ({ hosting }) => hosting && `https://now.example/${hosting.projectId}/`;

/** A website on the tier `growth`, active unless told otherwise. */
export const makeWebsite = async (
  engine: TestProcess,
  slug: string,
  { features, isActive = true }: { features?: readonly Feature[]; isActive?: boolean } = {},
): Promise<string> => {
  const context = (): CommandContext => ({ commandId: engine.ids.commandId(), actor: someAdmin, requestId: 'r' });
  const website = { name: slug, slug, templateId: 'business', tier: 'growth' as const, collaborators: [], features };
  const { websiteId } = await createWebsite(engine, website, context());
  const repository = { provider: 'embedded', id: slug, name: slug, cloneUrl: 'file:///x' };
  const hosting = { provider: 'embedded', projectId: slug, name: slug };
  const activation = { type: 'ActivateWebsite', websiteId, repository, hosting, url: `https://${slug}.example/` } as const;
  if (isActive) await engine.handle(websiteDecider, activation, context());
  return websiteId;
};

/**
 * Stores in real files, two minutes before four on a Monday, with a projector that is not started.
 */
export const startInstallation = async (): Promise<{
  readonly clock: TestClock;
  readonly stores: Stores;
  readonly engine: TestProcess;
  readonly projector: Projector;
}> => {
  const clock = createTestClock(Date.UTC(2026, 0, 5, 3, 58));
  const stores = await openStores(clock);
  const engine = engineOn(stores, { clock });
  const projector = createProjector({ ...engine, projections, decode: (stored) => engine.codec.decode(stored) });
  return { clock, stores, engine, projector };
};
