import type { DeliveryBlock } from '../../../events/delivery/delivery.block.js';
import { ProviderFault, requireProvider } from '../../../integrations/fault.js';
import type { Hosting } from '../../../integrations/hosting/port.js';
import type { Clock } from '../../../platform/clock.js';
import { within } from '../../within.js';

/**
 * What an answer says of the preview: its address, nothing, or that the hosting provider could not
 * be asked.
 */
export type Preview = { readonly previewUrl?: string } | { readonly previewUrlUnavailable: true };

/** How long the hosting provider may take, in milliseconds (api.md, section 5). */
const timeoutMs = 2_000;

/**
 * Resolves the preview address (specification, rule 6): the override, else the latest deployment of
 * the project, also of one whose provisioning failed after it was deployed, else none. The provider is
 * asked only when the answer depends on it; when it is late, at fault, or not the project's own, the
 * block is served without it.
 */
export const createPreviews =
  (parts: { readonly hosting: Pick<Hosting, 'provider' | 'latestDeployment'>; readonly clock: Clock }) =>
  async (
    block: DeliveryBlock,
    projectOf: () => Promise<{ readonly provider: string; readonly projectId: string } | undefined>,
    role: 'admin' | 'client',
  ): Promise<Preview> => {
    const { hosting, clock } = parts;
    if (role === 'client' && !block.showPreviewUrl) return {};
    if (block.previewUrlOverride !== undefined) return { previewUrl: block.previewUrlOverride };
    const project = await projectOf();
    if (project === undefined) return {};
    try {
      // A project of the same name at the provider of today is another website's.
      requireProvider({ used: hosting, needed: project });
      const deployment = await within(clock, timeoutMs, 'The hosting provider', hosting.latestDeployment(project.projectId));
      return deployment === null ? {} : { previewUrl: deployment.url };
    } catch (error) {
      if (error instanceof ProviderFault) return { previewUrlUnavailable: true };
      throw error;
    }
  };
