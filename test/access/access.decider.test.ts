import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { accessDecider } from '../../src/commands/access/access.decider.js';
import { isRefusal } from '../../src/commands/decider.js';
import { refusals } from '../../src/commands/refusal.js';
import type { AccessEvent } from '../../src/events/access/access.events.js';
import { expectRepeatable, given, now, recorded, stateAfter } from '../support/given.js';
import { linkRole } from '../../src/events/access/access.state.js';

const days = (count: number, from = now): string => new Date(Date.parse(from) + count * 86_400_000).toISOString();

const add = { type: 'AddClient', websiteId: 'w1', email: 'anna@example.com', role: 'viewer', invitationId: 'i1' } as const;
const claim = {
  type: 'ClaimInvitation',
  websiteId: 'w1',
  invitationId: 'i1',
  subject: 's1',
  verifiedEmail: 'anna@example.com',
  clientId: 'c1',
} as const;

const issued: AccessEvent = {
  type: 'InvitationIssued',
  data: {
    websiteId: 'w1',
    invitationId: 'i1',
    kind: 'client_access',
    email: 'anna@example.com',
    role: 'viewer',
    expiresAt: days(30),
    sendMail: true,
  },
};
const linked: AccessEvent = { type: 'ClientLinked', data: { websiteId: 'w1', clientId: 'c1', role: 'viewer' } };
const unlinked: AccessEvent = { type: 'ClientUnlinked', data: { websiteId: 'w1', clientId: 'c1' } };
const accepted: AccessEvent = {
  type: 'InvitationAccepted',
  data: { websiteId: 'w1', invitationId: 'i1', clientId: 'c1', subject: 's1' },
};
const revoked: AccessEvent = { type: 'InvitationRevoked', data: { websiteId: 'w1', invitationId: 'i1' } };

describe('WithdrawClient', () => {
  const withdraw = { type: 'WithdrawClient', websiteId: 'w1', clientId: 'c1', email: 'anna@example.com' } as const;
  const others: AccessEvent[] = [
    { type: 'ClientLinked', data: { websiteId: 'w1', clientId: 'c2', role: 'editor' } },
    { ...issued, data: { ...issued.data, invitationId: 'i2', email: 'berta@example.com' } },
  ];

  test('takes the link and every pending invitation of the address, and nothing of others', () => {
    given(accessDecider, [...others, linked, issued])
      .when(withdraw)
      .then([unlinked, revoked]);
    given(accessDecider, [...others, issued, linked, accepted])
      .when(withdraw)
      .then([unlinked]);
    given(accessDecider, others).when(withdraw).then([]);
    given(accessDecider).when(withdraw).then([]);
    expectRepeatable(accessDecider, [...others, linked, issued], withdraw);
  });
});

describe('AddClient', () => {
  test('links a known client at once; nothing asks for a mail', () => {
    given(accessDecider)
      .when({ ...add, clientId: 'c1' })
      .then([linked]);
  });

  test('invites an unknown address for 30 days, with a mail', () => {
    given(accessDecider).when(add).then([issued]);
  });

  test('gives a linked client the role asked for now', () => {
    given(accessDecider, [linked])
      .when({ ...add, clientId: 'c1', role: 'editor' })
      .then([
        { type: 'ClientLinkRoleChanged', data: { websiteId: 'w1', clientId: 'c1', role: 'editor', previousRole: 'viewer' } },
      ]);
  });

  test('renews a pending invitation under its id, with the role asked for now', () => {
    given(accessDecider, [issued])
      .when({ ...add, invitationId: 'i2', role: 'editor', at: days(1) })
      .then([{ type: 'InvitationRenewed', data: { ...issued.data, role: 'editor', expiresAt: days(31) } }]);
  });

  test('renews an expired invitation', () => {
    given(accessDecider, [issued])
      .when({ ...add, invitationId: 'i2', at: days(40) })
      .then([{ type: 'InvitationRenewed', data: { ...issued.data, expiresAt: days(70) } }]);
  });

  test('of a client who was invited before settles the invitation, so that a removal later is final', () => {
    given(accessDecider, [issued])
      .when({ ...add, clientId: 'c1' })
      .then([linked, { type: 'InvitationAccepted', data: { websiteId: 'w1', invitationId: 'i1', clientId: 'c1' } }]);
  });

  test('invites again after a revocation, under a new id', () => {
    given(accessDecider, [issued, revoked])
      .when({ ...add, invitationId: 'i2' })
      .then([{ ...issued, data: { ...issued.data, invitationId: 'i2' } }]);
  });

  test('of the owner is refused', () => {
    given(accessDecider)
      .when({ ...add, clientId: 'c1', ownerId: 'c1' })
      .thenRefused(refusals.alreadyOwner());
  });
});

