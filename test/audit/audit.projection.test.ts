import { describe, expect, test } from '@jest/globals';
import { auditedTypes, personKeysIn } from '../../src/events/audited.js';
import { catalogue, personalFields } from '../../src/events/catalogue.js';
import type { Recorded } from '../../src/events/envelope.js';
import { auditProjection, auditTime, type AuditDocument } from '../../src/projections/audit/audit.projection.js';
import { auditedPlace } from '../../src/projections/audit/audit.queries.js';
import { recorded } from '../support/given.js';
import { readGolden } from '../support/golden.js';

const actor = { subject: 'ops@example.com', role: 'admin', via: 'portal' } as const;
const key = 'k'.repeat(26);
const stream = 'seo-run-2026-01-01T00:00:00.000Z';

const eventOf = (type: string, data: object, more: Parameters<typeof recorded>[1] = {}): Recorded =>
  recorded({ type, data }, { actor, ...more });

test.each([
  ['of a website', 'WebsiteRenamed', { websiteId: 'w1', name: 'Bakery' }, { actor: 'ops@example.com', websiteId: 'w1' }],
  [
    'about clients',
    'WebsiteOwnerAssigned',
    { websiteId: 'w1', clientId: 'c2', previousClientId: 'c1' },
    { actor: 'ops@example.com', websiteId: 'w1', people: ['c2', 'c1'] },
  ],
  [
    'with personal data',
    'ClientRegistered',
    { clientId: 'c1', email: `encrypted:${key}:abc`, name: `encrypted:${key}:def` },
    { actor: 'ops@example.com', people: ['c1', key] },
  ],
  ['about nobody', 'APIKeyRevoked', { id: 'k1' }, { actor: 'ops@example.com' }],
])('an event %s', (_, type, data, document) => {
  expect(auditProjection.evolve(null, eventOf(type, data, { stream }))).toStrictEqual({ ...document, stream });
});

test('an event by somebody whose subject is an address is about them', () => {
  const subject = `encrypted:${key}:abc`;
  const event = eventOf('APIKeyRevoked', { id: 'k1' }, { stream, actor: { ...actor, subject } });
  expect(auditProjection.evolve(null, event)).toStrictEqual({ actor: subject, people: [key], stream });
});

test('each handled type of the golden file makes a document, with the people in it', () => {
  const golden = readGolden();
  expect(auditProjection.handles.length).toBeGreaterThan(60);
  for (const type of auditProjection.handles) {
    const examples = Object.values(golden[type] ?? {}).flatMap((version) => version.examples);
    expect([type, examples.length > 0]).toEqual([type, true]);
    for (const { stored, today = stored } of examples) {
      const document = auditProjection.evolve(null, Object.freeze(eventOf(type, today)));
      expect(JSON.parse(JSON.stringify(document))).toStrictEqual(document);
      for (const person of personKeysIn(today)) expect(document?.people).toContain(person);
    }
  }
});

describe('the id of a document', () => {
  const at = '2026-01-03T00:00:00.123Z';
  const id = (more: { revision?: number; at?: string }): string =>
    auditProjection.documentId(eventOf('SeoRunDue', {}, { stream, at, ...more }));

  test('leads to its event, as that of version 2 does', () => {
    const place = id({});
    const body: AuditDocument = { actor: 'ops@example.com' };
    const found = { place, stream, revision: 7n };
    expect(auditedPlace({ id: place, revision: 7n, position: 9n, body: { ...body, stream } })).toEqual(found);
    expect(auditedPlace({ id: `${place}.7.${stream}`, revision: 7n, position: 9n, body })).toEqual(found);
  });

  test('sorts by time, then by the place in the log', () => {
    const sorted = [id({ revision: 9 }), id({ revision: 10 }), id({ revision: 2, at: '2026-01-03T00:00:00.124Z' })];
    expect([...sorted].reverse().sort()).toStrictEqual(sorted);
    expect(id({}) >= auditTime(Date.parse(at))).toBe(true);
    expect(id({}) < auditTime(Date.parse(at) + 1)).toBe(true);
  });

  test('there is one for an event whose time is unknown', () => {
    expect(id({ at: 'unknown' })).toMatch(/^0{10}/);
  });
});

describe('what is audited', () => {
  test('is each type but leases and reservations', () => {
    const left = Object.keys(catalogue).filter((type) => !auditedTypes.includes(type));
    expect(left.filter((type) => !/(?:LeaseRenewed|Started)$/.test(type)).sort()).toStrictEqual([
      'APIKeyCounted',
      'APIKeysReleased',
      'ClientEmailReleased',
      'ClientEmailReserved',
      'DeploymentLeaseAcquired',
      'DeploymentLeaseReleased',
      'LogNamed',
      'SlugReleased',
      'SlugReserved',
      'WebhookContentClaimed',
      'WebhookIgnored',
    ]);
  });

  test('is each type with personal data, so that nobody is left out of what is kept about them', () => {
    const personal = Object.entries(personalFields).filter(([, fields]) => fields.length > 0);
    expect(personal.map(([type]) => type).filter((type) => !auditedTypes.includes(type))).toStrictEqual([]);
  });

  test('an unhandled event changes nothing', () => {
    expect(auditProjection.evolve(null, eventOf('LogNamed', {}))).toBeNull();
  });
});
