import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { accessDecider } from '../../src/commands/access/access.decider.js';
import { isRefusal } from '../../src/commands/decider.js';
import { refusals } from '../../src/commands/refusal.js';
import type { AccessEvent } from '../../src/events/access/access.events.js';
import { earlier, expectRepeatable, given, now, recorded, stateAfter } from '../support/given.js';
import { linkRole } from '../../src/events/access/access.state.js';

const days = (count: number, from = now): string => new Date(Date.parse(from) + count * 86_400_000).toISOString();

const person = { websiteId: 'w1', clientId: 'c1' } as const;
const add = {
  type: 'AddClient',
  ...person,
  email: 'anna@example.com',
  role: 'viewer',
  isRegistered: false,
  invitationId: 'i1',
} as const;
const claim = {
  type: 'ClaimInvitation',
  ...person,
  invitationId: 'i1',
  subject: 's1',
  verifiedEmail: 'anna@example.com',
  claimedBy: 'c1',
} as const;

const invitation = {
  ...person,
  invitationId: 'i1',
  kind: 'client_access',
  email: 'anna@example.com',
  role: 'viewer',
  expiresAt: days(30),
  sendMail: true,
} as const;
const issued: AccessEvent = { type: 'InvitationIssued', data: invitation };
const linked: AccessEvent = { type: 'ClientLinked', data: { ...person, role: 'viewer' } };
const unlinked: AccessEvent = { type: 'ClientUnlinked', data: person };
const accepted: AccessEvent = {
  type: 'InvitationAccepted',
  data: { ...person, invitationId: 'i1', claimedBy: 'c1', subject: 's1' },
};
const revoked: AccessEvent = { type: 'InvitationRevoked', data: { ...person, invitationId: 'i1' } };

describe('WithdrawClient', () => {
  const withdraw = { type: 'WithdrawClient', ...person } as const;

  test('takes the link and every pending invitation', () => {
    given(accessDecider, [linked, issued]).when(withdraw).then([unlinked, revoked]);
    given(accessDecider, [issued, linked, accepted]).when(withdraw).then([unlinked]);
    given(accessDecider, [issued, revoked]).when(withdraw).then([]);
    given(accessDecider).when(withdraw).then([]);
    expectRepeatable(accessDecider, [linked, issued], withdraw);
  });
});

describe('SettleOwner', () => {
  const settle = { type: 'SettleOwner', ...person } as const;
  const settled: AccessEvent = { type: 'InvitationAccepted', data: { ...person, invitationId: 'i1', claimedBy: 'c1' } };

  test('takes the link, and ends a pending invitation, so that the end of the ownership is final', () => {
    given(accessDecider, [linked]).when(settle).then([unlinked]);
    given(accessDecider, [issued]).when(settle).then([settled]);
    expectRepeatable(accessDecider, [linked, issued], settle);
    given(accessDecider).when(settle).then([]);
    given(accessDecider, [issued, revoked]).when(settle).then([]);
    given(accessDecider, [issued, settled]).when(claim).thenRefused(refusals.invitationNotFound('i1'));
    given(accessDecider, [issued, settled])
      .when({ ...claim, ownerId: 'c1' })
      .thenRefused(refusals.alreadyOwner());
  });

  test('leaves alone what was given or sent later than it says', () => {
    // The second event stands at position 2.
    given(accessDecider, [revoked, linked])
      .when({ ...settle, upTo: 1n })
      .then([]);
    given(accessDecider, [revoked, linked])
      .when({ ...settle, upTo: 2n })
      .then([unlinked]);
    given(accessDecider, [linked, issued])
      .when({ ...settle, upTo: 1n })
      .then([unlinked]);
    given(accessDecider, [linked, issued])
      .when({ ...settle, upTo: 2n })
      .then([unlinked, settled]);
    const changed: AccessEvent = { type: 'ClientLinkRoleChanged', data: { ...person, role: 'editor', previousRole: 'viewer' } };
    given(accessDecider, [linked, changed])
      .when({ ...settle, upTo: 1n })
      .then([unlinked]);
  });
});

