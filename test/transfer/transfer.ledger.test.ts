import { describe, expect, test } from '@jest/globals';
import type { BillingEvent } from '../../src/events/billing/billing.events.js';
import { movingItems, type MovingItem } from '../../src/events/billing/handover.js';
import type { HandoverDraft } from '../../src/workers/transfer/transfer.commands.js';
import { billingProcess } from '../../src/workers/transfer/transfer.process.js';
import { earlier, expectRepeatable, given, stateAfter } from '../support/given.js';

const claim = { websiteId: 'w1', invitationId: 'i1', claimId: 'claim-1', clientId: 'c2' };
const handover: HandoverDraft = {
  moves: movingItems.filter((item) => item !== 'own_link').map((item) => ({ item })),
  stays: [{ item: 'site' }],
  missing: [],
  payer: 'agency',
  previousOwnerId: 'c1',
  priceId: 'p1',
  price: { amount: 4_900, currency: 'eur', interval: 'month' },
  subscriptionId: 'sub_1',
};
const drawnUp: BillingEvent = { type: 'TransferLedgerDrawnUp', data: { ...claim, ...handover } };
const done = (...items: MovingItem[]): BillingEvent => ({ type: 'TransferItemsDone', data: { ...claim, items } });
const started = (about = claim.claimId): BillingEvent => ({
  type: 'BillingAttemptStarted',
  data: { websiteId: 'w1', about, attempt: 1, worker: 'me', leaseUntil: earlier },
});
const account = { websiteId: 'w1', clientId: 'c2', provider: 'stripe', customerId: 'cus_2' };
const requested: BillingEvent = { type: 'SubscriptionRequested', data: { ...account, claimId: 'claim-1' } };
const completed: BillingEvent = { type: 'TransferCompleted', data: claim };
const of = { websiteId: 'w1', attempt: 1 } as const;
const named = { ...of, claim, handover, provider: 'stripe', customerId: 'cus_2' } as const;
const request = { type: 'RecordRequest', ...named } as const;
const attach = { type: 'RecordAttachment', ...named, subscriptionId: 'sub_1' } as const;

describe('the record of what a claim hands over', () => {
  test('is drawn up with the request, once', () => {
    given(billingProcess, [started()]).when(request).then([requested, drawnUp]);
    given(billingProcess, [started(), requested]).when(request).then([drawnUp]);
    given(billingProcess, [started(), drawnUp]).when(request).then([requested]);
    given(billingProcess, [started()])
      .when(attach)
      .then([{ type: 'AttachmentRequested', data: { ...account, claimId: 'claim-1', subscriptionId: 'sub_1' } }, drawnUp]);
  });

  test('says whose it was and becomes, on which terms', () => {
    const { payer, previousOwnerId, priceId, price, subscriptionId, ...items } = handover;
    const state = stateAfter(billingProcess, [drawnUp, done('ownership'), completed]);
    expect(state.handovers.get('claim-1')).toStrictEqual({
      claim: { invitationId: 'i1', newOwnerId: 'c2' },
      items,
      ...{ payer, previousOwnerId, priceId, price, subscriptionId },
      done: new Map([['ownership', earlier]]),
      ...{ drawnUpAt: earlier, completedAt: earlier },
    });
  });

  test('leaves out what is not known', () => {
    const { moves, stays, missing, payer } = handover;
    const state = stateAfter(billingProcess, [
      { type: 'TransferLedgerDrawnUp', data: { ...claim, moves, stays, missing, payer } },
    ]);
    expect(Object.keys(state.handovers.get('claim-1') ?? {})).toEqual(['items', 'drawnUpAt', 'payer', 'done', 'claim']);
  });

  test('has ticked what moves and is done, each once', () => {
    const own = { type: 'RecordOwnership', ...of, claim } as const;
    given(billingProcess, [started(), drawnUp])
      .when(own)
      .then([done('ownership', 'billing_portal')]);
    given(billingProcess, [started(), drawnUp, done('ownership')])
      .when(own)
      .then([done('billing_portal')]);
    expectRepeatable(billingProcess, [started(), drawnUp], own);
    given(billingProcess, [started()]).when(own).then([]);
    const subscribe = { type: 'RecordSubscription', ...of, claim, subscriptionId: 'sub_2' } as const;
    given(billingProcess, [started(), requested, drawnUp])
      .when(subscribe)
      .then([
        { type: 'SubscriptionAttached', data: { ...account, claimId: 'claim-1', subscriptionId: 'sub_2' } },
        done('billing_account', 'subscription'),
      ]);
  });

  test('is complete but for the subscription of the previous owner, whose end is its last item', () => {
    given(billingProcess, [started(), drawnUp])
      .when({ type: 'RecordCompletion', ...of, claim })
      .then([done('ownership', 'billing_account', 'subscription', 'billing_portal', 'other_offers'), completed]);
    const formerly = (clientId: string): BillingEvent => ({
      type: 'SubscriptionRequested',
      data: { ...account, clientId, claimId: 'claim-0' },
    });
    const ended = (clientId: string): BillingEvent => ({ type: 'SubscriptionEnded', data: { ...account, clientId } });
    for (const [clientId, events, ticked] of [
      ['c1', [drawnUp, completed], [done('previous_subscription')]],
      ['c1', [drawnUp], []],
      ['c1', [], []],
      ['c3', [drawnUp, completed], []],
    ] as const) {
      given(billingProcess, [formerly(clientId), ...events, started(`end ${clientId}`)])
        .when({ type: 'RecordEnd', ...of, clientId })
        .then([ended(clientId), ...ticked]);
    }
  });
});
