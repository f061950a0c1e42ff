import { describe, expect, test } from '@jest/globals';
import { customerDecider } from '../../src/commands/billing/customer.decider.js';
import type { BillingEvent } from '../../src/events/billing/billing.events.js';
import { billingProcess } from '../../src/workers/transfer/transfer.process.js';
import { attemptsAt, isSubscribed, type BillingTask } from '../../src/events/billing/billing.state.js';
import { failUntilGivenUp } from '../support/retries.js';
import { expectRepeatable, given, now, stateAfter } from '../support/given.js';

const claim = { websiteId: 'w1', invitationId: 'i1', claimId: 'claim-1', clientId: 'c1' };
const claimTask: BillingTask = { kind: 'claim', claim };
const endTask: BillingTask = { kind: 'end', clientId: 'c1' };
const later = (ms: number): string => new Date(Date.parse(now) + ms).toISOString();

const started = (about: string, attempt = 1, worker = 'me'): BillingEvent => ({
  type: 'BillingAttemptStarted',
  data: { websiteId: 'w1', about, attempt, worker, leaseUntil: later(6_000) },
});
const account = { websiteId: 'w1', clientId: 'c1', provider: 'stripe', customerId: 'cus_1' };
const requested: BillingEvent = { type: 'SubscriptionRequested', data: { ...account, claimId: 'claim-1' } };
const attached: BillingEvent = {
  type: 'SubscriptionAttached',
  data: { ...account, claimId: 'claim-1', subscriptionId: 'sub_1' },
};
const ended: BillingEvent = { type: 'SubscriptionEnded', data: account };
const completed: BillingEvent = { type: 'TransferCompleted', data: claim };
const failedOnce = (attempt: number): BillingEvent => ({
  type: 'BillingAttemptFailed',
  data: {
    websiteId: 'w1',
    attempt,
    error: 'Away',
    transient: true,
    late: false,
    provider: 'stripe',
    nextAttemptAt: later(1_000),
  },
});

const start = { type: 'StartAttempt', websiteId: 'w1', attempt: 1, task: claimTask, worker: 'me' } as const;
const ofAttempt = { websiteId: 'w1', attempt: 1 } as const;
const fault = { error: 'Away', transient: true, retryAfterMs: 0, provider: 'stripe', late: false };
const failure = { type: 'RecordFailure', ...ofAttempt, task: claimTask, fault, isOwner: false, jitter: 0 } as const;

describe('a subscription that exists already', () => {
  const named = { claim, provider: 'stripe', customerId: 'cus_1', subscriptionId: 'sub_1' };
  const record = { type: 'RecordAttachment', ...ofAttempt, ...named } as const;
  const asked: BillingEvent = { type: 'AttachmentRequested', data: { ...account, claimId: 'claim-1', subscriptionId: 'sub_1' } };
  const detached: BillingEvent = { type: 'SubscriptionDetached', data: { ...account, subscriptionId: 'sub_1' } };
  const end = { type: 'RecordEnd', ...ofAttempt, clientId: 'c1' } as const;

  test('is recorded before it is marked, once', () => {
    given(billingProcess, [started('claim-1')])
      .when(record)
      .then([asked]);
    given(billingProcess, [started('claim-1'), asked, attached])
      .when(record)
      .then([]);
    expectRepeatable(billingProcess, [started('claim-1')], record);
  });

  test('is let go when its claim comes to nothing; once the claim is completed it ends like any other', () => {
    for (const events of [[asked], [asked, attached]]) {
      given(billingProcess, [...events, started('end c1')])
        .when(end)
        .then([detached]);
    }
    given(billingProcess, [started('claim-1'), asked, attached, completed, started('end c1', 2)])
      .when({ ...end, attempt: 2 })
      .then([ended]);
    const another: BillingEvent = { ...attached, data: { ...attached.data, subscriptionId: 'sub_2' } };
    given(billingProcess, [asked, another, started('end c1')])
      .when(end)
      .then([ended]);
    given(billingProcess, [asked, attached, started('end c1'), detached])
      .when(end)
      .then([]);
  });
});

