import { getPriority, setPriority } from 'node:os';

/**
 * Lets requests go before a process, or before the calling thread (0) on Linux.
 * @param priority as `nice` has it
 * @param onRefused called where the system allows no such call, as a service manager may have it: all goes on as it is
 */
export const lowerPriority = (
  pid: number,
  priority: number,
  onRefused: (err: unknown) => void,
  set: typeof setPriority = setPriority,
): void => {
  try {
    // Nobody may raise the priority of a process, so that one as low as this stays as it is.
    set(pid, Math.max(getPriority(pid), priority));
  } catch (error) {
    onRefused(error);
  }
};