describe('AddClient', () => {
  test('links a registered client at once; nothing asks for a mail', () => {
    given(accessDecider)
      .when({ ...add, isRegistered: true })
      .then([linked]);
  });

  test('invites an unknown address for 30 days, with a mail', () => {
    given(accessDecider).when(add).then([issued]);
  });

  test('gives a linked client the role asked for now', () => {
    given(accessDecider, [linked])
      .when({ ...add, isRegistered: true, role: 'editor' })
      .then([{ type: 'ClientLinkRoleChanged', data: { ...person, role: 'editor', previousRole: 'viewer' } }]);
  });

  test('renews a pending invitation under its id, with the role asked for now', () => {
    given(accessDecider, [issued])
      .when({ ...add, invitationId: 'i2', role: 'editor', at: days(1) })
      .then([{ type: 'InvitationRenewed', data: { ...invitation, role: 'editor', expiresAt: days(31) } }]);
  });

  test('renews an expired invitation', () => {
    given(accessDecider, [issued])
      .when({ ...add, invitationId: 'i2', at: days(40) })
      .then([{ type: 'InvitationRenewed', data: { ...invitation, expiresAt: days(70) } }]);
  });

  test('of somebody whose address has a pending transfer invites them, and leaves the transfer alone', () => {
    const { role: _, ...terms } = { ...invitation, invitationId: 't1', kind: 'ownership_transfer' as const };
    const offered: AccessEvent = { type: 'InvitationIssued', data: terms };
    given(accessDecider, [offered]).when(add).then([issued]);
    given(accessDecider, [offered])
      .when({ ...add, isRegistered: true })
      .then([linked]);
    expect([...stateAfter(accessDecider, [offered, issued]).invitations.keys()]).toEqual(['t1', 'i1']);
  });

  test('of a client who was invited before settles the invitation, so that a removal later is final', () => {
    given(accessDecider, [issued])
      .when({ ...add, isRegistered: true })
      .then([linked, { type: 'InvitationAccepted', data: { ...person, invitationId: 'i1', claimedBy: 'c1' } }]);
  });

  test('of somebody who is linked never invites, also when they were not registered a moment ago', () => {
    given(accessDecider, [issued, linked, accepted])
      .when({ ...add, invitationId: 'i2', role: 'editor' })
      .then([{ type: 'ClientLinkRoleChanged', data: { ...person, role: 'editor', previousRole: 'viewer' } }]);
  });

  test('invites again after a revocation, under a new id', () => {
    given(accessDecider, [issued, revoked])
      .when({ ...add, invitationId: 'i2' })
      .then([{ type: 'InvitationIssued', data: { ...invitation, invitationId: 'i2' } }]);
  });

  test('of the owner is refused', () => {
    given(accessDecider)
      .when({ ...add, ownerId: 'c1' })
      .thenRefused(refusals.alreadyOwner());
  });
});

describe('ClaimInvitation', () => {
  test('creates the link and marks the invitation accepted', () => {
    given(accessDecider, [issued]).when(claim).then([linked, accepted]);
  });

  test('after a renewal counts from the renewal on, with the role that it names', () => {
    const renewed: AccessEvent = {
      type: 'InvitationRenewed',
      data: { ...invitation, role: 'editor', expiresAt: days(70) },
    };
    const late = { ...claim, at: days(69) };
    given(accessDecider, [issued]).when(late).thenRefused(refusals.invitationNotFound('i1'));
    given(accessDecider, [issued, renewed])
      .when(late)
      .then([{ type: 'ClientLinked', data: { ...person, role: 'editor' } }, accepted]);
    given(accessDecider, [issued, renewed])
      .when({ ...claim, at: days(70) })
      .thenRefused(refusals.invitationNotFound('i1'));
    expectRepeatable(accessDecider, [issued, renewed], late);
  });

  test('by another address, or one that nobody vouches for, is refused', () => {
    for (const verifiedEmail of ['eve@example.com', undefined]) {
      given(accessDecider, [issued])
        .when({ ...claim, verifiedEmail })
        .thenRefused(refusals.notYourInvitation());
    }
  });

  test.each([
    ['unknown', []],
    ['revoked', [issued, revoked]],
    ['accepted, and the link was taken away', [issued, linked, accepted, unlinked]],
  ] as const)('of one that is %s finds nothing', (_what, events) => {
    given(accessDecider, [...events])
      .when(claim)
      .thenRefused(refusals.invitationNotFound('i1'));
  });

  test('of an expired one can be renewed on request, of which admins hear once a day', () => {
    const request = { type: 'RequestRenewal', ...person, invitationId: 'i1', verifiedEmail: 'anna@example.com' } as const;
    const requested: AccessEvent = { type: 'InvitationRenewalRequested', data: { ...person, invitationId: 'i1' } };
    const renewed: AccessEvent = { type: 'InvitationRenewed', data: { ...invitation, expiresAt: days(60) } };
    const refused = refusals.invitationNotExpired('i1');
    given(accessDecider, [issued])
      .when({ ...request, at: days(30) })
      .then([requested]);
    given(accessDecider, [issued, requested])
      .when({ ...request, at: now })
      .thenRefused(refused);
    // What happened, happened a day before `now`.
    const asked = [{ ...issued, data: { ...invitation, expiresAt: days(-1) } }, requested] as const;
    given(accessDecider, asked)
      .when({ ...request, at: days(-0.5) })
      .then([]);
    given(accessDecider, asked)
      .when({ ...request, at: now })
      .then([requested]);
    given(accessDecider, [issued])
      .when({ ...request, at: days(29) })
      .thenRefused(refused);
    given(accessDecider, [issued, requested, renewed])
      .when({ ...request, at: days(31) })
      .thenRefused(refused);
    given(accessDecider, [issued, linked, accepted])
      .when({ ...request, at: days(31) })
      .thenRefused(refused);
    given(accessDecider, [issued])
      .when({ ...request, verifiedEmail: undefined, at: days(31) })
      .thenRefused(refusals.notYourInvitation());
    for (const events of [[], [issued, revoked]]) {
      given(accessDecider, events)
        .when({ ...request, at: days(31) })
        .thenRefused(refusals.invitationNotFound('i1'));
    }
  });

  test('of a known client asks for a mail with `notify`, and with a new link alone', () => {
    const known = { ...add, isRegistered: true, notify: true } as const;
    given(accessDecider)
      .when(known)
      .then([linked, { type: 'ClientLinkNoticeRequested', data: person }]);
    given(accessDecider, [linked]).when(known).then([]);
  });

  test('of an expired one finds nothing; a millisecond before, it holds', () => {
    given(accessDecider, [issued])
      .when({ ...claim, at: days(30) })
      .thenRefused(refusals.invitationNotFound('i1'));
    given(accessDecider, [issued])
      .when({ ...claim, at: new Date(Date.parse(days(30)) - 1).toISOString() })
      .then([linked, accepted]);
  });

  test('keeps the role of a link that is there already', () => {
    const editor: AccessEvent = { type: 'ClientLinked', data: { ...person, role: 'editor' } };
    given(accessDecider, [issued, editor]).when(claim).then([accepted]);
  });

  test('by the owner is refused', () => {
    given(accessDecider, [issued])
      .when({ ...claim, ownerId: 'c1' })
      .thenRefused(refusals.alreadyOwner());
  });
});

