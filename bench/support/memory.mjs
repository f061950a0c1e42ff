import { setInterval } from 'node:timers';
import { residentBytes } from './processes.mjs';

const sampleMs = 50;
export const mebibyte = 1024 * 1024;

/**
 * How much a process grows while something is done.
 * @template Result
 * @param {import('node:child_process').ChildProcess} process
 * @param {() => Promise<Result>} work
 * @returns {Promise<{ result: Result, before: number, peak: number, seconds: number }>} in bytes
 */
export const growthDuring = async (process, work) => {
  const before = await residentBytes(process);
  let peak = before;
  const sampling = setInterval(() => {
    void residentBytes(process).then((bytes) => {
      peak = Math.max(peak, bytes);
    });
  }, sampleMs);
  const startedAt = performance.now();
  try {
    const result = await work();
    return { result, before, peak, seconds: (performance.now() - startedAt) / 1_000 };
  } finally {
    clearInterval(sampling);
  }
};
