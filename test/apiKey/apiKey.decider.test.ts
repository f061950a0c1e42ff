import { describe, expect, test } from '@jest/globals';
import { apiKeyDecider } from '../../src/commands/apiKey/apiKey.decider.js';
import { refusals } from '../../src/commands/refusal.js';
import type { APIKeyEvent } from '../../src/events/apiKey/apiKey.events.js';
import { expectRepeatable, given, now } from '../support/given.js';
import { apiKeyId, apiKeyStream, keyOfId } from '../../src/events/apiKey/apiKey.stream.js';

const data = {
  id: 'k1',
  name: 'ci',
  hash: 'ab',
  prefix: 'svc_pat_0123',
  subject: 'ann',
  role: 'client',
  scope: 'write',
} as const;
const key = 'k';
const mint = { type: 'MintAPIKey', key, ...data, callerRole: 'client' } as const;
const minted: APIKeyEvent = { type: 'APIKeyMinted', data };
const revoke = { type: 'RevokeAPIKey', key, id: 'k1', subject: 'ann' } as const;
const revoked: APIKeyEvent = { type: 'APIKeyRevoked', data: { id: 'k1' } };

describe('an API key', () => {
  test('is minted once', () => {
    given(apiKeyDecider).when(mint).then([minted]);
    expectRepeatable(apiKeyDecider, [], mint);
  });

  test('carries what is known of its owner, and nothing that is not', () => {
    const known = { verifiedEmail: 'ann@example.com', userName: 'Ann', expiresAt: '2030-01-01T00:00:00.000Z' };
    given(apiKeyDecider)
      .when({ ...mint, ...known })
      .then([{ type: 'APIKeyMinted', data: { ...data, ...known } }]);
    given(apiKeyDecider)
      .when({ ...mint, verifiedEmail: undefined, userName: undefined, expiresAt: undefined })
      .then([minted]);
  });

  test.each([
    ['admin', 'admin', true],
    ['admin', 'client', true],
    ['client', 'client', true],
    ['client', 'admin', false],
  ] as const)('of a %s for the role %s: %s', (callerRole, role, isAllowed) => {
    const decided = given(apiKeyDecider).when({ ...mint, callerRole, role });
    if (isAllowed) decided.then([{ type: 'APIKeyMinted', data: { ...data, role } }]);
    else decided.thenRefused(refusals.apiKeyRoleTooHigh());
  });

  test.each([now, '2020-01-01T00:00:00.000Z'])('that lapses by %s is refused', (expiresAt) => {
    given(apiKeyDecider)
      .when({ ...mint, expiresAt })
      .thenRefused(refusals.invalidBody('expiresAt', 'must be in the future'));
  });

  test('is revoked by its owner, once', () => {
    given(apiKeyDecider, [minted]).when(revoke).then([revoked]);
    expectRepeatable(apiKeyDecider, [minted], revoke);
  });

  test.each([
    ['that does not exist', [], revoke],
    ['of somebody else', [minted], { ...revoke, subject: 'bob' }],
    ['named by another id', [minted], { ...revoke, id: 'k2' }],
  ])('%s is not found', (_what, events, command) => {
    given(apiKeyDecider, events).when(command).thenRefused(refusals.apiKeyNotFound(command.id));
  });

  test('that was revoked stays so', () => {
    given(apiKeyDecider, [minted, revoked]).when(mint).then([]);
  });
});

test('the public id leads to the stream', () => {
  const id = apiKeyId('01m7z9n43p0000000000000000', 'abcdefghijkmnpqrstvwxyz012');
  expect(id).toBe('01m7z9n43pabcdefghijkmnpqrstvwxyz012');
  expect(apiKeyStream.name({ key: keyOfId(id) })).toBe('api-key-abcdefghijkmnpqrstvwxyz012');
  expect(apiKeyStream.name({ key: keyOfId('short') })).toBe('api-key-');
});