describe('a claim by somebody who is known by another address', () => {
  const byOther = { ...claim, claimedBy: 'c2' } as const;
  const acceptedByOther: AccessEvent = {
    type: 'InvitationAccepted',
    data: { ...person, invitationId: 'i1', claimedBy: 'c2', subject: 's1' },
  };

  test('ends the invitation, and links nobody here', () => {
    given(accessDecider, [issued]).when(byOther).then([acceptedByOther]);
    expectRepeatable(accessDecider, [issued], byOther);
  });

  test('holds once: nobody else can claim it after that', () => {
    given(accessDecider, [issued, acceptedByOther]).when(claim).thenRefused(refusals.invitationNotFound('i1'));
    given(accessDecider, [issued, linked, accepted]).when(byOther).thenRefused(refusals.invitationNotFound('i1'));
  });

  test('is refused to the owner, and no more when the address stands for the owner', () => {
    given(accessDecider, [issued])
      .when({ ...byOther, ownerId: 'c2' })
      .thenRefused(refusals.alreadyOwner());
    given(accessDecider, [issued])
      .when({ ...byOther, ownerId: 'c1' })
      .then([acceptedByOther]);
  });
});

describe('LinkClaimant', () => {
  const linkClaimant = { type: 'LinkClaimant', ...person, invitationId: 'j1', role: 'viewer', acceptedPosition: 50n } as const;
  const takenUp: AccessEvent = { type: 'InvitationAccepted', data: { ...person, invitationId: 'j1', claimedBy: 'c1' } };

  test('links the claimant of an invitation to another address, once', () => {
    given(accessDecider).when(linkClaimant).then([linked, takenUp]);
    given(accessDecider, [linked, unlinked]).when(linkClaimant).then([linked, takenUp]);
    expectRepeatable(accessDecider, [], linkClaimant);
  });

  test('keeps the role of a link that is there already', () => {
    const editor: AccessEvent = { type: 'ClientLinked', data: { ...person, role: 'editor' } };
    for (const role of ['viewer', 'editor'] as const) {
      given(accessDecider, [editor])
        .when({ ...linkClaimant, role })
        .then([takenUp]);
    }
    expectRepeatable(accessDecider, [editor], linkClaimant);
  });

  test('gives a viewer the role of editor that the invitation is for', () => {
    const raise = { ...linkClaimant, role: 'editor' } as const;
    const changed: AccessEvent = { type: 'ClientLinkRoleChanged', data: { ...person, role: 'editor', previousRole: 'viewer' } };
    given(accessDecider, [linked]).when(raise).then([changed, takenUp]);
    expectRepeatable(accessDecider, [linked], raise);
  });

  test('leaves a role that was decided since the invitation was accepted', () => {
    const raise = { ...linkClaimant, role: 'editor', acceptedPosition: 1n } as const;
    const lowered: AccessEvent = { type: 'ClientLinkRoleChanged', data: { ...person, role: 'viewer', previousRole: 'editor' } };
    const editor: AccessEvent = { type: 'ClientLinked', data: { ...person, role: 'editor' } };
    given(accessDecider, [editor, linked, lowered]).when(raise).then([takenUp]);
    given(accessDecider, [linked, unlinked, linked]).when(raise).then([takenUp]);
  });

  test('repeated after a removal gives no access, whether it made the link or found it', () => {
    for (const events of [[], [linked]]) {
      const { outcome } = given(accessDecider, events).when(linkClaimant);
      const first = isRefusal(outcome) ? [] : outcome;
      given(accessDecider, [...events, ...first, unlinked])
        .when(linkClaimant)
        .thenRefused(refusals.invitationNotFound('j1'));
    }
  });

  test("settles the person's own invitation, so that a removal later is final", () => {
    const settled: AccessEvent = { type: 'InvitationAccepted', data: { ...person, invitationId: 'i1', claimedBy: 'c1' } };
    given(accessDecider, [issued]).when(linkClaimant).then([linked, takenUp, settled]);
  });

  test('that goes on from an earlier claim does not undo a removal since', () => {
    given(accessDecider, [linked, unlinked])
      .when({ ...linkClaimant, acceptedPosition: 1n })
      .thenRefused(refusals.invitationNotFound('j1'));
    given(accessDecider)
      .when({ ...linkClaimant, acceptedPosition: 1n })
      .then([linked, takenUp]);
  });

  test('of another invitation links again after a removal', () => {
    given(accessDecider, [linked, takenUp, unlinked])
      .when({ ...linkClaimant, invitationId: 'j2' })
      .then([linked, { type: 'InvitationAccepted', data: { ...person, invitationId: 'j2', claimedBy: 'c1' } }]);
  });
});

