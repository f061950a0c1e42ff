import { changeAccess } from '../../commands/access/access.handlers.js';
import { detachService } from '../../commands/service/service.handlers.js';
import { slugDecider, websiteDecider } from '../../commands/website/website.decider.js';
import type { Engine } from '../../engine.js';
import { deletionSteps, type DeletionEvent, type DeletionStep } from '../../events/deletion/deletion.events.js';
import { deletionStream } from '../../events/deletion/deletion.stream.js';
import type { Recorded } from '../../events/envelope.js';
import type { WebsiteEvent } from '../../events/website/website.events.js';
import { websiteFold } from '../../events/website/website.state.js';
import { websiteStream } from '../../events/website/website.stream.js';
import { ProviderFault } from '../../integrations/fault.js';
import type { Hosting } from '../../integrations/hosting/port.js';
import type { SourceHost } from '../../integrations/sourceHost/port.js';
import { peopleWithAccess } from '../../projections/access/access.queries.js';
import { outputsOf } from '../../projections/provisioning/provisioning.queries.js';
import type { Reader } from '../../projections/reader.js';
import { servicesOf } from '../../projections/service/service.queries.js';
import { createContextOf } from '../contextOf.js';
import { madeBy, removeMade, removersOf } from '../provisioning/removeMade.js';
import { runLeasedTask, type LeasedTask } from '../leasedTask.js';
import { recordFailure } from '../taskFault.js';
import type { ReactionContext } from '../reactionContext.js';
import type { CreateReactor } from '../reactions.js';
import type { Worker } from '../worker.js';
import { deletionFold, deletionProcess, type DeletionOutcome, type DeletionState } from './deletion.process.js';

type Scheduled = Recorded<Extract<WebsiteEvent, { type: 'WebsiteDeletionScheduled' }>>;
type Deleted = Recorded<Extract<WebsiteEvent, { type: 'WebsiteDeleted' }>>;
type Failed = Recorded<Extract<DeletionEvent, { type: 'DeletionFailed' }>>;

const TIMEOUT_MS = 5 * 60_000;
/** Timers take no month, and a website that is restored meanwhile is waited for no longer. */
const MAX_WAIT_MS = 86_400_000;

const openIn = (state: DeletionState): DeletionState | null =>
  state.isGivenUp || deletionSteps.every((step) => state.done.includes(step)) ? null : state;

/**
 * Deletes websites at the time for which it is scheduled. A worker of its own, because it waits for a
 * month: more deletions than it takes at once would hold up the removal of what deleted websites have
 * left. They fall due in the order in which they are scheduled, so that those it has no room for yet
 * are taken in time.
 */
export const createScheduledDeletionWorker = ({
  engine,
  createReactor,
}: {
  engine: Engine;
  createReactor: CreateReactor;
}): Worker => {
  const contextOf = createContextOf(engine, 'deletion');

  const isDue = async ({ data: { websiteId, purgeAt } }: Scheduled): Promise<boolean> => {
    const { state } = await engine.state(websiteFold, { websiteId });
    return state.stage !== 'none' && state.deletion?.purgeAt === purgeAt;
  };

  const deleteWhenDue = async (event: Scheduled, { signal, pause }: ReactionContext): Promise<void> => {
    const { websiteId, purgeAt } = event.data;
    while (!signal.aborted && (await isDue(event))) {
      const leftMs = Date.parse(purgeAt) - engine.clock.now();
      if (leftMs > 0) await pause(Math.min(leftMs, MAX_WAIT_MS));
      else await engine.handle(websiteDecider, { type: 'DeleteWebsite', websiteId, purgeAt }, contextOf(event));
    }
  };

  return createReactor({
    name: 'scheduledDeletion',
    streams: [websiteStream],
    on: { WebsiteDeletionScheduled: deleteWhenDue },
  });
};

/**
 * Removes what deleted websites leave: only what was made for them, by the marker. Any number of these may run
 * on the same stores.
 */