describe('an attempt', () => {
  test('is begun by one worker at a time, whatever it is about', () => {
    given(billingProcess)
      .when(start)
      .then([started('claim-1')]);
    given(billingProcess, [started('claim-1')])
      .when({ ...start, attempt: 2, worker: 'other' })
      .then([]);
    given(billingProcess, [requested, started('claim-1')])
      .when({ ...start, attempt: 2, task: endTask, worker: 'other' })
      .then([]);
  });

  test('is not begun on outdated facts', () => {
    given(billingProcess, [started('claim-1'), completed])
      .when(start)
      .then([]);
    given(billingProcess, [started('claim-1'), completed])
      .when({ ...start, attempt: 2 })
      .then([]);
    given(billingProcess, [requested, ended])
      .when({ ...start, task: endTask })
      .then([]);
    given(billingProcess, [])
      .when({ ...start, task: endTask })
      .then([]);
  });

  test('waits out a pause that was begun for the same thing only', () => {
    const events = [requested, started('claim-1'), failedOnce(1)];
    given(billingProcess, events)
      .when({ ...start, attempt: 2 })
      .then([]);
    given(billingProcess, events)
      .when({ ...start, attempt: 2, waitedOut: 2n })
      .then([started('claim-1', 2)]);
    given(billingProcess, events)
      .when({ ...start, attempt: 2, task: endTask })
      .then([started('end c1', 2)]);
    expect(attemptsAt(stateAfter(billingProcess, events), claimTask).failures).toBe(1);
    expect(attemptsAt(stateAfter(billingProcess, events), endTask)).toStrictEqual({ attempt: 1, failures: 0, retriedForMs: 0 });
    expect(stateAfter(billingProcess, [...events, started('end c1', 2)]).attempts).toMatchObject({ attempt: 2, failures: 0 });
  });

  test('whose lease is renewed keeps others out: who waited out the old lease waits anew', () => {
    const renewed: BillingEvent = {
      type: 'BillingLeaseRenewed',
      data: { websiteId: 'w1', attempt: 1, leaseUntil: later(6_000) },
    };
    const renew = { type: 'RenewLease', ...ofAttempt, lease: 0n } as const;
    const other = { ...start, attempt: 2, worker: 'other' };
    given(billingProcess, [started('claim-1')])
      .when(renew)
      .then([renewed]);
    expectRepeatable(billingProcess, [started('claim-1')], renew);
    given(billingProcess, [started('claim-1')])
      .when({ ...other, waitedOut: 0n })
      .then([started('claim-1', 2, 'other')]);
    given(billingProcess, [started('claim-1'), renewed])
      .when({ ...other, waitedOut: 0n })
      .then([]);
    const { lease } = attemptsAt(stateAfter(billingProcess, [started('claim-1'), renewed]), claimTask);
    expect(lease).toMatchObject({ worker: 'me', token: 1n });
    given(billingProcess, [started('claim-1'), renewed])
      .when({ ...renew, lease: 1n })
      .then([renewed]);
  });

  test('that fails says whose fault it was, where a provider is to blame', () => {
    const { provider: _, ...ours } = fault;
    for (const [told, provider] of [
      [fault, { provider: 'stripe' }],
      [ours, {}],
    ] as const) {
      const { outcome } = given(billingProcess, [started('claim-1')]).when({ ...failure, fault: told });
      const [failed] = outcome as readonly BillingEvent[];
      expect(failed?.data).toEqual({
        websiteId: 'w1',
        attempt: 1,
        error: 'Away',
        transient: true,
        late: false,
        nextAttemptAt: expect.any(String),
        ...provider,
      });
    }
  });

  test('that is not the current one says nothing', () => {
    for (const outcome of [
      { type: 'RenewLease', lease: 0n },
      { type: 'RecordRequest', claim, provider: 'stripe', customerId: 'cus_1' },
      { type: 'RecordCompletion', claim },
      failure,
    ] as const) {
      given(billingProcess, [started('claim-1'), failedOnce(1), started('claim-1', 2)])
        .when({ ...ofAttempt, ...outcome })
        .then([]);
    }
  });
});

test.each([
  [start, []],
  [{ type: 'RecordRequest', ...ofAttempt, claim, provider: 'stripe', customerId: 'cus_1' }, [started('claim-1')]],
  [{ type: 'RecordSubscription', ...ofAttempt, claim, subscriptionId: 'sub_1' }, [started('claim-1'), requested]],
  [{ type: 'RecordEnd', ...ofAttempt, clientId: 'c1' }, [requested, attached, started('end c1')]],
  [{ type: 'RecordCompletion', ...ofAttempt, claim }, [started('claim-1'), requested, attached]],
  [failure, [started('claim-1')]],
] as const)('%j repeated changes nothing', (command, events) => {
  expectRepeatable(billingProcess, [...events], command as never);
});

