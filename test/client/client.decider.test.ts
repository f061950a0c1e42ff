import { describe, expect, test } from '@jest/globals';
import { clientDecider, clientEmailDecider, clientSubjectDecider } from '../../src/commands/client/client.decider.js';
import { refusals } from '../../src/commands/refusal.js';
import type { ClientEvent } from '../../src/events/client/client.events.js';
import { expectRepeatable, given, stateAfter } from '../support/given.js';

const registered: ClientEvent = { type: 'ClientRegistered', data: { clientId: 'c1', email: 'anna@example.com' } };

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
    const rename = { type: 'RenameClient', clientId: 'c1', name: 'Anna' } as const;
    given(clientDecider, [registered])
      .when(rename)
      .then([{ type: 'ClientRenamed', data: { clientId: 'c1', name: 'Anna' } }]);
    expectRepeatable(clientDecider, [registered], rename);
  });

  test('is erased', () => {
    const erase = { type: 'EraseClient', clientId: 'c1' } as const;
    const erased: ClientEvent = { type: 'ClientErased', data: { clientId: 'c1' } };
    given(clientDecider, [registered]).when(erase).then([erased]);
    expectRepeatable(clientDecider, [registered], erase);
    given(clientDecider).when(erase).thenRefused(refusals.clientNotFound('c1'));
    for (const command of [
      { type: 'RenameClient', clientId: 'c1', name: 'Anna' },
      { type: 'RegisterClient', clientId: 'c1', email: 'anna@example.com' },
    ] as const) {
      given(clientDecider, [registered, erased]).when(command).thenRefused(refusals.clientNotFound('c1'));
    }
  });

  test('that does not exist is not renamed', () => {
    given(clientDecider).when({ type: 'RenameClient', clientId: 'c1', name: 'Anna' }).thenRefused(refusals.clientNotFound('c1'));
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