export const createDeletionWorker = (parts: {
  engine: Engine;
  reader: Reader;
  createReactor: CreateReactor;
  sourceHost: SourceHost;
  hosting: Hosting;
}): Worker => {
  const { engine, reader, createReactor } = parts;
  const removers = removersOf(parts);
  const worker = engine.ids.commandId();

  const contextOf = createContextOf(engine, 'deletion');

  const removeAll = async (ids: readonly string[], remove: (id: string) => Promise<unknown>): Promise<number> => {
    for (const id of ids) await remove(id);
    return ids.length;
  };

  /** How each step is carried out; it resolves with how many things it removed, and may be repeated. */
  const remove = (event: Deleted): Readonly<Record<DeletionStep, () => Promise<number>>> => {
    const { websiteId, keep, name: firstName, provisioningJobId: marker, slugs } = event.data;
    /** A retry of the provisioning may have named it by any slug that the website had. */
    const names = new Set([firstName, ...slugs]);
    const removeOfJob = async (what: 'project' | 'repository'): Promise<number> => {
      const made = madeBy(await outputsOf(reader, marker));
      return (await removeMade(removers[what], { names, marker, made: made[what] })).length;
    };
    return {
      project: async () => (keep.includes('hosting') ? 0 : removeOfJob('project')),
      repository: async () => (keep.includes('repository') ? 0 : removeOfJob('repository')),
      access: async () =>
        removeAll(await peopleWithAccess(reader, websiteId), (clientId) =>
          changeAccess(engine, { type: 'WithdrawClient', websiteId, clientId }, contextOf(event)),
        ),
      services: async () => {
        const services = await servicesOf(reader, websiteId);
        const ids = services.map(({ id }) => id);
        return removeAll(ids, (serviceId) => detachService(engine, { websiteId, serviceId }, contextOf(event)));
      },
      slugs: () =>
        removeAll(slugs, (slug) => engine.handle(slugDecider, { type: 'FreeSlug', slug, websiteId }, contextOf(event))),
    };
  };

  const task = (event: Deleted): LeasedTask<DeletionState, DeletionOutcome> => {
    const { websiteId } = event.data;
    const steps = remove(event);
    const message = 'what a deleted website has left could not be removed';
    const logger = () => engine.logger.child({ worker: 'deletion', websiteId });
    return {
      worker,
      logger,
      load: async () => openIn((await engine.state(deletionFold, { websiteId })).state),
      handle: async (command) =>
        openIn((await engine.handle(deletionProcess, { websiteId, ...command }, contextOf(event))).state),
      timeoutMs: () => TIMEOUT_MS,
      execute: async ({ done }, lease) => {
        let refused: ProviderFault | undefined;
        for (const step of deletionSteps.filter((one) => !done.includes(one))) {
          // What a provider does not remove keeps nothing but the slugs.
          if (step === 'slugs' && refused !== undefined) break;
          lease.assertHeld();
          try {
            await lease.record({ type: 'RecordStep', step, removed: await steps[step]() });
          } catch (error) {
            if (!(error instanceof ProviderFault)) throw error;
            // The first one is what the attempt fails with.
            if (refused !== undefined) logger().warn({ err: error, step }, message);
            refused ??= error;
          }
        }
        if (refused !== undefined) throw refused;
        return null;
      },
      failure: { message, outcome: recordFailure },
    };
  };

  return createReactor({
    name: 'deletion',
    streams: [websiteStream],
    on: {
      WebsiteDeleted: (event, context) => runLeasedTask(engine, context, task(event)),
      // Until 0.1.0 this worker waited for the day of these. One that failed there counts as failing until it succeeds here.
      WebsiteDeletionScheduled: () => Promise.resolve(),
    },
  });
};

/**
 * Frees the slugs of deletions that are given up. A website that takes one then finds at the provider what
 * that refused to delete, and says so. A worker of its own, because its positions begin with those that earlier
 * versions gave up.
 */
export const createSlugReleaseWorker = ({ engine, createReactor }: { engine: Engine; createReactor: CreateReactor }): Worker => {
  const contextOf = createContextOf(engine, 'deletion');
  return createReactor({
    name: 'slugRelease',
    streams: [deletionStream],
    on: {
      DeletionFailed: async (event: Failed) => {
        const { websiteId, nextAttemptAt } = event.data;
        if (nextAttemptAt !== undefined) return;
        const { state } = await engine.state(websiteFold, { websiteId });
        const slugs = state.stage === 'none' ? (state.leftSlugs ?? []) : [];
        for (const slug of slugs) await engine.handle(slugDecider, { type: 'FreeSlug', slug, websiteId }, contextOf(event));
      },
    },
  });
};
