import { describe, expect, test } from '@jest/globals';
import { accessDecider } from '../../src/commands/access/access.decider.js';
import { refusals } from '../../src/commands/refusal.js';
import type { AccessEvent } from '../../src/events/access/access.events.js';
import { expectRepeatable, given, now } from '../support/given.js';

const days = (count: number, from = now): string => new Date(Date.parse(from) + count * 86_400_000).toISOString();

const offer = { type: 'OfferTransfer', websiteId: 'w1', email: 'ana', sendMail: false, invitationId: 'i1' } as const;
const claim = {
  type: 'ClaimTransfer',
  websiteId: 'w1',
  invitationId: 'i1',
  subject: 's1',
  verifiedEmail: 'ana',
  clientId: 'c1',
} as const;
const cancel = { type: 'CancelTransfer', websiteId: 'w1', invitationId: 'i1' } as const;

const issuedTo = (email: string, invitationId: string, more: { priceId?: string } = {}): AccessEvent => ({
  type: 'InvitationIssued',
  data: { websiteId: 'w1', invitationId, kind: 'ownership_transfer', email, ...more, expiresAt: days(30), sendMail: false },
});
const issued = issuedTo('ana', 'i1');
const claimed: AccessEvent = {
  type: 'TransferClaimed',
  data: { websiteId: 'w1', invitationId: 'i1', clientId: 'c1', subject: 's1' },
};
/** As the second event of its stream. */
const claimId = 'event-1';
const settle = { websiteId: 'w1', invitationId: 'i1', claimId } as const;
const released: AccessEvent = { type: 'TransferReleased', data: settle };
const accepted: AccessEvent = { type: 'InvitationAccepted', data: { websiteId: 'w1', invitationId: 'i1', clientId: 'c1' } };
const revoked: AccessEvent = { type: 'InvitationRevoked', data: { websiteId: 'w1', invitationId: 'i1' } };

describe('OfferTransfer', () => {
  test('offers for 30 days; the mail only when it is asked for', () => {
    given(accessDecider).when(offer).then([issued]);
    given(accessDecider)
      .when({ ...offer, priceId: 'p1' })
      .then([issuedTo('ana', 'i1', { priceId: 'p1' })]);
    const { outcome } = given(accessDecider).when({ ...offer, sendMail: true });
    expect(outcome).toMatchObject([{ data: { sendMail: true } }]);
  });

  test('again: renews under the same id, on the terms asked for now', () => {
    given(accessDecider, [issued])
      .when({ ...offer, invitationId: 'i2', priceId: 'p2', sendMail: true, at: days(1) })
      .then([
        {
          type: 'InvitationRenewed',
          data: {
            websiteId: 'w1',
            invitationId: 'i1',
            kind: 'ownership_transfer',
            email: 'ana',
            priceId: 'p2',
            expiresAt: days(31),
            sendMail: true,
          },
        },
      ]);
    given(accessDecider, [issued]).when(offer).then([]);
  });

  test('leaves a claim under way on its terms, and offers anew after the end of one', () => {
    given(accessDecider, [issued, claimed])
      .when({ ...offer, priceId: 'p2' })
      .then([]);
    for (const end of [accepted, revoked]) {
      given(accessDecider, [issued, end])
        .when({ ...offer, invitationId: 'i2' })
        .then([issuedTo('ana', 'i2')]);
    }
  });

  test('is refused to the owner', () => {
    given(accessDecider)
      .when({ ...offer, clientId: 'c1', ownerId: 'c1' })
      .thenRefused(refusals.alreadyOwner());
  });
});