describe('RestoreLink', () => {
  const restore = { type: 'RestoreLink', ...person } as const;
  const restored: AccessEvent = { type: 'ClientLinkRestored', data: { ...person, role: 'editor', linkedAt: earlier } };
  const changed: AccessEvent = { type: 'ClientLinkRoleChanged', data: { ...person, role: 'editor', previousRole: 'viewer' } };

  test('gives the link back as it was: with its last role, and since when it was there', () => {
    given(accessDecider, [linked, changed, unlinked]).when(restore).then([restored]);
    const state = stateAfter(accessDecider, [linked, changed, unlinked, restored]);
    expect([linkRole(state), state.linkedAt]).toEqual(['editor', earlier]);
  });

  test('works for 30 days after the last removal, to the millisecond', () => {
    const removedAgain = [linked, changed, unlinked, restored, recorded(unlinked, { revision: 4, at: days(20) })];
    const at = days(50);
    given(accessDecider, removedAgain)
      .when({ ...restore, at })
      .then([restored]);
    given(accessDecider, removedAgain)
      .when({ ...restore, at: new Date(Date.parse(at) + 1).toISOString() })
      .thenRefused(refusals.linkRemovedTooLongAgo('c1', 'w1'));
  });

  test('leaves a link as it is that was given again since', () => {
    given(accessDecider, [linked, changed, unlinked, linked]).when(restore).then([]);
  });

  test('refuses what was never removed, was never there, or is of the owner', () => {
    given(accessDecider, [linked]).when(restore).thenRefused(refusals.linkNotRemoved('c1', 'w1'));
    given(accessDecider, [issued]).when(restore).thenRefused(refusals.linkNotFound('c1', 'w1'));
    given(accessDecider, [linked, unlinked])
      .when({ ...restore, ownerId: 'c1' })
      .thenRefused(refusals.alreadyOwner());
  });

  test("settles the person's invitation since, so that a removal later is final", () => {
    const settled: AccessEvent = { type: 'InvitationAccepted', data: { ...person, invitationId: 'i1', claimedBy: 'c1' } };
    given(accessDecider, [linked, changed, unlinked, issued]).when(restore).then([restored, settled]);
  });
});

