import { slugDecider, websiteDecider } from '../../commands/website/website.decider.js';
import type { Engine } from '../../engine.js';
import type { Recorded } from '../../events/envelope.js';
import { siteStream } from '../../events/site/site.stream.js';
import { areSameValues, siteValuesOf, type SiteValues } from '../../events/website/siteValues.js';
import { websiteStream } from '../../events/website/website.stream.js';
import { embedded } from '../../integrations/embeddedFiles.js';
import { ProviderFault, requireProvider } from '../../integrations/fault.js';
import type { Deployment, Hosting } from '../../integrations/hosting/port.js';
import { isoTime } from '../../platform/clock.js';
import type { Reader } from '../../projections/reader.js';
import { websiteProjection, type WebsiteDocument } from '../../projections/website/website.projection.js';
import { createContextOf } from '../contextOf.js';
import { redeployMarker } from '../deployment/deployment.process.js';
import type { Deployments } from '../deployment/deployments.js';
import type { HeldLease } from '../heldLease.js';
import { runLeasedTask, type LeasedTask } from '../leasedTask.js';
import { recordFailure } from '../taskFault.js';
import type { ReactionContext } from '../reactionContext.js';
import type { CreateReactor } from '../reactions.js';
import type { Worker } from '../worker.js';
import { siteFold, siteProcess, type SiteOutcome, type SiteState } from './site.process.js';
import { siteVariables } from './siteVariables.js';

/** How long a former address leads to the new one, and is nobody else's. */
const REDIRECT_MS = 90 * 86_400_000;
/** A build at the provider may take 14 minutes. */
const TIMEOUT_MS = 15 * 60_000;

/** A colour that was taken away must not stay: the build ignores an empty one. */
const noColour = { SITE_COLOR: '' };

type Provisioned = WebsiteDocument & Required<Pick<WebsiteDocument, 'hosting'>>;

/** Whether the provider serves what it should not, or the other way round; sites served here are looked up at each request. */
const isServedWrongly = ({ hosting, archivedAt }: Provisioned, { isServed }: SiteState): boolean =>
  hosting.provider !== embedded && isServed !== (archivedAt === undefined);

/** What is under way or over: an attempt that reached its end leaves nothing open. */
const openIn = (state: SiteState): SiteState | null =>
  state.attempts.lease === undefined && state.attempts.pause === undefined ? null : state;

/**
 * Sets the variables of a site when its website was changed, makes the deployments that were queued
 * with a change, and has the sites of archived websites served to nobody. Any number of these may run on the same stores.
 */
