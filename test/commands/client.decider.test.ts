import { describe, expect, test } from '@jest/globals';
import { clientDecider, clientEmailDecider, clientSubjectDecider } from '../../src/commands/client.decider.js';
import { refusals } from '../../src/commands/refusal.js';
import type { ClientEvent } from '../../src/events/client.events.js';
import { expectRepeatable, given, stateAfter } from '../support/given.js';

const registered: ClientEvent = { type: 'ClientRegistered', data: { clientId: 'c1', email: 'anna@example.com' } };

describe('a client', () => {
  test('is registered once', () => {
    given(clientDecider).when({ type: 'RegisterClient', clientId: 'c1', email: 'anna@example.com' }).then([registered]);
    expectRepeatable(clientDecider, [], { type: 'RegisterClient', clientId: 'c1', email: 'anna@example.com', name: 'Anna' });
  });

  test('is renamed', () => {
    const rename = { type: 'RenameClient', clientId: 'c1', name: 'Anna' } as const;
    given(clientDecider, [registered])
      .when(rename)
      .then([{ type: 'ClientRenamed', data: { clientId: 'c1', name: 'Anna' } }]);
    expectRepeatable(clientDecider, [registered], rename);
  });

  test('that does not exist is not renamed', () => {
    given(clientDecider).when({ type: 'RenameClient', clientId: 'c1', name: 'Anna' }).thenRefused(refusals.clientNotFound('c1'));
  });
});

test('the first reservation of an address stays', () => {
  const reserved = { type: 'ClientEmailReserved', data: { clientId: 'c1' } } as const;
  given(clientEmailDecider).when({ type: 'ReserveClientEmail', clientId: 'c1' }).then([reserved]);
  given(clientEmailDecider, [reserved]).when({ type: 'ReserveClientEmail', clientId: 'c2' }).then([]);
  expect(stateAfter(clientEmailDecider, [reserved])).toEqual({ clientId: 'c1' });
});

test('a subject is bound to the client it claimed as last', () => {
  const bind = { type: 'BindClientSubject', clientId: 'c1', subject: 's1' } as const;
  const bound = { type: 'ClientSubjectBound', data: { clientId: 'c1', subject: 's1' } } as const;
  given(clientSubjectDecider).when(bind).then([bound]);
  given(clientSubjectDecider, [bound])
    .when({ ...bind, clientId: 'c2' })
    .then([{ type: 'ClientSubjectBound', data: { clientId: 'c2', subject: 's1' } }]);
  expectRepeatable(clientSubjectDecider, [], bind);
});
