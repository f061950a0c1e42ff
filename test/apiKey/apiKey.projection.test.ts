import { apiKeyEvents } from '../../src/events/apiKey/apiKey.events.js';
import { apiKeyProjection, type APIKeyDocument } from '../../src/projections/apiKey/apiKey.projection.js';
import { describeProjection, happened } from '../support/projectionCases.js';

/** It ends with the key of its stream. */
const id = '01m7z9n43pabc';

const minted = {
  id,
  name: 'ci',
  hash: 'ab',
  prefix: 'svc_pat_0123',
  subject: 'ann',
  role: 'client',
  scope: 'read',
  verifiedEmail: 'ann@example.com',
  userName: 'Ann',
} as const;

const document: APIKeyDocument = {
  id,
  name: 'ci',
  prefix: 'svc_pat_0123',
  subject: 'ann',
  verifiedEmail: 'ann@example.com',
  role: 'client',
  scope: 'read',
  createdAt: happened,
};

const { verifiedEmail: _, userName: __, ...withoutAddress } = minted;
const { verifiedEmail: ___, ...documentWithoutAddress } = document;
const expiresAt = '2030-01-01T00:00:00.000Z';

describeProjection(
  apiKeyProjection,
  [apiKeyEvents],
  {
    APIKeyMinted: [
      { shows: 'neither the hash nor the name of the owner', when: minted, then: document },
      { shows: 'no address that nobody vouches for', when: withoutAddress, then: documentWithoutAddress },
      { shows: 'the time of expiry', when: { ...minted, expiresAt }, then: { ...document, expiresAt } },
      {
        shows: 'the key whose token minted it',
        when: { ...minted, ancestorIds: ['parent', 'grandparent'] },
        then: { ...document, parentId: 'parent' },
      },
    ],
    APIKeyRevoked: [{ given: document, when: { id }, then: null }],
  },
  id,
);