describe('ClaimTransfer', () => {
  test('begins the claim, on the terms of the offer', () => {
    given(accessDecider, [issuedTo('ana', 'i1', { priceId: 'p1' })])
      .when(claim)
      .then([{ type: 'TransferClaimed', data: { ...claimed.data, priceId: 'p1' } }]);
    expectRepeatable(accessDecider, [issued], claim);
  });

  test.each([
    ['unknown', []],
    ['cancelled', [issued, revoked]],
    ['taken by another claim', [issuedTo('ben', 'i2'), issued, { ...claimed, data: { ...claimed.data, invitationId: 'i2' } }]],
    ['accepted by somebody else', [issued, { ...accepted, data: { ...accepted.data, clientId: 'c9' } }]],
  ] as const)('%s: not found', (_, events) => {
    given(accessDecider, events as readonly AccessEvent[])
      .when(claim)
      .thenRefused(refusals.transferNotFound());
  });

  test('expired: not found; by somebody else: refused', () => {
    given(accessDecider, [issued])
      .when({ ...claim, at: days(30) })
      .thenRefused(refusals.transferNotFound());
    given(accessDecider, [issued])
      .when({ ...claim, verifiedEmail: 'eve' })
      .thenRefused(refusals.notYourInvitation());
    given(accessDecider, [issued])
      .when({ ...claim, verifiedEmail: undefined })
      .thenRefused(refusals.notYourInvitation());
  });

  test('accepted, by the same person: as the first time, as long as they own the website', () => {
    const events = [issued, claimed, accepted];
    given(accessDecider, events)
      .when({ ...claim, ownerId: 'c1' })
      .then([]);
    given(accessDecider, events)
      .when({ ...claim, ownerId: 'c2' })
      .thenRefused(refusals.transferNotFound());
  });

  test('is free again once it was released', () => {
    given(accessDecider, [issued, claimed, released]).when(claim).then([claimed]);
  });
});

describe('what comes of a claim', () => {
  test('accepted: every other offer of the website is over', () => {
    given(accessDecider, [issued, claimed, issuedTo('ben', 'i2')])
      .when({ type: 'AcceptTransfer', ...settle })
      .then([accepted, { type: 'InvitationRevoked', data: { websiteId: 'w1', invitationId: 'i2' } }]);
    expectRepeatable(accessDecider, [issued, claimed], { type: 'AcceptTransfer', ...settle });
  });

  test('released: pending again', () => {
    expectRepeatable(accessDecider, [issued, claimed], { type: 'ReleaseTransfer', ...settle });
    given(accessDecider, [issued, claimed, released]).when(cancel).then([revoked]);
  });

  test('said of a claim that is not the one under way, it changes nothing', () => {
    for (const type of ['AcceptTransfer', 'ReleaseTransfer'] as const) {
      given(accessDecider, [issued, claimed])
        .when({ type, ...settle, claimId: 'event-0' })
        .then([]);
      given(accessDecider, [issued])
        .when({ type, ...settle })
        .then([]);
      given(accessDecider, [issued, claimed, revoked])
        .when({ type, ...settle })
        .then([]);
    }
  });
});

describe('CancelTransfer', () => {
  test('takes an offer back, not a claim', () => {
    expectRepeatable(accessDecider, [issued], cancel);
    for (const events of [[], [issued, claimed], [issued, claimed, accepted]]) {
      given(accessDecider, events).when(cancel).thenRefused(refusals.transferNotFound());
    }
  });

  test('and the commands on invitations for access keep to themselves', () => {
    for (const type of ['ResendInvitation', 'RevokeInvitation'] as const) {
      given(accessDecider, [issued])
        .when({ type, websiteId: 'w1', invitationId: 'i1' })
        .thenRefused(refusals.invitationNotFound('i1'));
    }
    given(accessDecider, [issued])
      .when({ ...claim, type: 'ClaimInvitation' })
      .thenRefused(refusals.invitationNotFound('i1'));
  });
});

test('whoever is erased loses the offer that they are claiming', () => {
  given(accessDecider, [issued, claimed])
    .when({ type: 'WithdrawClient', websiteId: 'w1', clientId: 'c1', email: 'ana' })
    .then([revoked]);
});
