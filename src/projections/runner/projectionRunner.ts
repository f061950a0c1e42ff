import { EventStoreUnavailable, START } from '../../events/store/eventStore.js';
import { createBackoff } from '../../platform/backoff.js';
import { sleep, type Clock } from '../../platform/clock.js';
import type { Logger } from '../../platform/logger.js';
import type { Random } from '../../platform/random.js';
import type { AnyProjection } from '../projection.js';
import { ReadModelDropped, type ReadModel } from '../store/readModelStore.js';
import { storeFaultLevel } from '../store/storeFault.js';
import { applyBatch } from './applyBatch.js';
import type { Checkpoints } from './checkpoints.js';
import { chooseVersion, type ChosenVersion } from './chooseVersion.js';
import type { CatchUp, CatchUpParts, CatchUpWrite } from './catchUp.js';
import { ProjectionFailed } from './foldDocuments.js';
import { storeFailure } from './status.js';
import { sweepDropped } from './sweepDropped.js';

/**
 * `starting`: the stores have not answered yet. `retrying`: a store failed; the runner goes on from
 * the stored checkpoint. `failed`: the projection could not take an event, and stays before it
 * until the process starts again; an older version that answers is kept up to date nevertheless.
 */
export type RunnerState = 'starting' | ChosenVersion['state'] | 'retrying' | 'failed' | 'stopped';

/** Keeps the read model of one projection up to date. */
export interface ProjectionRunner {
  readonly projection: AnyProjection;
  readonly progress: Readonly<RunnerProgress>;
  /**
   * Resolves after the first attempt to find or publish a version. Reads work from then on, if the
   * stores do.
   */
  readonly started: Promise<void>;
  /** Resolves after the batch under way. */
  stop(): Promise<void>;
}

interface RunnerProgress {
  state: RunnerState;
  /** The version that the runner writes; `null` while there is none. */
  model: ReadModel | null;
  position: bigint;
  failure: ProjectionFailed | null;
  /** Store faults in a row. */
  readonly storeFaults: { count: number };
}

export interface RunnerParts extends CatchUpParts {
  readonly checkpoints: Checkpoints;
  /** Shared by all runners. */
  readonly catchUp: CatchUp;
  readonly random: Random;
  readonly logger: Logger;
  /** How long events may gather after a batch of several, in ms: larger batches take less of each event. Default: 0 */
  readonly gatherMs?: number;
}

const maxBatch = 500;
/**
 * A write notices that another version went live. A projection with nothing to write notices it
 * within this time.
 */
const versionCheckMs = 1_000;
/**
 * A process may sleep this long between reading and writing: its old writes still meet the
 * tombstones.
 */
const tombstonesKeptMs = 3_600_000;

const beginning = (state: RunnerState, model: ReadModel | null, storeFaults = { count: 0 }): RunnerProgress => ({
  state,
  model,
  position: START,
  failure: null,
  storeFaults,
});

/** Starts to keep the read model of a projection up to date. */
export const startProjectionRunner = (projection: AnyProjection, parts: RunnerParts): ProjectionRunner => {
  const { readModels, clock, logger } = parts;
  const { name } = projection;
  const pause = createBackoff(parts, { firstMs: 100, maxMs: 10_000 });
  const progress = beginning('starting', null);
  const stopping = new AbortController();
  let resolveStarted = (): void => undefined;
  const started = new Promise<void>((resolve) => {
    resolveStarted = resolve;
  });

  /** The older version that answers meanwhile, and goes on when the one that is built fails. */
  let serving: ReadModel | null = null;

  /**
   * Writes one version until the runner is stopped, another version goes live, or something fails.
   */
  const runVersion = async (): Promise<void> => {
    const interruption = new AbortController();
    const interrupt = (fault: unknown): void => {
      interruption.abort(fault);
    };
    const signal = AbortSignal.any([stopping.signal, interruption.signal]);

    const live = await readModels.liveVersion(name);
    const chosen = await chooseVersion(projection, live, readModels);
    const { state, model } = chosen;
    serving = chosen.state === 'building' ? chosen.serving : null;
    if (state !== 'building') progress.failure = null;
    // It would fail over the same event again.
    const hasFailed = progress.failure !== null;
    progress.state = hasFailed ? 'failed' : state;
    progress.model = model;
    resolveStarted();

    const checkVersion = async (): Promise<void> => {
      const expected = progress.state === 'following' && model !== null ? model.version : live;
      if ((await readModels.liveVersion(name)) !== expected) interrupt(null);
    };
    const stopChecking = repeat(clock, versionCheckMs, checkVersion, interrupt);
    try {
      const follow = (written: ReadModel, of: RunnerProgress): Promise<void> =>
        followLog(projection, written, of, parts, signal, interrupt);
      const onFault = async (fault: unknown): Promise<void> => {
        if (serving !== null && fault instanceof ProjectionFailed) await fail(fault);
        else interrupt(fault);
      };
      const followed: Promise<void>[] = [];
      if (model === null) followed.push(aborted(signal));
      else if (!hasFailed) followed.push(follow(model, progress).catch(onFault));
      if (serving !== null) {
        const own = beginning('following', serving, hasFailed ? progress.storeFaults : undefined);
        followed.push(follow(serving, own).catch(interrupt));
      }
      await Promise.all(followed);
    } finally {
      stopChecking();
    }
    if (interruption.signal.reason instanceof Error) throw interruption.signal.reason;
  };

  const fail = async (failure: ProjectionFailed): Promise<void> => {
    progress.failure = failure;
    progress.state = 'failed';
    logger.error({ projection: name, position: String(failure.position), type: failure.eventType }, failure.message);
    try {
      if (progress.model !== null) await storeFailure(progress.model, failure, readModels);
    } catch (err) {
      logger.warn({ projection: name, err }, 'the failure of the projection could not be stored: /readyz does not show it');
    }
  };

  const backOff = async (fault: unknown): Promise<void> => {
    progress.state = 'retrying';
    logger[storeFaultLevel(fault)](
      { projection: name, position: String(progress.position), err: fault },
      'a store failed; the projection goes on from its checkpoint',
    );
    const before = progress.storeFaults.count;
    progress.storeFaults.count = before + 1;
    resolveStarted();
    await pause(before, stopping.signal);
  };

  const isRunning = (): boolean => !stopping.signal.aborted && (progress.state !== 'failed' || serving !== null);

  const supervise = async (): Promise<void> => {
    while (isRunning()) {
      try {
        await runVersion();
      } catch (fault) {
        if (fault instanceof ReadModelDropped) {
          logger.info({ projection: name, version: progress.model?.version }, 'another version of the read model was published');
        } else if (fault instanceof ProjectionFailed) {
          serving = null;
          await fail(fault);
        } else if (isRunning()) {
          await backOff(fault);
        }
      }
    }
    if (progress.state !== 'failed') progress.state = 'stopped';
    resolveStarted();
  };
  const finished = supervise();

  return {
    projection,
    progress,
    started,
    stop: () => {
      stopping.abort();
      return finished;
    },
  };
};

