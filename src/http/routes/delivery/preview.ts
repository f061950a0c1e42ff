import type { DeliveryBlock } from '../../../events/delivery/delivery.block.js';
import { ProviderFault } from '../../../integrations/fault.js';
import type { Hosting } from '../../../integrations/hosting/port.js';
import type { Clock } from '../../../platform/clock.js';
import type { WebsiteDocument } from '../../../projections/website/website.projection.js';

/**
 * What an answer says of the preview: its address, nothing, or that the hosting provider could not
 * be asked.
 */
export type Preview = { readonly previewUrl?: string } | { readonly previewUrlUnavailable: true };

/** How long the hosting provider may take, in milliseconds (api.md, section 5). */
const timeoutMs = 2_000;

/**
 * Resolves the preview address (specification, rule 6): the override, else the latest deployment of
 * the linked project, else none. The provider is asked only when the answer depends on it; when it
 * is late or at fault, the block is served without it.
 */
export const createPreviews =
  ({ hosting, clock }: { hosting: Pick<Hosting, 'latestDeployment'>; clock: Clock }) =>
  async (block: DeliveryBlock, website: Pick<WebsiteDocument, 'hosting'>, role: 'admin' | 'client'): Promise<Preview> => {
    if (role === 'client' && !block.showPreviewUrl) return {};
    if (block.previewUrlOverride !== undefined) return { previewUrl: block.previewUrlOverride };
    if (website.hosting === undefined) return {};
    try {
      const deployment = await within(clock, hosting.latestDeployment(website.hosting.projectId));
      return deployment === null ? {} : { previewUrl: deployment.url };
    } catch (error) {
      if (error instanceof ProviderFault) return { previewUrlUnavailable: true };
      throw error;
    }
  };

const within = async <Result>(clock: Clock, asked: Promise<Result>): Promise<Result> => {
  let stopWaiting = (): void => undefined;
  const late = new Promise<never>((_, reject) => {
    stopWaiting = clock.schedule(timeoutMs, () => {
      reject(new ProviderFault({ provider: 'hosting', message: 'The hosting provider did not answer in time', transient: true }));
    });
  });
  try {
    return await Promise.race([asked, late]);
  } finally {
    stopWaiting();
  }
};
