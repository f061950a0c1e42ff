import { EventStoreUnavailable, type EventStore, type LogSlice } from '../../events/store/eventStore.js';
import { sleep, type Clock } from '../../platform/clock.js';
import type { Logger } from '../../platform/logger.js';
import type { Random } from '../../platform/random.js';
import type { AnyProjection } from '../projection.js';
import { ReadModelDropped, type ReadModel, type ReadModelStore } from '../store/readModelStore.js';
import { foldEvents, noDocuments, ProjectionFailed, reachedPosition, writeDocuments, type Decode } from './fold.js';
import { keepFailure } from './status.js';
import { builtBy, modelOf } from './versions.js';

/**
 * `starting`: has not met the stores yet. `building`: fills a new version beside the live one. `following`: keeps the live version
 * up to date. `superseded`: a newer version of the projection is live, and this one stands by. `retrying`: a store failed; it goes on
 * from the stored checkpoint. `failed`: an event could not be taken; it stays there until the process starts again.
 */
export type FollowerState = 'starting' | 'building' | 'following' | 'superseded' | 'retrying' | 'failed' | 'stopped';

/** One projection at work. */
export interface Follower {
  readonly projection: AnyProjection;
  readonly state: FollowerState;
  /** The version that it writes; `null` while there is none. */
  readonly model: ReadModel | null;
  readonly position: bigint;
  readonly failure: ProjectionFailed | null;
  /** Resolves after the first attempt to find or publish a version: reads work from then on, if the stores do. */
  readonly started: Promise<void>;
  stop(): Promise<void>;
}

/** What there is to count; times in milliseconds. */
export interface ProjectorMetrics {
  applied(projection: string, batch: { events: number; documents: number; durationMs: number }): void;
  retrying(projection: string): void;
  failed(projection: string): void;
}

export interface FollowerParts {
  readonly eventStore: EventStore;
  readonly readModels: ReadModelStore;
  readonly decode: Decode;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly metrics?: ProjectorMetrics;
}

const maxBatch = 500;
/** A checkpoint that moves without documents is stored this much later at most: lists may wait for it. */
const quietCheckpointMs = 50;
/** Swaps of the live version are noticed at the next write; by a projection that has nothing to write, this much later at most. */
const swapCheckMs = 1_000;
/** A process that slept this long, and goes on writing what it had read before, still meets the tombstones. */
const tombstonesKeptMs = 3_600_000;
const firstPauseMs = 100;
const longestPauseMs = 10_000;

