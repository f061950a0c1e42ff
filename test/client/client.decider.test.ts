import { describe, expect, test } from '@jest/globals';
import { clientDecider, clientEmailDecider, clientSubjectDecider } from '../../src/commands/client/client.decider.js';
import { refusals } from '../../src/commands/refusal.js';
import type { ClientEvent } from '../../src/events/client/client.events.js';
import { now, expectRepeatable, given, stateAfter } from '../support/given.js';

const after = (days: number): string => new Date(Date.parse(now) + days * 86_400_000).toISOString();

const registered: ClientEvent = { type: 'ClientRegistered', data: { clientId: 'c1', email: 'anna@example.com' } };

const change = { type: 'ChangeClient', clientId: 'c1', encryptedFor: 'anna@example.com', changeId: 'ch1' } as const;

describe('a client', () => {
  test('is registered once', () => {
    given(clientDecider).when({ type: 'RegisterClient', clientId: 'c1', email: 'anna@example.com' }).then([registered]);
    const withName = { type: 'RegisterClient', clientId: 'c1', email: 'anna@example.com', name: 'Anna' } as const;
    given(clientDecider)
      .when(withName)
      .then([{ type: 'ClientRegistered', data: { clientId: 'c1', email: 'anna@example.com', name: 'Anna' } }]);
    expectRepeatable(clientDecider, [], withName);
  });

  test('is renamed', () => {
    const rename = { ...change, name: 'Anna' };
    given(clientDecider, [registered])
      .when(rename)
      .then([{ type: 'ClientRenamed', data: { clientId: 'c1', name: 'Anna' } }]);
    expectRepeatable(clientDecider, [registered], rename);
  });

  test('loses the name', () => {
    const named: ClientEvent = { type: 'ClientRegistered', data: { clientId: 'c1', email: 'anna@example.com', name: 'Anna' } };
    const unname = { ...change, name: null };
    given(clientDecider, [named])
      .when(unname)
      .then([{ type: 'ClientNameRemoved', data: { clientId: 'c1' } }]);
    given(clientDecider, [registered]).when(unname).then([]);
    expectRepeatable(clientDecider, [named], unname);
  });

  test('is erased', () => {
    const erase = { type: 'EraseClient', clientId: 'c1' } as const;
    const erased: ClientEvent = { type: 'ClientErased', data: { clientId: 'c1' } };
    given(clientDecider, [registered]).when(erase).then([erased]);
    expectRepeatable(clientDecider, [registered], erase);
    given(clientDecider).when(erase).thenRefused(refusals.clientNotFound('c1'));
    for (const command of [
      { ...change, name: 'Anna' },
      { type: 'RegisterClient', clientId: 'c1', email: 'anna@example.com' },
    ] as const) {
      given(clientDecider, [registered, erased]).when(command).thenRefused(refusals.clientNotFound('c1'));
    }
  });

  test('that does not exist is not renamed', () => {
    given(clientDecider)
      .when({ ...change, name: 'Anna' })
      .thenRefused(refusals.clientNotFound('c1'));
  });
});

