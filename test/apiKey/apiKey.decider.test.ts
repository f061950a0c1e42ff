import { describe, expect, test } from '@jest/globals';
import { apiKeyDecider, deviceGrantDecider, subjectKeysDecider } from '../../src/commands/apiKey/apiKey.decider.js';
import { refusals } from '../../src/commands/refusal.js';
import type { APIKeyEvent, DeviceGrantEvent, SubjectKeysEvent } from '../../src/events/apiKey/apiKey.events.js';
import { earlier, expectRepeatable, given, now, stateAfter } from '../support/given.js';
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
const revoke = { type: 'RevokeAPIKey', key, id: 'k1', subject: 'ann', callerRole: 'client' } as const;
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

describe('an API key that a token mints', () => {
  const parent = { id: 'p1', scope: 'write', ancestorIds: ['p0'] } as const;
  const end = '2026-01-03T00:00:00.000Z';
  const sooner = '2026-01-02T12:00:00.000Z';
  const ancestorIds = ['p1', 'p0'];

  test('stands on that token and on what that one stands on', () => {
    given(apiKeyDecider)
      .when({ ...mint, parent })
      .then([{ type: 'APIKeyMinted', data: { ...data, ancestorIds } }]);
  });

  test.each([
    [undefined, end],
    [end, end],
    [sooner, sooner],
    ['2026-01-03T00:00:00.001Z', 'refused'],
  ])('asked to end at %s, ends at %s', (expiresAt, expected) => {
    const decided = given(apiKeyDecider).when({ ...mint, expiresAt, parent: { ...parent, expiresAt: end } });
    if (expected === 'refused') {
      decided.thenRefused(refusals.invalidBody('expiresAt', 'must not be later than the expiry of the token that mints the key'));
    } else {
      decided.then([{ type: 'APIKeyMinted', data: { ...data, expiresAt: expected, ancestorIds } }]);
    }
  });

  test.each(['read', 'write'] as const)('to %s is refused to one that only reads', (scope) => {
    given(apiKeyDecider)
      .when({ ...mint, scope, parent: { ...parent, scope: 'read' } })
      .thenRefused(refusals.readOnlyToken());
  });
});

describe('revoking an API key', () => {
  const ofAdmin: APIKeyEvent = { type: 'APIKeyMinted', data: { ...data, role: 'admin' } };

  test('of the admin role is for admins', () => {
    given(apiKeyDecider, [ofAdmin]).when(revoke).thenRefused(refusals.apiKeyNotFound('k1'));
    given(apiKeyDecider, [ofAdmin])
      .when({ ...revoke, callerRole: 'admin' })
      .then([revoked]);
  });

  test('of anybody is asked for by naming nobody', () => {
    given(apiKeyDecider, [minted])
      .when({ ...revoke, subject: undefined, callerRole: 'admin' })
      .then([revoked]);
  });
});

describe('the keys of a subject', () => {
  const subjectIndex = 'index';
  const counted = (id: string, expiresAt?: string): SubjectKeysEvent => ({
    type: 'APIKeyCounted',
    data: { id, ancestorIds: [], ...(expiresAt !== undefined && { expiresAt }) },
  });
  const count = (id: string) => ({ type: 'CountAPIKey', subjectIndex, key: { id, ancestorIds: [] } }) as const;
  const many = (length: number): SubjectKeysEvent[] => Array.from({ length }, (_, index) => counted(`k${index}`));
  const release = { type: 'ReleaseAPIKeys', subjectIndex, ids: ['k0', 'unknown'] } as const;
  const released: SubjectKeysEvent = { type: 'APIKeysReleased', data: { ids: ['k0'] } };

  test('are counted up to fifty', () => {
    given(subjectKeysDecider, many(49))
      .when(count('new'))
      .then([counted('new')]);
    given(subjectKeysDecider, many(50)).when(count('new')).thenRefused(refusals.tooManyApiKeys());
    expectRepeatable(subjectKeysDecider, many(49), count('new'));
  });

  test('count with their end and what they stand on', () => {
    const counting = { id: 'k', expiresAt: '2030-01-01T00:00:00.000Z', ancestorIds: ['p'] };
    given(subjectKeysDecider)
      .when({ type: 'CountAPIKey', subjectIndex, key: counting })
      .then([{ type: 'APIKeyCounted', data: counting }]);
  });

  test.each([
    [earlier, true],
    [now, true],
    ['2026-01-02T00:00:00.001Z', false],
  ])('that end at %s make room: %s', (expiresAt, makesRoom) => {
    const decided = given(subjectKeysDecider, [...many(49), counted('brief', expiresAt)]).when(count('new'));
    if (makesRoom) decided.then([counted('new')]);
    else decided.thenRefused(refusals.tooManyApiKeys());
  });

  test('that have ended are forgotten with the next one', () => {
    expect(stateAfter(subjectKeysDecider, [counted('old', earlier), counted('new')])).toStrictEqual({
      keys: [{ id: 'new', ancestorIds: [] }],
    });
  });

  test('that were released make room, once', () => {
    given(subjectKeysDecider, many(50)).when(release).then([released]);
    expectRepeatable(subjectKeysDecider, many(50), release);
    given(subjectKeysDecider, [...many(50), released])
      .when(count('new'))
      .then([counted('new')]);
  });
});

describe('the grant of a device', () => {
  const exchange = { type: 'ExchangeDeviceGrant', grantIndex: 'g', apiKeyId: 'k1' } as const;
  const exchanged: DeviceGrantEvent = { type: 'DeviceGrantExchanged', data: { apiKeyId: 'k1' } };

  test('is exchanged once', () => {
    given(deviceGrantDecider).when(exchange).then([exchanged]);
    expectRepeatable(deviceGrantDecider, [], exchange);
    given(deviceGrantDecider, [exchanged])
      .when({ ...exchange, apiKeyId: 'k2' })
      .thenRefused(refusals.deviceGrantExchanged());
  });
});
