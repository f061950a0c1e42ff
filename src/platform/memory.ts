import { setFlagsFromString } from 'node:v8';
import type { Clock } from './clock.js';

/**
 * On a machine with much memory V8 lets the heap grow to several times the live data before it
 * collects. This smaller growth costs no measurable time (docs/performance.md), and unlike a limit
 * it never ends the process.
 */
const heapGrowth = '--heap-growing-percent=40';

/**
 * Where many objects live long for a while, V8 makes all later ones as old ones. When that happens
 * to a part of each request, the rest of the request lives until the next major collection too.
 */
const noPretenuring = '--no-allocation-site-pretenuring';

/** How long a process has had to do little until it is idle. */
const BUSY_PERIOD_MS = 2_000;
/** Requests that follow an idle time cost up to a half more until it is noticed. */
const IDLE_PERIOD_MS = 100;
/** Share of a processor that an idle process uses at most. */
const IDLE_SHARE = 0.05;

/** Share of a processor that all threads used since the call before. */
const createBusyShare = (): (() => number) => {
  let [usage, at] = [process.cpuUsage(), performance.now()];
  return () => {
    const before = { usage, at };
    [usage, at] = [process.cpuUsage(), performance.now()];
    const used = usage.user + usage.system - before.usage.user - before.usage.system;
    return used / 1_000 / (at - before.at);
  };
};

/**
 * Has V8 use little memory, for as long as the process runs. To be called after the start: during it
 * V8 would collect what stays, and refuse the code cache, which is made without the flags.
 *
 * V8 gives memory back when it finds that little is allocated, which after a busy time or a start on
 * a busy machine may take minutes. While nothing happens it is told to prefer memory to speed.
 */
export const saveMemory = (
  clock: Pick<Clock, 'schedule'>,
  { busyShare, setFlag }: { busyShare: () => number; setFlag: (flag: string) => void } = {
    busyShare: createBusyShare(),
    setFlag: setFlagsFromString,
  },
): void => {
  setFlag(heapGrowth);
  setFlag(noPretenuring);
  let wasIdle = false;
  const look = (): void => {
    const isIdle = busyShare() < IDLE_SHARE;
    if (isIdle !== wasIdle) setFlag(isIdle ? '--optimize-for-size' : '--no-optimize-for-size');
    wasIdle = isIdle;
    clock.schedule(isIdle ? IDLE_PERIOD_MS : BUSY_PERIOD_MS, look);
  };
  clock.schedule(BUSY_PERIOD_MS, look);
};
