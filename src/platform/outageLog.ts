import type { Clock } from './clock.js';
import type { Logger } from './logger.js';

/** Logs an outage of a store when it begins and when it is over, however many calls notice it. */
export interface OutageLog {
  /** A call failed because the store is away. */
  failed(reason: unknown): void;
  /** A call succeeded. */
  answered(): void;
}

/** So long after the last failed call a successful one ends the outage. */
const QUIET_MS = 1_000;

/**
 * @param store names it in log lines: its setting, and where it is, without credentials
 * @param messages the lines at the beginning, which bears the reason, and at the end, which bears
 * the duration in ms
 */
export const createOutageLog = (parts: {
  readonly store: { readonly setting: string; readonly address: string };
  readonly messages: { readonly begins: string; readonly ends: string };
  readonly clock: Clock;
  readonly logger: Pick<Logger, 'info' | 'warn'>;
}): OutageLog => {
  const { store, messages, clock, logger } = parts;
  let outage: { readonly since: number; lastFailure: number } | null = null;
  return {
    failed: (reason) => {
      const now = clock.now();
      if (outage === null) logger.warn({ ...store, err: reason }, messages.begins);
      outage = { since: outage?.since ?? now, lastFailure: now };
    },
    answered: () => {
      if (outage === null || clock.now() - outage.lastFailure < QUIET_MS) return;
      logger.info({ ...store, outageMs: clock.now() - outage.since }, messages.ends);
      outage = null;
    },
  };
};

/**
 * The same port, whose calls report to `outage`: what resolves as an answer, and what is rejected
 * with a fault of which `isAway` says that the store is away.
 */
export const reportingOutages = <Port extends object>(
  port: Port,
  outage: OutageLog,
  isAway: (fault: unknown) => boolean,
): Port => {
  const report = (result: unknown): void => {
    if (!(result instanceof Promise)) return;
    result.then(
      () => {
        outage.answered();
      },
      (fault: unknown) => {
        if (isAway(fault)) outage.failed(fault);
      },
    );
  };
  const reporting = (member: unknown): unknown => {
    if (typeof member === 'object' && member !== null) return reportingOutages(member, outage, isAway);
    if (typeof member !== 'function') return member;
    return (...args: unknown[]): unknown => {
      const result: unknown = (member as (...given: unknown[]) => unknown)(...args);
      report(result);
      return result;
    };
  };
  return Object.fromEntries(Object.entries(port).map(([name, member]) => [name, reporting(member)])) as Port;
};
