import { describe, expect, test } from '@jest/globals';
import { accessDecider } from '../../src/commands/access/access.decider.js';
import { refusals } from '../../src/commands/refusal.js';
import type { AccessEvent } from '../../src/events/access/access.events.js';
import { expectRepeatable, given, now } from '../support/given.js';

const days = (count: number, from = now): string => new Date(Date.parse(from) + count * 86_400_000).toISOString();

const person = { websiteId: 'w1', clientId: 'c1' } as const;
const offer = { type: 'OfferTransfer', ...person, email: 'ana', sendMail: false, invitationId: 'i1' } as const;
const claim = {
  type: 'ClaimTransfer',
  ...person,
  invitationId: 'i1',
  subject: 's1',
  verifiedEmail: 'ana',
  claimedBy: 'c1',
} as const;
const cancel = { type: 'CancelTransfer', ...person, invitationId: 'i1' } as const;

const issuedAs = (invitationId: string, more: { priceId?: string } = {}) =>
  ({
    type: 'InvitationIssued',
    data: { ...person, invitationId, kind: 'ownership_transfer', email: 'ana', ...more, expiresAt: days(30), sendMail: false },
  }) as const;
const issued = issuedAs('i1');
const claimed = {
  type: 'TransferClaimed',
  data: { ...person, invitationId: 'i1', claimedBy: 'c1', subject: 's1' },
} as const;
/** As the second event of its stream. */
const claimId = 'event-1';
const settle = { ...person, invitationId: 'i1', claimId } as const;
const released: AccessEvent = { type: 'TransferReleased', data: settle };
const accepted = { type: 'InvitationAccepted', data: { ...person, invitationId: 'i1', claimedBy: 'c1' } } as const;
const revoked: AccessEvent = { type: 'InvitationRevoked', data: { ...person, invitationId: 'i1' } };

describe('OfferTransfer', () => {
  test('offers for 30 days; the mail only when it is asked for', () => {
    given(accessDecider).when(offer).then([issued]);
    given(accessDecider)
      .when({ ...offer, priceId: 'p1' })
      .then([issuedAs('i1', { priceId: 'p1' })]);
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
            ...person,
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
    const renewed = (terms: object): AccessEvent => ({ type: 'InvitationRenewed', data: { ...issued.data, ...terms } });
    given(accessDecider, [issued])
      .when({ ...offer, priceId: 'p2' })
      .then([renewed({ priceId: 'p2' })]);
    given(accessDecider, [issued])
      .when({ ...offer, at: days(1) })
      .then([renewed({ expiresAt: days(31) })]);
  });

  test('leaves a claim under way unchanged, and makes a new offer after a claim has ended', () => {
    given(accessDecider, [issued, claimed])
      .when({ ...offer, priceId: 'p2' })
      .then([]);
    for (const end of [accepted, revoked]) {
      given(accessDecider, [issued, end])
        .when({ ...offer, invitationId: 'i2' })
        .then([issuedAs('i2')]);
    }
  });

  test('names a subscription that exists; offered again it is another one, or none', () => {
    const named = (subscriptionId: string) =>
      ({ type: 'TransferSubscriptionNamed', data: { ...person, invitationId: 'i1', subscriptionId } }) as const;
    const renewed: AccessEvent = { type: 'InvitationRenewed', data: issued.data };
    const withOne = { ...offer, subscriptionId: 's1' };
    given(accessDecider)
      .when(withOne)
      .then([issued, named('s1')]);
    given(accessDecider, [issued, named('s1')])
      .when({ ...offer, subscriptionId: 's2' })
      .then([renewed, named('s2')]);
    given(accessDecider, [issued, named('s1')])
      .when(offer)
      .then([renewed]);
    given(accessDecider, [issued, named('s1'), renewed])
      .when(offer)
      .then([]);
  });

  test('is refused to the owner', () => {
    given(accessDecider)
      .when({ ...offer, ownerId: 'c1' })
      .thenRefused(refusals.alreadyOwner());
  });
});

