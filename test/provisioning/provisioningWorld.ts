import { expect } from '@jest/globals';
import { websiteDecider } from '../../src/commands/website/website.decider.js';
import { createWebsite } from '../../src/commands/website/website.handlers.js';
import type { StoredEvent } from '../../src/events/store/eventStore.js';
import type { Clock } from '../../src/platform/clock.js';
import type { ProvisioningDocument } from '../../src/projections/provisioning/provisioning.projection.js';
import { provisioningJob } from '../../src/projections/provisioning/provisioning.queries.js';
import { websiteProjection, type WebsiteDocument } from '../../src/projections/website/website.projection.js';
import { provisioningProcess } from '../../src/workers/provisioning/provisioning.process.js';
import { createProvisioningWorker } from '../../src/workers/provisioning/provisioningWorker.js';
import type { Worker } from '../../src/workers/worker.js';
import { someAdmin } from '../support/given.js';
import { createTestClock, type TestClock } from '../support/testClock.js';
import { partsOf } from '../support/process.js';
import { engineOn } from '../workers/engines.js';
import { createMachine, passTimeUntil, stopInVirtualTime, type Machine, type Mishap } from '../workers/machine.js';
import { createMemoryStores } from '../workers/memoryStores.js';
import { losePosition, positionOf } from '../workers/positions.js';
import { countsOf, createRemote, oneOfEach, providersOn, type Line, type Providers, type Remote } from '../workers/remote.js';
import { provisioningStream } from '../../src/events/provisioning/provisioning.stream.js';

/** Providers that the world is to have instead of `remote`. */
export interface Outside {
  /** As one machine reaches them over its `line`. */
  providersOn(line: Line, clock: Clock): Providers;
  /** How many of each were ever made. */
  counts(): typeof oneOfEach;
  /** Where the website is in the end. */
  readonly url: string;
}

/**
 * One website to be provisioned, on stores and providers that machines come to and go from, in
 * virtual time.
 */
export interface World {
  readonly clock: TestClock;
  readonly remote: Remote;
  website(): Promise<WebsiteDocument>;
  job(): Promise<ProvisioningDocument>;
  /** The job's stream. */
  events(): Promise<readonly StoredEvent[]>;
  /** Where in the log the website was created. */
  created(): Promise<bigint>;
  /**
   * A machine starts to work. Its wall clock is `offsetMs` ahead; `line` takes the place of its
   * own; `visited` notes the pages that it asks for.
   */
  start(
    plan?: ReadonlyMap<number, Mishap>,
    options?: { offsetMs?: number; line?: Line; visited?: string[] },
  ): Promise<Machine & Pick<Worker, 'stop'>>;
  /** How far the workers remember to have read; 0 when they do not. */
  position(): Promise<bigint>;
  losePosition(): Promise<void>;
  retry(): Promise<void>;
  /** Asks for the removal of what the failed job has left. */
  compensate(): Promise<void>;
  archive(): Promise<void>;
  untilAtWork(): Promise<void>;
  /** Until the job has ended, or that much time has passed. */
  untilEndedOr(ms: number): Promise<void>;
  /** Until the job has ended, and sleeping workers have had time to wake up and do harm. */
  untilEnded(): Promise<void>;
  /**
   * Everything as it should be in the end: nothing twice, and a reason where something is missing.
   */
  expectSound(): Promise<void>;
  stop(): Promise<void>;
}