describe('a change of address', () => {
  const request = { ...change, email: 'anna@example.org' };
  const requested = (changeId = 'ch1', expiresAt = after(30)): ClientEvent => ({
    type: 'ClientEmailChangeRequested',
    data: { clientId: 'c1', changeId, email: 'anna@example.org', expiresAt },
  });
  const withdrawn: ClientEvent = { type: 'ClientEmailChangeWithdrawn', data: { clientId: 'c1', changeId: 'ch1' } };
  const confirm = { type: 'ConfirmAddressChange', clientId: 'c1', changeId: 'ch1', email: 'new' } as const;
  const changed: ClientEvent = {
    type: 'ClientEmailChanged',
    data: { clientId: 'c1', changeId: 'ch1', email: 'new', formerEmail: 'anna@example.com' },
  };

  test('is asked for together with a name, and not twice', () => {
    given(clientDecider, [registered])
      .when({ ...request, name: 'Anna' })
      .then([{ type: 'ClientRenamed', data: { clientId: 'c1', name: 'Anna' } }, requested()]);
    expectRepeatable(clientDecider, [registered], request);
    const named: ClientEvent = { type: 'ClientRenamed', data: { clientId: 'c1', name: 'Anna' } };
    given(clientDecider, [registered, named]).when(request).then([requested()]);
    given(clientDecider, [registered, requested()])
      .when({ ...request, changeId: 'ch2' })
      .then([]);
  });

  test('is asked for again once it has expired, or for another address', () => {
    given(clientDecider, [registered, requested('ch1', after(0))])
      .when({ ...request, changeId: 'ch2' })
      .then([requested('ch2')]);
    const other = { clientId: 'c1', changeId: 'ch2', email: 'anna@example.net', expiresAt: after(30) };
    given(clientDecider, [registered, requested()])
      .when({ ...request, email: other.email, changeId: 'ch2' })
      .then([{ type: 'ClientEmailChangeRequested', data: other }]);
  });

  test('is withdrawn by the present address', () => {
    const present = { ...change, email: 'anna@example.com' };
    given(clientDecider, [registered]).when(present).then([]);
    given(clientDecider, [registered, requested()]).when(present).then([withdrawn]);
    expectRepeatable(clientDecider, [registered, requested()], present);
  });

  test('is confirmed once, while it is pending', () => {
    given(clientDecider, [registered, requested()]).when(confirm).then([changed]);
    expectRepeatable(clientDecider, [registered, requested()], confirm);
    expect(stateAfter(clientDecider, [registered, requested(), changed])).toMatchObject({
      email: 'new',
      formerEmails: ['anna@example.com'],
    });
    const erased: ClientEvent = { type: 'ClientErased', data: { clientId: 'c1' } };
    for (const past of [
      [],
      [registered],
      [registered, requested(), withdrawn],
      [registered, requested(), requested('ch2')],
      [registered, requested('ch1', after(0))],
      [registered, requested(), erased],
    ]) {
      given(clientDecider, past).when(confirm).then([]);
    }
  });

  test('makes what was encrypted for the former address stale', () => {
    given(clientDecider, [registered, requested(), changed])
      .when({ ...change, name: 'Anna' })
      .thenRefused(refusals.stale());
  });
});

test('the first reservation of an address stays', () => {
  const reserved = { type: 'ClientEmailReserved', data: { clientId: 'c1' } } as const;
  given(clientEmailDecider).when({ type: 'ReserveClientEmail', emailIndex: 'a', clientId: 'c1' }).then([reserved]);
  given(clientEmailDecider, [reserved]).when({ type: 'ReserveClientEmail', emailIndex: 'a', clientId: 'c2' }).then([]);
  expect(stateAfter(clientEmailDecider, [reserved])).toEqual({ clientId: 'c1' });
});

test('an address is released by nobody but the client that holds it', () => {
  const reserved = { type: 'ClientEmailReserved', data: { clientId: 'c1' } } as const;
  const released = { type: 'ClientEmailReleased', data: { clientId: 'c1' } } as const;
  given(clientEmailDecider, [reserved]).when({ type: 'ReleaseClientEmail', emailIndex: 'a', clientId: 'c1' }).then([released]);
  expectRepeatable(clientEmailDecider, [reserved], { type: 'ReleaseClientEmail', emailIndex: 'a', clientId: 'c1' });
  given(clientEmailDecider, [reserved]).when({ type: 'ReleaseClientEmail', emailIndex: 'a', clientId: 'c2' }).then([]);
  given(clientEmailDecider, [reserved, released])
    .when({ type: 'ReserveClientEmail', emailIndex: 'a', clientId: 'c2' })
    .then([{ type: 'ClientEmailReserved', data: { clientId: 'c2' } }]);
});

test('a subject is bound to the client it claimed as last', () => {
  const bind = { type: 'BindClientSubject', subjectIndex: 'b', clientId: 'c1', subject: 's1' } as const;
  const bound = { type: 'ClientSubjectBound', data: { clientId: 'c1', subject: 's1' } } as const;
  given(clientSubjectDecider).when(bind).then([bound]);
  given(clientSubjectDecider, [bound])
    .when({ ...bind, clientId: 'c2' })
    .then([{ type: 'ClientSubjectBound', data: { clientId: 'c2', subject: 's1' } }]);
  expectRepeatable(clientSubjectDecider, [], bind);
});