/**
 * Applies the log to one version of the read model, batch by batch, until `signal` is aborted.
 * @param interrupt ends the version with a fault that happened beside the batches
 * @throws ProjectionFailed, ReadModelDropped, EventStoreUnavailable, ReadModelStoreUnavailable
 */
const followLog = async (
  projection: AnyProjection,
  model: ReadModel,
  progress: RunnerProgress,
  parts: RunnerParts,
  signal: AbortSignal,
  interrupt: (fault: unknown) => void,
): Promise<void> => {
  const { eventStore, readModels, logger, clock, checkpoints, catchUp, gatherMs = 0 } = parts;
  const filter = { types: projection.handles };
  progress.position = await readModels.checkpoint(model);
  const purgeTombstones = createTombstonePurge(model, progress, parts);

  /** Where the log ended before the last batch; `null` before the first one. */
  let endBefore: bigint | null = null;
  const publishOnceCaughtUp = async (): Promise<void> => {
    if (progress.state !== 'building') return;
    const end = await eventStore.lastPosition(filter);
    // What is written while a batch is applied is the next one: under steady writes there always is one.
    const isCaughtUp = progress.position >= (endBefore ?? end);
    endBefore = end;
    if (!isCaughtUp) return;
    await readModels.apply(model, [], progress.position);
    await readModels.publish(model);
    progress.state = 'following';
    logger.info(
      { projection: projection.name, version: model.version, position: String(progress.position) },
      'projection published',
    );
    sweepDropped(parts);
    // It goes on as the live version, and with nothing else.
    interrupt(null);
  };

  const reportParked = (documents: readonly string[]): void => {
    if (documents.length === 0) return;
    logger.error(
      { projection: projection.name, documents, position: String(progress.position) },
      'documents are too large for the read-model store; they are parked as they were',
    );
  };

  /** Whether it has caught up, and was not stopped meanwhile. */
  const catchUpAtStart = async (): Promise<boolean> => {
    const through = await eventStore.lastPosition(filter);
    if (progress.position >= through) return !signal.aborted;
    const onWritten = ({ position, parked }: CatchUpWrite): void => {
      progress.position = position;
      progress.storeFaults.count = 0;
      reportParked(parked);
    };
    try {
      await catchUp.run({ projection, model, through, signal, onWritten });
    } catch (fault) {
      if (!signal.aborted) throw fault;
    }
    return !signal.aborted;
  };

  try {
    if (!(await catchUpAtStart())) return;
    await publishOnceCaughtUp();
    for await (const slice of eventStore.subscribe({ after: progress.position, filter, maxBatch, signal })) {
      const { position, isCheckpointDue, failure, parked } = await applyBatch(projection, model, slice, progress.position, parts);
      progress.position = position;
      reportParked(parked);
      if (isCheckpointDue) checkpoints.move(model, position, interrupt);
      if (failure !== null) throw failure;
      progress.storeFaults.count = 0;
      await publishOnceCaughtUp();
      await purgeTombstones();
      if (gatherMs > 0 && slice.events.length > 1) await sleep(clock, gatherMs, signal);
    }
    if (!signal.aborted) throw new EventStoreUnavailable('the subscription ended');
  } finally {
    checkpoints.cancel(model);
  }
};

/** Purges the tombstones that the checkpoint passed at least `tombstonesKeptMs` ago. */
const createTombstonePurge = (
  model: ReadModel,
  progress: Readonly<RunnerProgress>,
  { readModels, clock }: RunnerParts,
): (() => Promise<void>) => {
  let passed = { position: progress.position, at: clock.now() };
  return async () => {
    if (clock.now() - passed.at < tombstonesKeptMs) return;
    await readModels.purgeTombstones(model, passed.position);
    passed = { position: progress.position, at: clock.now() };
  };
};

/**
 * Runs `task` again and again, each time `periodMs` after the last run ended, until it throws or
 * the returned function is called.
 */
const repeat = (clock: Clock, periodMs: number, task: () => Promise<void>, onFault: (fault: unknown) => void): (() => void) => {
  let isStopped = false;
  let cancel = (): void => undefined;
  const schedule = (): void => {
    if (isStopped) return;
    cancel = clock.schedule(periodMs, () => {
      task().then(schedule, onFault);
    });
  };
  schedule();
  return () => {
    isStopped = true;
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