export const createWorld = async (
  outside?: Outside,
  { collaborators = ['octocat'] }: { readonly collaborators?: readonly string[] } = {},
): Promise<World> => {
  const clock = createTestClock();
  const stores = await createMemoryStores();
  const remote = createRemote();
  const counts = (): typeof oneOfEach => outside?.counts() ?? countsOf(remote);
  const observer = engineOn(stores, { clock });
  const context = () => ({ commandId: observer.ids.commandId(), actor: someAdmin, requestId: 'request-1' });
  const { websiteId } = await createWebsite(
    observer,
    {
      name: 'Bakery',
      slug: 'bakery',
      templateId: outside === undefined ? 'business' : 'site-template',
      tier: 'starter',
      brandColor: '#aa3300',
      collaborators,
    },
    context(),
  );
  const website = async (): Promise<WebsiteDocument> => {
    const { document } = await observer.read(websiteProjection, websiteId);
    if (document === null) throw new Error('the website is gone');
    return document;
  };
  const stream = provisioningStream.name({ jobId: (await website()).provisioningJobId });
  const job = async () => (await provisioningJob(observer, await website())).document;
  const ended = async () => ['succeeded', 'failed'].includes((await job()).status);
  const eventsOf = async (name: string) => (await stores.eventStore.readStream(name)).events;
  const workers: Worker[] = [];
  const machines: Machine[] = [];

  return {
    clock,
    remote,
    job,
    website,
    events: () => eventsOf(stream),
    created: async () => (await eventsOf(`website-${websiteId}`))[0]?.position ?? 0n,
    start: async (plan, { offsetMs = 0, line, visited = [] } = {}) => {
      const ownClock: Clock = { now: () => clock.now() + offsetMs, schedule: (delayMs, task) => clock.schedule(delayMs, task) };
      const machine = createMachine(stores, { world: clock, own: ownClock }, plan);
      const ownLine = line ?? machine.line;
      const providers = outside?.providersOn(ownLine, ownClock) ?? providersOn(remote, ownLine, visited);
      const worker = createProvisioningWorker({ ...partsOf(machine.engine), ...providers });
      workers.push(worker);
      machines.push(machine);
      await worker.start();
      return { ...machine, stop: () => worker.stop() };
    },
    position: async () => BigInt((await positionOf(stores.readModels.records, 'provisioning')) ?? 0),
    losePosition: () => losePosition(stores.readModels.records, 'provisioning'),
    retry: async () => {
      const { provisioningJobId: jobId, slug } = await website();
      const command = { type: 'RetryProvisioning', jobId, websiteId, slug } as const;
      await observer.handle(provisioningProcess, command, context());
    },
    compensate: async () => {
      const { provisioningJobId: jobId } = await website();
      const command = { type: 'RequestCompensation', jobId, websiteId } as const;
      await observer.handle(provisioningProcess, command, context());
    },
    archive: async () => {
      await observer.handle(websiteDecider, { type: 'ArchiveWebsite', websiteId }, context());
    },
    untilAtWork: () =>
      passTimeUntil(clock, () => Promise.resolve(machines.some((machine) => machine.acts.length > 1 || machine.isDead()))),
    untilEndedOr: async (ms) => {
      const at = clock.now() + ms;
      await passTimeUntil(clock, async () => clock.now() >= at || (await ended()));
    },
    untilEnded: async () => {
      await passTimeUntil(clock, ended);
      const at = clock.now() + 30_000;
      await passTimeUntil(clock, () => Promise.resolve(clock.now() >= at));
    },
    expectSound: async () => {
      const [{ status, reason, steps }, { status: websiteStatus, url }] = [await job(), await website()];
      const kinds = (await eventsOf(`website-${websiteId}`)).map(({ type }) => type);
      for (const count of Object.values(counts())) expect(count).toBeLessThanOrEqual(1);
      if (status === 'succeeded') {
        expect(counts()).toStrictEqual(oneOfEach);
        expect(steps.map((step) => step.status)).toStrictEqual(steps.map(() => 'succeeded'));
        expect({ websiteStatus, url, kinds }).toStrictEqual({
          websiteStatus: 'active',
          url: outside?.url ?? 'https://bakery.example/',
          kinds: ['WebsiteCreated', 'WebsiteActivated'],
        });
      } else {
        expect(status).toBe('failed');
        const failed = steps.find((step) => step.status === 'failed');
        expect(reason).toMatch(new RegExp(`^${failed?.id ?? 'no step has failed'}: [A-Z].{5,}`));
      }
    },
    stop: () => stopInVirtualTime(clock, ...workers),
  };
};