describe('one claim of a website at a time', () => {
  const other = { ...claim, invitationId: 'i2', claimId: 'claim-2', clientId: 'c2' };
  const otherTask: BillingTask = { kind: 'claim', claim: other };
  const decline = { type: 'DeclineClaim', websiteId: claim.websiteId, claim: other, isWithdrawn: false } as const;
  const declined: BillingEvent = { type: 'TransferDeclined', data: other };
  const failed: BillingEvent = { type: 'TransferFailed', data: { ...claim, reason: 'Away' } };
  const underWay = [started('claim-1')];
  const paused = [started('claim-1'), failedOnce(1)];

  test('another is declined while it is under way, in a pause too, and is never begun', () => {
    for (const events of [underWay, paused, [...paused, requested, started('end c1', 2), ended]]) {
      given(billingProcess, events).when(decline).then([declined]);
      expectRepeatable(billingProcess, events, decline);
      given(billingProcess, events)
        .when({ ...start, task: otherTask, attempt: 3, waitedOut: 1n })
        .then([]);
    }
    expect(stateAfter(billingProcess, [...underWay, declined]).outcomes.get('claim-2')).toBe('declined');
  });

  test('another is not declined before it, or after it came to an end', () => {
    const ends = [requested, started('end c1'), ended];
    for (const events of [[], ends, [...underWay, completed], [...underWay, failedOnce(1), failed]]) {
      given(billingProcess, events).when(decline).then([]);
    }
    given(billingProcess, [...underWay, completed])
      .when({ ...start, task: otherTask, attempt: 2 })
      .then([started('claim-2', 2)]);
  });

  test('a decline leaves the claim that is under way as it is', () => {
    const { attempts, claimId, lastFault } = stateAfter(billingProcess, [...paused, declined]);
    expect({ attempts, claimId, lastFault }).toEqual({
      attempts: stateAfter(billingProcess, paused).attempts,
      claimId: 'claim-1',
      lastFault: expect.objectContaining({ error: 'Away' }),
    });
  });

  test('one whose offer was withdrawn is declined before it begins; one that has begun is carried on with', () => {
    const withdrawn = { ...decline, isWithdrawn: true } as const;
    given(billingProcess).when(withdrawn).then([declined]);
    expectRepeatable(billingProcess, [], withdrawn);
    given(billingProcess, [declined])
      .when({ ...start, task: otherTask })
      .then([]);
    given(billingProcess, underWay)
      .when({ ...withdrawn, claim })
      .then([]);
    for (const end of [completed, failed]) {
      given(billingProcess, [...underWay, end])
        .when({ ...withdrawn, claim })
        .then([]);
    }
  });

  test('one that was withdrawn while it was under way fails, and blocks no other claim after that', () => {
    const { outcome } = given(billingProcess, underWay).when({ ...failure, fault: { ...fault, transient: false } });
    expect(outcome).toMatchObject([{ type: 'BillingAttemptFailed' }, { type: 'TransferFailed' }]);
    expect(stateAfter(billingProcess, [...underWay, failed]).claimId).toBeUndefined();
  });
});

