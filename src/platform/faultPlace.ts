import { basename } from 'node:path';

/**
 * Kind and place of a fault. Its message may quote the event, and with it personal data, so it is
 * left out.
 */
export const placeOf = (fault: unknown): string => {
  if (typeof fault !== 'object' || fault === null || !('stack' in fault)) return 'something that is not an error was thrown';
  const kind = 'name' in fault ? String(fault.name) : 'Error';
  const frame = /^ +at .*?([^\s(]+:\d+):\d+\)?$/m.exec(String(fault.stack))?.[1];
  return frame === undefined ? kind : `${kind} at ${basename(frame)}`;
};
