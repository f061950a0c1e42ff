import { describe, expect, test } from '@jest/globals';
import type { APIKeyEvent } from '../../src/events/apiKey/apiKey.events.js';
import { apiKeyProjection, type APIKeyDocument } from '../../src/projections/apiKey/apiKey.projection.js';
import { earlier, recorded } from '../support/given.js';

const minted: APIKeyEvent = {
  type: 'APIKeyMinted',
  data: {
    id: '01m7z9n43pabc',
    name: 'ci',
    hash: 'ab',
    prefix: 'svc_pat_0123',
    subject: 'ann',
    role: 'client',
    scope: 'read',
    verifiedEmail: 'ann@example.com',
    userName: 'Ann',
  },
};
const revoked: APIKeyEvent = { type: 'APIKeyRevoked', data: { id: '01m7z9n43pabc' } };

const document: APIKeyDocument = {
  id: '01m7z9n43pabc',
  name: 'ci',
  prefix: 'svc_pat_0123',
  subject: 'ann',
  verifiedEmail: 'ann@example.com',
  role: 'client',
  scope: 'read',
  createdAt: earlier,
};

const after = (...events: readonly APIKeyEvent[]): APIKeyDocument | null =>
  events.reduce<APIKeyDocument | null>((state, event) => apiKeyProjection.evolve(state, recorded(event)), null);

describe('the API key read model', () => {
  test('leaves out the hash, and the name of the owner', () => {
    expect(after(minted)).toStrictEqual(document);
  });

  test('has the time of expiry', () => {
    const expiresAt = '2030-01-01T00:00:00.000Z';
    expect(after({ ...minted, data: { ...minted.data, expiresAt } })).toStrictEqual({ ...document, expiresAt });
  });

  test('has the key whose token minted it', () => {
    const data = { ...minted.data, ancestorIds: ['parent', 'grandparent'] };
    expect(after({ ...minted, data })).toStrictEqual({ ...document, parentId: 'parent' });
  });

  test('removes a revoked key', () => {
    expect(after(minted, revoked)).toBeNull();
    expect(after(revoked)).toBeNull();
  });

  test('has its document where its stream says', () => {
    expect(apiKeyProjection.documentId(recorded(minted))).toBe('01m7z9n43pabc');
    expect(apiKeyProjection.stream('01m7z9n43pabc')).toBe('api-key-abc');
  });
});