describe('ClaimTransfer', () => {
  test('begins the claim, on the terms of the offer', () => {
    given(accessDecider, [issuedAs('i1', { priceId: 'p1' })])
      .when(claim)
      .then([{ type: 'TransferClaimed', data: { ...claimed.data, priceId: 'p1' } }]);
    expectRepeatable(accessDecider, [issued], claim);
  });

  test.each([
    ['unknown', []],
    ['cancelled', [issued, revoked]],
    ['claimed by another client', [issued, { type: 'TransferClaimed', data: { ...claimed.data, claimedBy: 'c9' } }]],
    ['accepted by another client', [issued, { type: 'InvitationAccepted', data: { ...accepted.data, claimedBy: 'c9' } }]],
  ] satisfies [string, AccessEvent[]][])('%s: not found', (_, events) => {
    given(accessDecider, events).when(claim).thenRefused(refusals.transferNotFound());
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

  test('by somebody who is known by another address names the client that becomes the owner', () => {
    const byOther = { ...claim, claimedBy: 'c9' } as const;
    const claimedByOther: AccessEvent = { type: 'TransferClaimed', data: { ...claimed.data, claimedBy: 'c9' } };
    given(accessDecider, [issued]).when(byOther).then([claimedByOther]);
    expectRepeatable(accessDecider, [issued], byOther);
    given(accessDecider, [issued, claimedByOther])
      .when({ type: 'AcceptTransfer', ...settle })
      .then([{ type: 'InvitationAccepted', data: { ...accepted.data, claimedBy: 'c9' } }]);
  });

  test('is free again once it was released', () => {
    given(accessDecider, [issued, claimed, released]).when(claim).then([claimed]);
  });
});

describe('what comes of a claim', () => {
  test('accepted: by the client that claimed it', () => {
    given(accessDecider, [issued, claimed])
      .when({ type: 'AcceptTransfer', ...settle })
      .then([accepted]);
    expectRepeatable(accessDecider, [issued, claimed], { type: 'AcceptTransfer', ...settle });
  });

  test('released: pending again', () => {
    given(accessDecider, [issued, claimed])
      .when({ type: 'ReleaseTransfer', ...settle })
      .then([released]);
    expectRepeatable(accessDecider, [issued, claimed], { type: 'ReleaseTransfer', ...settle });
    given(accessDecider, [issued, claimed, released]).when(cancel).then([revoked]);
  });

  test('said of a claim that is not the one under way, it changes nothing', () => {
    for (const type of ['AcceptTransfer', 'ReleaseTransfer'] as const) {
      given(accessDecider, [issued, claimed])
        .when({ type, ...settle, claimId: 'event-0' })
        .then([]);
      for (const events of [[], [issued], [issued, claimed, revoked]]) {
        given(accessDecider, events)
          .when({ type, ...settle })
          .then([]);
      }
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
        .when({ type, ...person, invitationId: 'i1' })
        .thenRefused(refusals.invitationNotFound('i1'));
    }
    given(accessDecider, [issued])
      .when({ ...claim, type: 'ClaimInvitation' })
      .thenRefused(refusals.invitationNotFound('i1'));
  });
});

test('the renewal of an offer is asked for once it has expired, and not of one that was taken back', () => {
  const request = { type: 'RequestRenewal', ...person, invitationId: 'i1', verifiedEmail: 'ana', at: days(30) } as const;
  given(accessDecider, [issued])
    .when(request)
    .then([{ type: 'InvitationRenewalRequested', data: { ...person, invitationId: 'i1' } }]);
  given(accessDecider, [issued, revoked]).when(request).thenRefused(refusals.transferNotFound());
});

describe('WithdrawTransfer', () => {
  /** By an assignment that came after everything here. */
  const withdraw = { type: 'WithdrawTransfer', ...person, invitationId: 'i1', ownerId: 'c2', ownerPosition: 9n } as const;

  test('takes an offer back, a claimed one too', () => {
    for (const events of [[issued], [issued, claimed], [issued, claimed, released]]) {
      given(accessDecider, events).when(withdraw).then([revoked]);
      expectRepeatable(accessDecider, events, withdraw);
    }
  });

  test('leaves alone what is over, what is not there, and an offer that was made since', () => {
    for (const events of [[], [issued, revoked], [issued, claimed, accepted], [issued, revoked, issuedAs('i2')]]) {
      given(accessDecider, events).when(withdraw).then([]);
    }
  });

  test('leaves alone what was sent after the assignment, and what its own owner is claiming', () => {
    const renewed: AccessEvent = { ...issued, type: 'InvitationRenewed' };
    // The events stand at the positions 1, 2 and 3.
    for (const [ownerPosition, events] of [
      [1n, [issued]],
      [2n, [issued, renewed]],
      [2n, [issued, renewed, claimed]],
    ] as const) {
      given(accessDecider, events)
        .when({ ...withdraw, ownerPosition })
        .then([]);
      given(accessDecider, events)
        .when({ ...withdraw, ownerPosition: ownerPosition + 1n })
        .then([revoked]);
    }
    given(accessDecider, [issued, claimed])
      .when({ ...withdraw, ownerId: 'c1' })
      .then([]);
    for (const events of [[issued], [issued, claimed, released]]) {
      given(accessDecider, events)
        .when({ ...withdraw, ownerId: 'c1' })
        .then([revoked]);
    }
  });

  test('leaves an invitation for access alone', () => {
    const access: AccessEvent = { type: 'InvitationIssued', data: { ...issued.data, kind: 'client_access', role: 'viewer' } };
    given(accessDecider, [access]).when(withdraw).then([]);
  });
});

test('an erased client loses the offer that they are claiming', () => {
  given(accessDecider, [issued, claimed])
    .when({ type: 'WithdrawClient', ...person })
    .then([revoked]);
});