describe('the other commands', () => {
  test('RemoveClient of somebody never linked, and ChangeClientRole of somebody not linked, find nothing', () => {
    given(accessDecider)
      .when({ type: 'RemoveClient', ...person })
      .thenRefused(refusals.linkNotFound('c1', 'w1'));
    given(accessDecider, [linked, unlinked])
      .when({ type: 'ChangeClientRole', ...person, role: 'editor' })
      .thenRefused(refusals.linkNotFound('c1', 'w1'));
  });

  test('RevokeInvitation after a claim finds nothing: the claim has won', () => {
    given(accessDecider, [issued, linked, accepted])
      .when({ type: 'RevokeInvitation', ...person, invitationId: 'i1' })
      .thenRefused(refusals.invitationNotFound('i1'));
  });

  test('ResendInvitation renews a pending one and finds no other', () => {
    const resend = { type: 'ResendInvitation', ...person, invitationId: 'i1', at: days(2) } as const;
    given(accessDecider, [issued])
      .when(resend)
      .then([{ type: 'InvitationRenewed', data: { ...invitation, expiresAt: days(32) } }]);
    const { role: _, ...ofNoRole } = invitation;
    given(accessDecider, [{ type: 'InvitationIssued', data: ofNoRole }])
      .when(resend)
      .then([{ type: 'InvitationRenewed', data: { ...ofNoRole, expiresAt: days(32) } }]);
    given(accessDecider, [issued, revoked]).when(resend).thenRefused(refusals.invitationNotFound('i1'));
  });
});

// Adding an invited person again, and resending, are renewals: repeated later they renew again,
// which is what they are for.
test.each([
  [{ ...add, isRegistered: true }, [issued]],
  [claim, [issued]],
  [{ type: 'ChangeClientRole', ...person, role: 'editor' }, [linked]],
  [{ type: 'RemoveClient', ...person }, [linked]],
  [{ type: 'RestoreLink', ...person }, [linked, unlinked]],
  [{ type: 'RevokeInvitation', ...person, invitationId: 'i1' }, [issued]],
] as const)('%j repeated changes nothing', (command, events) => {
  expectRepeatable(accessDecider, [...events], command as never);
});

test('a renewal repeated at the same moment changes nothing but the role', () => {
  given(accessDecider, [issued]).when(add).then([]);
  given(accessDecider, [issued])
    .when({ ...add, role: 'editor' })
    .then([{ type: 'InvitationRenewed', data: { ...invitation, role: 'editor' } }]);
});

const command = fc.oneof(
  fc.record({
    type: fc.constant('AddClient' as const),
    email: fc.constant('a@x.org'),
    role: fc.constantFrom('viewer' as const, 'editor' as const),
    isRegistered: fc.boolean(),
  }),
  fc.record({
    type: fc.constant('ClaimInvitation' as const),
    verifiedEmail: fc.constantFrom('a@x.org', 'b@x.org'),
    claimedBy: fc.constantFrom('c1', 'c2'),
  }),
  fc.record({
    type: fc.constant('LinkClaimant' as const),
    role: fc.constantFrom('viewer' as const, 'editor' as const),
    acceptedPosition: fc.bigInt(0n, 30n),
  }),
  fc.record({
    type: fc.constantFrom(
      'RemoveClient' as const,
      'RestoreLink' as const,
      'RevokeInvitation' as const,
      'ResendInvitation' as const,
    ),
  }),
);

test('after any commands: no access after a removal, one pending invitation at most, and none of who is linked', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(command, fc.nat(3)), { maxLength: 30 }), (steps) => {
      const log: AccessEvent[] = [];
      steps.forEach(([input, which], index) => {
        const before = stateAfter(accessDecider, log);
        const invitationId = [...before.invitations.keys()][which] ?? 'none';
        const at = days(index, '2026-01-01T00:00:00.000Z');
        const id =
          input.type === 'AddClient' ? `i${String(index)}` : input.type === 'LinkClaimant' ? `j${String(which)}` : invitationId;
        const outcome = accessDecider.decide({ ...person, subject: 's', ...input, invitationId: id, at } as never, before);
        if (!isRefusal(outcome)) log.push(...outcome);
      });

      const state = log
        .map((event, revision) => recorded(event, { revision }))
        .reduce(accessDecider.evolve, accessDecider.initialState);
      const maxPending = linkRole(state) === undefined ? 1 : 0;
      expect([...state.invitations.values()].filter(({ stage }) => stage === 'pending').length).toBeLessThanOrEqual(maxPending);
      const last = log.findLast(({ type }) => type.startsWith('Client'));
      expect(linkRole(state) === undefined).toBe(last === undefined || last.type === 'ClientUnlinked');
      expect(new Set(state.takenUp).size).toBe(state.takenUp.length);
    }),
  );
});
