import type { Engine } from '../../engine.js';
import { createBackoff } from '../../platform/backoff.js';
import { isoTime, sleep } from '../../platform/clock.js';
import type { Worker } from '../worker.js';

/** Work that runs on a schedule. */
export interface CronJob {
  readonly name: string;
  /** Five fields, UTC: `0 4 * * 1` is Mondays at four. */
  readonly schedule: string;
  /**
   * Called in every process for each time that is due (ms since the epoch), and again after it
   * throws or the process restarts, but never while an earlier call in this process is under way.
   * The process may die during a call: work that has to happen once is requested durably, in a
   * stream named after `dueAt`, and left to a worker. `signal` is aborted when the process stops.
   */
  readonly run: (dueAt: number, signal: AbortSignal) => Promise<void>;
}

const minuteMs = 60_000;
/**
 * A run that was missed, because no process ran or the stores did not answer, is caught up within
 * this time.
 */
const lateMs = 60 * minuteMs;
/** Less than the 10 s that a process has for stopping. */
const stopTimeoutMs = 8_000;

/**
 * Runs jobs when they are due. Each process reads its own clock once a minute. Clocks may differ,
 * because every job may run again for the same time. node-cron computes the due minutes; the timer
 * is our own, because time is a port.
 */
export const createCronWorker = (engine: Engine, jobs: readonly CronJob[]): Worker => {
  const { clock } = engine;
  const backOff = createBackoff(engine, { firstMs: 1_000, maxMs: 30_000 });
  const logger = engine.logger.child({ worker: 'cron' });
  const stopping = new AbortController();
  const { signal } = stopping;
  const underWay = new Map<string, Promise<void>>();
  let following: Promise<void> | null = null;

  /** Repeats the job until it succeeds or is too late. */
  const runUntilDone = async (job: CronJob, dueAt: number): Promise<void> => {
    const run = { job: job.name, dueAt: isoTime(dueAt) };
    for (let attempt = 0; !signal.aborted; attempt += 1) {
      const startedAt = clock.now();
      if (startedAt >= dueAt + lateMs) {
        logger.error(run, 'a job of the calendar is given up until it is due next');
        return;
      }
      try {
        await job.run(dueAt, signal);
        logger.debug({ ...run, durationMs: clock.now() - startedAt }, 'a job of the calendar is done');
        return;
      } catch (err) {
        logger.warn({ err, ...run, attempt }, 'a job of the calendar failed; trying again');
        await backOff(attempt, signal);
      }
    }
  };

  const begin = (job: CronJob, dueAt: number): void => {
    if (underWay.has(job.name)) {
      logger.warn({ job: job.name, dueAt: isoTime(dueAt) }, 'a job of the calendar is due while its last run is under way');
      return;
    }
    const run = runUntilDone(job, dueAt).finally(() => underWay.delete(job.name));
    underWay.set(job.name, run);
  };

  const follow = async (): Promise<void> => {
    const dueAfter = await loadCalendar(jobs);
    let checkedUntil = clock.now() - lateMs;
    while (!signal.aborted) {
      const now = clock.now();
      // After a long sleep, only times that are not too late; after the clock was set back, times
      // from the new time on.
      const from = Math.max(Math.min(checkedUntil, now), now - lateMs);
      for (const [job, dueAt] of dueAfter(from, now)) begin(job, dueAt);
      checkedUntil = now;
      await sleep(clock, minuteMs - (now % minuteMs), signal);
    }
  };

  return {
    name: 'cron',
    start: () => {
      following ??= follow();
      return Promise.resolve();
    },
    stop: async () => {
      stopping.abort();
      const enough = new AbortController();
      const ended = Promise.all([following, ...underWay.values()]);
      await Promise.race([ended, sleep(clock, stopTimeoutMs, enough.signal)]);
      enough.abort();
    },
  };
};

/** The last time within (after, until] at which each job is due, for those that are. */
type DueAfter = (after: number, until: number) => ReadonlyMap<CronJob, number>;

const loadCalendar = async (jobs: readonly CronJob[]): Promise<DueAfter> => {
  const { createTask } = await import('node-cron');
  // The tasks are never started: they only compute the times that match.
  const calendar = jobs.map((job) => [job, createTask(job.schedule, () => undefined, { timezone: 'UTC' })] as const);
  return (after, until) => {
    const due = new Map<CronJob, number>();
    for (let time = (Math.floor(after / minuteMs) + 1) * minuteMs; time <= until; time += minuteMs) {
      for (const [job, task] of calendar) if (task.match(new Date(time))) due.set(job, time);
    }
    return due;
  };
};