describe('a failure', () => {
  const failures = (count: number): BillingEvent[] =>
    Array.from({ length: count }, (_, index) => [started('claim-1', index + 1), failedOnce(index + 1)]).flat();

  test('of a claim is retried for a minute, not when it is permanent or has to wait for longer', () => {
    const failed = { type: 'TransferFailed', data: { ...claim, reason: 'Away' } };
    const { retriedForMs, last } = failUntilGivenUp(billingProcess, [], {
      start: (attempt, waitedOut) => ({ ...start, attempt, waitedOut }),
      fail: (attempt) => ({ ...failure, attempt }),
    });
    expect(retriedForMs).toBe(60_000);
    const forGood = given(billingProcess, [started('claim-1')]).when({ ...failure, fault: { ...fault, transient: false } });
    const long = given(billingProcess, [started('claim-1')]).when({ ...failure, fault: { ...fault, retryAfterMs: 61_000 } });
    for (const outcome of [last, forGood.outcome, long.outcome])
      expect(outcome).toMatchObject([{ type: 'BillingAttemptFailed' }, failed]);
    const { outcome } = given(billingProcess, [started('claim-1')]).when(failure);
    expect(outcome).toMatchObject([{ data: { nextAttemptAt: later(500) } }]);
  });

  test('of a claim whose website has its new owner is retried until it succeeds, at least every 15 minutes; a refusal ends it', () => {
    const events = [requested, attached, ...failures(40), started('claim-1', 41)];
    const { provider: _, ...ours } = fault;
    const long = { ...fault, retryAfterMs: 1_000_000 };
    const owned = { ...failure, attempt: 41, isOwner: true, jitter: 0.999_999 } as const;
    for (const [of, ms] of [
      [fault, 900_000],
      [{ ...fault, transient: false }, 900_000],
      [ours, 900_000],
      [long, 1_100_000],
    ] as const) {
      const { outcome } = given(billingProcess, events).when({ ...owned, fault: of });
      expect(outcome).toMatchObject([{ type: 'BillingAttemptFailed', data: { nextAttemptAt: later(ms) } }]);
      expect(outcome).toHaveLength(1);
    }
    const refused = given(billingProcess, events).when({ ...owned, fault: { ...ours, transient: false } });
    expect(refused.outcome).toMatchObject([{ type: 'BillingAttemptFailed' }, { type: 'TransferFailed' }]);
    // Assigned by hand while the claim is under way, it is no reason to carry the claim on.
    const assigned = given(billingProcess, [started('claim-1', 41)]).when({ ...owned, fault: { ...fault, transient: false } });
    expect(assigned.outcome).toMatchObject([{ type: 'BillingAttemptFailed' }, { type: 'TransferFailed' }]);
  });

  test('of an end is tried again when the provider asks for it, and not when all others do', () => {
    const [early, late] = [0, 0.5].map((jitter) => {
      const failed = { ...failure, task: endTask, fault: { ...fault, retryAfterMs: 1_000_000 }, jitter };
      return given(billingProcess, [requested, started('end c1')]).when(failed).outcome;
    });
    expect(early).toMatchObject([{ data: { nextAttemptAt: later(1_000_000) } }]);
    expect(late).toMatchObject([{ data: { nextAttemptAt: later(1_050_000) } }]);
  });

  test('is reported to the waiting claimant, with the provider that failed', () => {
    const events: BillingEvent[] = [...failures(1), { type: 'TransferFailed', data: { ...claim, reason: 'Away' } }];
    const { outcomes } = stateAfter(billingProcess, events);
    expect(outcomes.get('claim-1')).toEqual({ failed: { error: 'Away', transient: true, provider: 'stripe', late: false } });
  });

  test('of an end is never the last one; it is tried again after 15 minutes at most', () => {
    const many = Array.from({ length: 40 }, (_, index) => [started('end c1', index + 1), failedOnce(index + 1)]).flat();
    const { outcome } = given(billingProcess, [requested, ...many, started('end c1', 41)]).when({
      ...failure,
      attempt: 41,
      task: endTask,
      fault: { ...fault, transient: false },
      jitter: 0.999_999,
    });
    expect(outcome).toMatchObject([{ type: 'BillingAttemptFailed', data: { nextAttemptAt: later(900_000) } }]);
  });
});

test('a client who comes back after an end gets a new account', () => {
  const { accounts } = stateAfter(billingProcess, [requested, attached, ended]);
  expect(accounts.get('c1')).toMatchObject({ stage: 'ended', subscriptionId: 'sub_1' });
  given(billingProcess, [requested, attached, ended, started('claim-2')])
    .when({ type: 'RecordRequest', ...ofAttempt, claim, provider: 'stripe', customerId: 'cus_1' })
    .then([requested]);
});

test.each([
  ['whose subscription is attached', [requested, attached], 'stripe', 'c1', true],
  ['at another payment provider', [requested, attached], 'embedded', 'c1', false],
  ['who asked for one', [requested], 'stripe', 'c1', false],
  ['whose subscription has ended', [requested, attached, ended], 'stripe', 'c1', false],
  ['who is another', [requested, attached], 'stripe', 'c2', false],
  ['whom the website does not have', [requested, attached], 'stripe', undefined, false],
] as const)('an owner %s: subscribed or not', (_, events, provider, clientId, expected) => {
  expect(isSubscribed(stateAfter(billingProcess, [...events]), provider, clientId)).toBe(expected);
});

test('a request to another customer, or payment provider, is recorded anew', () => {
  for (const other of [{ customerId: 'cus_2' }, { provider: 'embedded' }]) {
    given(billingProcess, [started('claim-1'), requested])
      .when({ type: 'RecordRequest', ...ofAttempt, claim, provider: 'stripe', customerId: 'cus_1', ...other })
      .then([{ type: 'SubscriptionRequested', data: { ...account, claimId: 'claim-1', ...other } }]);
  }
});

test('a client is one customer for each provider, the last that was found or made', () => {
  const attach = { type: 'AttachCustomer', clientId: 'c1', provider: 'stripe', customerId: 'cus_1' } as const;
  expectRepeatable(customerDecider, [], attach);
  const before = { type: 'CustomerAttached', data: { clientId: 'c1', provider: 'stripe', customerId: 'cus_0' } } as const;
  expectRepeatable(customerDecider, [before], attach);
});