describe('ClaimInvitation', () => {
  test('creates the link and marks the invitation accepted', () => {
    given(accessDecider, [issued]).when(claim).then([linked, accepted]);
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

  test('of an expired one finds nothing; a millisecond before, it holds', () => {
    given(accessDecider, [issued])
      .when({ ...claim, at: days(30) })
      .thenRefused(refusals.invitationNotFound('i1'));
    given(accessDecider, [issued])
      .when({ ...claim, at: new Date(Date.parse(days(30)) - 1).toISOString() })
      .then([linked, accepted]);
  });

  test('keeps the role of a link that is there already', () => {
    const editor: AccessEvent = { type: 'ClientLinked', data: { websiteId: 'w1', clientId: 'c1', role: 'editor' } };
    given(accessDecider, [issued, editor]).when(claim).then([accepted]);
  });

  test('by the owner is refused', () => {
    given(accessDecider, [issued])
      .when({ ...claim, ownerId: 'c1' })
      .thenRefused(refusals.alreadyOwner());
  });
});

describe('the other commands', () => {
  test('RemoveClient of somebody never linked, and ChangeClientRole of somebody not linked, find nothing', () => {
    given(accessDecider)
      .when({ type: 'RemoveClient', websiteId: 'w1', clientId: 'c1' })
      .thenRefused(refusals.linkNotFound('c1', 'w1'));
    given(accessDecider, [linked, unlinked])
      .when({ type: 'ChangeClientRole', websiteId: 'w1', clientId: 'c1', role: 'editor' })
      .thenRefused(refusals.linkNotFound('c1', 'w1'));
  });

  test('RevokeInvitation after a claim finds nothing: the claim has won', () => {
    given(accessDecider, [issued, linked, accepted])
      .when({ type: 'RevokeInvitation', websiteId: 'w1', invitationId: 'i1' })
      .thenRefused(refusals.invitationNotFound('i1'));
  });

  test('ResendInvitation renews a pending one and finds no other', () => {
    const resend = { type: 'ResendInvitation', websiteId: 'w1', invitationId: 'i1', at: days(2) } as const;
    given(accessDecider, [issued])
      .when(resend)
      .then([{ type: 'InvitationRenewed', data: { ...issued.data, expiresAt: days(32) } }]);
    given(accessDecider, [issued, revoked]).when(resend).thenRefused(refusals.invitationNotFound('i1'));
  });
});

// Adding an invited person again, and resending, are renewals: repeated later they renew again, which is what they are for.
test.each([
  [{ ...add, clientId: 'c1' }, [issued]],
  [claim, [issued]],
  [{ type: 'ChangeClientRole', websiteId: 'w1', clientId: 'c1', role: 'editor' }, [linked]],
  [{ type: 'RemoveClient', websiteId: 'w1', clientId: 'c1' }, [linked]],
  [{ type: 'RevokeInvitation', websiteId: 'w1', invitationId: 'i1' }, [issued]],
] as const)('%j repeated changes nothing', (command, events) => {
  expectRepeatable(accessDecider, [...events], command as never);
});

test('a renewal repeated at the same moment changes nothing', () => {
  given(accessDecider, [issued]).when(add).then([]);
});

const command = fc.oneof(
  fc.record({
    type: fc.constant('AddClient' as const),
    email: fc.constantFrom('a@x.org', 'b@x.org'),
    role: fc.constantFrom('viewer' as const, 'editor' as const),
    clientId: fc.constantFrom(undefined, 'c1', 'c2'),
  }),
  fc.record({
    type: fc.constant('ClaimInvitation' as const),
    verifiedEmail: fc.constantFrom('a@x.org', 'b@x.org'),
    clientId: fc.constantFrom('c1', 'c2'),
  }),
  fc.record({ type: fc.constant('RemoveClient' as const), clientId: fc.constantFrom('c1', 'c2') }),
  fc.record({ type: fc.constantFrom('RevokeInvitation' as const, 'ResendInvitation' as const) }),
);

test('after any commands: nobody has access whose last word was a removal, and an address has at most one pending invitation', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(command, fc.nat(3)), { maxLength: 30 }), (steps) => {
      const log: AccessEvent[] = [];
      steps.forEach(([wish, which], index) => {
        const before = stateAfter(accessDecider, log);
        const invitationId = [...before.invitations.keys()][which] ?? 'none';
        const at = days(index, '2026-01-01T00:00:00.000Z');
        const id = wish.type === 'AddClient' ? `i${String(index)}` : invitationId;
        const outcome = accessDecider.decide({ websiteId: 'w1', subject: 's', ...wish, invitationId: id, at } as never, before);
        if (!isRefusal(outcome)) log.push(...outcome);
      });

      const state = log
        .map((event, revision) => recorded(event, { revision }))
        .reduce(accessDecider.evolve, accessDecider.initialState);
      const pending = [...state.invitations.values()].filter(({ stage }) => stage === 'pending').map(({ email }) => email);
      expect(new Set(pending).size).toBe(pending.length);
      for (const clientId of ['c1', 'c2']) {
        const last = log.findLast(
          (event) => event.type.startsWith('Client') && 'clientId' in event.data && event.data.clientId === clientId,
        );
        expect(linkRole(state, clientId) === undefined).toBe(last === undefined || last.type === 'ClientUnlinked');
      }
    }),
  );
});
