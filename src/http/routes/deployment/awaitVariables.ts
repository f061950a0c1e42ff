import type { CommandContext } from '../../../commands/handleCommand.js';
import type { Engine } from '../../../engine.js';
import { siteStream } from '../../../events/site/site.stream.js';
import { areSameValues, siteValuesOf, type SiteValues } from '../../../events/website/siteValues.js';
import { ProviderFault } from '../../../integrations/fault.js';
import type { Reader } from '../../../projections/reader.js';
import { websiteProjection } from '../../../projections/website/website.projection.js';
import { siteFold, siteProcess } from '../../../workers/site/site.process.js';
import { awaitMs, isPausedBeyond } from '../../awaiting.js';

/**
 * Waits until the variables at the hosting provider say what the website says, so that a deployment
 * that begins then shows it. An update that was given up is tried again, by whatever worker there is.
 * @returns what the variables say
 * @throws ProviderFault when they could not be set
 */
export const awaitVariables = async (
  { engine, reader, provider }: { readonly engine: Engine; readonly reader: Reader; readonly provider: string },
  websiteId: string,
  context: CommandContext,
  gone: AbortSignal,
): Promise<SiteValues> => {
  const fault = (message: string, transient: boolean) => new ProviderFault({ provider, message, transient });

  /** @throws what the update came to, or will not come to before `deadline` */
  const findValuesSet = async (deadline: number): Promise<SiteValues | null> => {
    const { document: website } = await reader.read(websiteProjection, websiteId);
    const { state } = await engine.state(siteFold, { websiteId });
    if (website === null || areSameValues(website, state.set ?? website.built)) {
      return website === null ? null : siteValuesOf(website);
    }
    const { lastFault, givenUpAt, attempts } = state;
    const isOver = givenUpAt !== undefined || isPausedBeyond(attempts, deadline);
    if (lastFault !== undefined && isOver) throw fault(lastFault.error, lastFault.transient);
    return null;
  };

  await engine.handle(siteProcess, { type: 'ReopenUpdate', websiteId }, context);
  const values = await engine.waitFor([siteStream.name({ websiteId })], { timeoutMs: awaitMs, gone }, findValuesSet);
  if (values !== null) return values;
  throw fault('The variables of the site are still being set', true);
};