export const createSiteWorker = (parts: {
  engine: Engine;
  reader: Reader;
  createReactor: CreateReactor;
  hosting: Hosting;
  deployments: Deployments;
}): Worker => {
  const { engine, reader, createReactor, hosting, deployments } = parts;
  const worker = engine.ids.commandId();

  const provisioned = async (websiteId: string): Promise<Provisioned | null> => {
    const { document } = await reader.read(websiteProjection, websiteId);
    return document?.hosting === undefined ? null : { ...document, hosting: document.hosting };
  };

  const contextOf = createContextOf(engine, 'site');

  const fault = (message: string, transient = false): ProviderFault =>
    new ProviderFault({ provider: hosting.provider, message, transient });

  const task = (event: Recorded<{ type: string; data: { websiteId: string } }>): LeasedTask<SiteState, SiteOutcome> => {
    const { websiteId } = event.data;
    /** The deployment that the attempt under way is making. */
    let deploying: string | undefined;

    /** Waits for the build, and records what the site shows once it is served. */
    const deploy = async (
      website: Provisioned,
      redeployId: string,
      begun: Deployment | null,
      values: SiteValues,
      lease: HeldLease<SiteOutcome>,
    ): Promise<void> => {
      const marker = redeployMarker(redeployId);
      lease.assertHeld();
      deploying = redeployId;
      const started = begun ?? (await deployments.start(website, { marker, isShown: false }, () => contextOf(event)));
      const isEnded = started.status !== 'building';
      const { projectId } = website.hosting;
      const ended = isEnded ? started : await hosting.deploy(projectId, marker, lease.pause);
      const { id: deploymentId, status, error } = ended;
      if (status === 'failed') throw fault(`The build failed: ${error ?? 'no reason given'}`);
      if (status === 'building') throw fault('The build has not ended yet', true);
      const shown = { type: 'RecordDeployment', websiteId, deploymentId, values } as const;
      await engine.handle(websiteDecider, shown, contextOf(event));
      await lease.record({ type: 'RecordRedeploy', redeployId, deploymentId });
      deploying = undefined;
    };

    return {
      worker,
      logger: () => engine.logger.child({ worker: 'site', websiteId }),
      load: async () => {
        const { state } = await engine.state(siteFold, { websiteId });
        const website = await provisioned(websiteId);
        if (website === null || state.givenUpAt !== undefined) return null;
        const isOlder = website.archivedAt === undefined && !areSameValues(website, state.set ?? website.built);
        return isOlder || state.queued.length > 0 || isServedWrongly(website, state) ? state : null;
      },
      handle: async (command) => openIn((await engine.handle(siteProcess, { websiteId, ...command }, contextOf(event))).state),
      timeoutMs: () => TIMEOUT_MS,
      execute: async (state, lease) => {
        const { set, queued } = state;
        deploying = undefined;
        const website = await provisioned(websiteId);
        if (website === null) return null;
        requireProvider({ used: hosting, needed: website.hosting });
        const { projectId } = website.hosting;
        if (isServedWrongly(website, state)) {
          lease.assertHeld();
          await hosting.setServed(projectId, !state.isServed);
          await lease.record({ type: 'RecordServing', isServed: !state.isServed });
          // What is left is for the next attempt.
          return null;
        }
        if (website.archivedAt !== undefined) throw fault(`Website ${websiteId} is archived`);
        const before = set ?? website.built;
        let next = queued;
        const [first] = queued;
        // One that an earlier attempt has begun was built with what was set then.
        const begun = first === undefined ? null : await hosting.findDeployment(projectId, redeployMarker(first));
        if (first !== undefined && begun !== null) {
          await deploy(website, first, begun, before, lease);
          next = queued.slice(1);
        }
        const wanted = siteValuesOf(website);
        if (!areSameValues(wanted, before)) {
          lease.assertHeld();
          await hosting.setVariables(projectId, { ...noColour, ...siteVariables(wanted) });
          await lease.record({ type: 'RecordVariables', values: wanted });
        }
        for (const redeployId of next) await deploy(website, redeployId, null, wanted, lease);
        return null;
      },
      failure: {
        message: 'a site could not be brought up to date',
        outcome: (error, jitter) => ({
          ...recordFailure(error, jitter),
          ...(deploying !== undefined && { redeployId: deploying }),
        }),
      },
    };
  };

  const update = async (event: Parameters<typeof task>[0], context: ReactionContext): Promise<void> =>
    runLeasedTask(engine, context, task(event));

  /** A change is worth another try, whatever an earlier one came to. */
  const updateAnew = async (event: Parameters<typeof task>[0], context: ReactionContext): Promise<void> => {
    const { position, data } = event;
    const reopen = { type: 'ReopenUpdate', websiteId: data.websiteId, position } as const;
    await engine.handle(siteProcess, reopen, contextOf(event));
    await update(event, context);
  };

  return createReactor({
    name: 'site',
    streams: [websiteStream, siteStream],
    // A deployment that is queued with a change comes after it.
    key: ({ data }) => data.websiteId,
    on: {
      WebsiteActivated: update,
      WebsiteRenamed: updateAnew,
      WebsiteSlugChanged: async (event, context) => {
        const { position, metadata, data } = event;
        const reservedUntil = isoTime(Date.parse(metadata.at) + REDIRECT_MS);
        const { websiteId, previousSlug: slug } = data;
        await engine.handle(slugDecider, { type: 'ReleaseSlug', slug, websiteId, position, reservedUntil }, contextOf(event));
        await updateAnew(event, context);
      },
      WebsiteBrandColorChanged: updateAnew,
      WebsiteBrandColorRemoved: updateAnew,
      WebsiteArchived: updateAnew,
      WebsiteRestored: updateAnew,
      SiteRedeployQueued: update,
      SiteUpdateReopened: update,
    },
  });
};
