import type { CommandContext } from '../../src/commands/handleCommand.js';
import { websiteDecider } from '../../src/commands/website/website.decider.js';
import { createWebsite } from '../../src/commands/website/website.handlers.js';
import type { Engine } from '../../src/engine.js';

/** A website of the test's providers (`workers/remote.ts`), which shows what it is called. */
export const activeWebsite = async (engine: Engine, context: () => CommandContext): Promise<string> => {
  const values = { name: 'Bakery', slug: 'bakery' };
  const request = { ...values, templateId: 'business', tier: 'starter', collaborators: [] } as const;
  const { websiteId } = await createWebsite(engine, request, context());
  const activate = {
    type: 'ActivateWebsite',
    websiteId,
    repository: { provider: 'remote', id: 'r1', name: 'bakery', cloneUrl: 'https://remote.example/r1.git' },
    hosting: { provider: 'remote', projectId: 'p1', name: 'bakery' },
    url: 'https://bakery.example/',
    shown: { deploymentId: 'd0', values },
  } as const;
  await engine.handle(websiteDecider, activate, context());
  return websiteId;
};
