import type { Lease } from '../events/attempts.js';
import { ProviderFault } from '../integrations/fault.js';
import type { Clock } from '../platform/clock.js';
import { LEASE_MS } from './lease.js';
import { noSign, type LeaseRecords, type LeaseSign } from './leaseRecords.js';

/** The lease that an attempt holds. */
export interface HeldLease<Outcome extends object = never> {
  /**
   * Must be called right before anything is created at a provider, so that a worker that slept
   * through its lease creates nothing.
   * @throws LeaseLost
   */
  assertHeld(): void;
  /**
   * As `assertHeld`, between pieces of work whose number nobody knows in advance: each may take `timeoutMs`.
   * @throws LeaseLost also when the worker stops: another one goes on
   */
  restartTimeout(): void;
  /**
   * Waits between two looks at something that takes long, and lets others work meanwhile.
   * @throws LeaseLost also when the worker stops: another one goes on
   */
  readonly pause: (ms: number) => Promise<void>;
  /**
   * Records what is known so far.
   * @throws LeaseLost when another attempt is under way by now
   */
  record(outcome: Outcome): Promise<void>;
}

export type Held = Pick<HeldLease, 'assertHeld' | 'restartTimeout'>;

export class LeaseLost extends Error {
  override readonly name = 'LeaseLost';
}

/**
 * How long a worker relies on its lease. It is less than others wait for the lease to lapse,
 * because the answer to an append takes time.
 */
const HELD_MS = (LEASE_MS * 2) / 3;
const RENEW_EVERY_MS = LEASE_MS / 3;

/**
 * Runs `act` under a lease that has just been taken, and renews it meanwhile.
 * @param parts `renew` appends a renewal unless `isRecorded`, and resolves with the lease as it is then,
 *   or null when another worker holds it; after a fault, the renewal is tried again in time
 * @throws ProviderFault (transient) after `timeoutMs`, unless `act` restarts that; what `act` throws
 */
export const underLease = async <Result>(parts: {
  clock: Clock;
  timeoutMs: number;
  lease: Lease;
  /** Null: each renewal is an event. */
  records: LeaseRecords | null;
  renew: (lease: Lease, isRecorded: boolean) => Promise<Lease | null>;
  onFault: (error: unknown, message: string) => void;
  act: (held: Held) => Promise<Result>;
}): Promise<Result> => {
  const { clock, timeoutMs, records, renew, onFault, act } = parts;
  let lease: Lease | null = parts.lease;
  let sign: LeaseSign | 'lost' | 'unknown' = noSign;
  let signs = 0;
  let heldUntil = clock.now() + HELD_MS;
  let isOver = false;
  let cancelRenewal = (): void => undefined;
  let cancelTimeout = (): void => undefined;
  let giveUp = (_: ProviderFault): void => undefined;

  const renewLater = (): void => {
    cancelRenewal = clock.schedule(RENEW_EVERY_MS, () => {
      void renewNow();
    });
  };
  const isLost = (): boolean => sign === 'lost';
  const giveSign = async ({ id }: Lease): Promise<void> => {
    if (records === null || typeof sign === 'string') return;
    try {
      signs += 1;
      sign = (await records.change(id, sign, { sign: signs })) ?? 'lost';
    } catch (error) {
      sign = 'unknown';
      onFault(error, 'the lease could not be renewed beside the log, so an event renews it');
    }
  };
  const renewNow = async (): Promise<void> => {
    if (lease === null) return;
    const from = clock.now();
    try {
      await giveSign(lease);
      const current = isLost() ? null : await renew(lease, records !== null && sign !== 'unknown');
      // A renewal in the log has a record of its own.
      if (current !== null && current.id !== lease.id) sign = noSign;
      lease = current;
      heldUntil = from + HELD_MS;
    } catch (error) {
      onFault(error, 'the lease could not be renewed');
    }
    if (!isOver) renewLater();
  };
  const assertHeld = (): void => {
    if (isOver || lease === null || clock.now() >= heldUntil) throw new LeaseLost('the lease has lapsed');
  };

  const startTimeout = (): void => {
    cancelTimeout();
    cancelTimeout = clock.schedule(timeoutMs, () => {
      const message = `No answer within ${String(timeoutMs / 1_000)} s`;
      // Which one it was waiting for is not known here; callers read this as the subject of a sentence.
      giveUp(new ProviderFault({ provider: 'The provider', message, transient: true }));
    });
  };
  const restartTimeout = (): void => {
    assertHeld();
    startTimeout();
  };

  renewLater();
  const timeout = new Promise<never>((_, reject) => {
    giveUp = reject;
  });
  startTimeout();
  try {
    return await Promise.race([act({ assertHeld, restartTimeout }), timeout]);
  } finally {
    isOver = true;
    cancelRenewal();
    cancelTimeout();
  }
};