/** Starts to keep a projection's read model up to date. */
export const startFollower = (projection: AnyProjection, parts: FollowerParts): Follower => {
  const { eventStore, readModels, decode, clock, random, logger, metrics } = parts;
  const { name } = projection;
  const filter = { types: projection.handles };
  const stopping = new AbortController();

  let state: FollowerState = 'starting';
  let model: ReadModel | null = null;
  let position = 0n;
  let failure: ProjectionFailed | null = null;
  /** Store faults in a row. */
  let faults = 0;
  let hasStarted = (): void => undefined;
  const started = new Promise<void>((resolve) => {
    hasStarted = resolve;
  });

  /** The version to write: the live one when this build understands it, else this build's own, beside it. */
  const chooseModel = async (live: string | null): Promise<void> => {
    if (live !== null && builtBy(live) === projection.version) {
      model = modelOf(projection, live);
      state = 'following';
    } else if (live !== null && builtBy(live) > projection.version) {
      model = null;
      state = 'superseded';
    } else {
      model = modelOf(projection);
      await readModels.prepare(model);
      // Nothing answers reads yet: it may do so while it fills.
      if (live === null) await readModels.publish(model);
      state = live === null ? 'following' : 'building';
    }
  };

  const follow = async (current: ReadModel, signal: AbortSignal, interrupt: (fault: unknown) => void): Promise<void> => {
    position = await readModels.checkpoint(current);
    let passed = { position, at: clock.now() };
    const storing: { cancel: (() => void) | null } = { cancel: null };

    const storeSoon = (): void => {
      storing.cancel ??= clock.schedule(quietCheckpointMs, () => {
        storing.cancel = null;
        readModels.apply(current, [], position).catch(interrupt);
      });
    };

    const take = async (slice: LogSlice): Promise<void> => {
      const startedAt = clock.now();
      // What another process has applied is in the documents: a follower that lags or wakes up skips it.
      const applied = slice.events.length === 0 ? position : await readModels.checkpoint(current);
      const events = slice.events.filter((event) => event.position > applied);
      const documents = noDocuments();
      const failed = await foldEvents(projection, decode, events, documents, async (ids) => [
        ...(await readModels.getMany(current, ids)).values(),
      ]);
      const before = applied > position ? applied : position;
      const reached = reachedPosition(before, { events, position: slice.position }, failed);
      const written = documents.unwritten.size;
      if (written > 0 || failed !== null) await writeDocuments(readModels, current, documents, reached);
      else if (reached > applied) storeSoon();
      position = reached;
      if (written > 0) metrics?.applied(name, { events: events.length, documents: written, durationMs: clock.now() - startedAt });
      if (failed !== null) throw failed;
    };

    const publishOnceCaughtUp = async (): Promise<void> => {
      if (state !== 'building' || position < (await eventStore.lastPosition(filter))) return;
      await readModels.apply(current, [], position);
      await readModels.publish(current);
      state = 'following';
      logger.info({ projection: name, version: current.version, position: String(position) }, 'projection published');
    };

    const purgeNowAndThen = async (): Promise<void> => {
      if (clock.now() - passed.at < tombstonesKeptMs) return;
      await readModels.purgeTombstones(current, passed.position);
      passed = { position, at: clock.now() };
    };

    try {
      await publishOnceCaughtUp();
      for await (const slice of eventStore.subscribe({ after: position, filter, maxBatch, signal })) {
        await take(slice);
        faults = 0;
        await publishOnceCaughtUp();
        await purgeNowAndThen();
      }
      if (!signal.aborted) throw new EventStoreUnavailable('the subscription ended');
    } finally {
      storing.cancel?.();
    }
  };

  /** Follows one version until it is stopped, another one goes live, or something fails. */
  const run = async (): Promise<void> => {
    const interruption = new AbortController();
    const interrupt = (fault: unknown): void => {
      interruption.abort(fault);
    };
    const signal = AbortSignal.any([stopping.signal, interruption.signal]);

    const live = await readModels.liveVersion(name);
    await chooseModel(live);
    hasStarted();
    const expected = (): string | null => (state === 'following' && model !== null ? model.version : live);
    const checkForSwap = async (): Promise<void> => {
      if ((await readModels.liveVersion(name)) !== expected()) interrupt(null);
    };
    const stopChecking = every(clock, swapCheckMs, checkForSwap, interrupt);
    try {
      if (model === null) await aborted(signal);
      else await follow(model, signal, interrupt);
    } finally {
      stopChecking();
    }
    if (interruption.signal.reason instanceof Error) throw interruption.signal.reason;
  };

  const tell = async (fault: ProjectionFailed): Promise<void> => {
    try {
      if (model !== null) await keepFailure(model, fault, readModels);
    } catch (err) {
      logger.warn({ projection: name, err }, 'why the projection failed could not be kept for readiness');
    }
  };

  const isWorking = (): boolean => !stopping.signal.aborted && state !== 'failed';

  const work = async (): Promise<void> => {
    while (isWorking()) {
      try {
        await run();
      } catch (fault) {
        if (fault instanceof ReadModelDropped) {
          logger.info({ projection: name, version: model?.version }, 'another version of the read model was published');
        } else if (fault instanceof ProjectionFailed) {
          failure = fault;
          state = 'failed';
          metrics?.failed(name);
          logger.error({ projection: name, position: String(fault.position), type: fault.eventType }, fault.message);
          await tell(fault);
        } else if (isWorking()) {
          state = 'retrying';
          metrics?.retrying(name);
          logger.warn(
            { projection: name, position: String(position), err: fault },
            'a store failed; the projection goes on from its checkpoint',
          );
          const pauseMs = Math.min(longestPauseMs, firstPauseMs * 2 ** faults);
          faults += 1;
          hasStarted();
          await sleep(clock, pauseMs * (0.5 + random.fraction() / 2), stopping.signal);
        }
      }
    }
    if (state !== 'failed') state = 'stopped';
    hasStarted();
  };
  const finished = work();

  return {
    projection,
    get state() {
      return state;
    },
    get model() {
      return model;
    },
    get position() {
      return position;
    },
    get failure() {
      return failure;
    },
    started,
    stop: () => {
      stopping.abort();
      return finished;
    },
  };
};

/** Runs `task` again and again, each time `periodMs` after the last one ended, until it throws or the returned function is called. */
const every = (clock: Clock, periodMs: number, task: () => Promise<void>, onFault: (fault: unknown) => void): (() => void) => {
  let stopped = false;
  let cancel = (): void => undefined;
  const again = (): void => {
    if (!stopped) {
      cancel = clock.schedule(periodMs, () => {
        task().then(again, onFault);
      });
    }
  };
  again();
  return () => {
    stopped = true;
    cancel();
  };
};

const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    else
      signal.addEventListener(
        'abort',
        () => {
          resolve();
        },
        { once: true },
      );
  });
