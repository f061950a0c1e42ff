import { cpSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from '@jest/globals';
import { projections } from '../../src/projections/catalogue.js';
import { eventually } from '../support/eventually.js';
import { createApi, mintToken, operate, startServer, type Api } from '../support/server.js';
import { temporaryFolder } from '../support/temporary.js';

const folders = fileURLToPath(new URL('../fixtures/dataFolders/', import.meta.url));
const versions = readdirSync(folders, { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name);

/** What `scripts/fixtureDataFolder.mjs` wrote down of the folder. */
interface Contents {
  /** Of an admin. */
  readonly token: string;
  readonly apiKeyId: string;
  readonly websiteId: string;
  readonly archivedId: string;
  readonly clientId: string;
  readonly pendingInvitationId: string;
  readonly acceptedInvitationId: string;
  readonly transferId: string;
  readonly invoiceId: string;
  readonly bookingId: string;
  readonly serviceId: string;
}

const get = async <Body>(api: Api, path: string): Promise<Body> => {
  const { status, body } = await api.get(path);
  expect({ path, status, body }).toEqual({ path, status: 200, body });
  return body as Body;
};

/** Everything that the folder holds and that no later start changes. */
const readAll = async (admin: Api, owner: Api, { websiteId, archivedId, clientId }: Contents) => ({
  website: await get(admin, `/websites/${websiteId}`),
  websites: await get<unknown[]>(admin, '/websites'),
  archived: await get<unknown[]>(admin, '/websites?archived=true'),
  archivedWebsite: await get(admin, `/websites/${archivedId}`),
  client: await get(admin, `/clients/${clientId}`),
  clients: await get<unknown[]>(admin, '/clients'),
  people: await get<{ links: unknown[] }>(admin, `/websites/${websiteId}/clients`),
  transfers: await get<unknown[]>(admin, `/websites/${websiteId}/transfers`),
  provisioning: await get(admin, `/websites/${websiteId}/provisioning`),
  delivery: await get(admin, `/websites/${websiteId}/delivery`),
  history: await get<unknown[]>(admin, `/websites/${websiteId}/delivery/history`),
  bookings: await get<unknown[]>(owner, `/websites/${websiteId}/bookings?from=2100-01-01T00:00:00Z`),
  services: await get<unknown[]>(admin, `/websites/${websiteId}/services`),
  billing: await get(owner, `/websites/${websiteId}/billing`),
  seo: await get(owner, `/websites/${websiteId}/seo`),
});

/** The scans of a Monday that passed since the folder was made would be caught up with, at a site that is elsewhere by now. */
const noScans = { SEO_SCAN_CRON: '0 4 29 2 *' };

describe.each(versions)('the data folder of version %s', (version) => {
  const contents = JSON.parse(readFileSync(join(folders, version, 'contents.json'), 'utf8')) as Contents;
  const { websiteId, archivedId, clientId, pendingInvitationId, acceptedInvitationId, transferId } = contents;

  test('is read, written, and its projections are rebuilt', async () => {
    const folder = join(temporaryFolder(), 'data');
    cpSync(join(folders, version), folder, { recursive: true });
    const ownerToken = await mintToken(folder, 'client', 'olga.owner@example.com');
    const server = await startServer(folder, noScans);
    const admin = createApi(server.address, contents.token);
    const owner = createApi(server.address, ownerToken);

    const all = await readAll(admin, owner, contents);
    expect(all).toMatchObject({
      website: {
        ...{ id: websiteId, name: 'Corner Bakery', slug: 'corner-bakery', status: 'active', tier: 'scale' },
        ...{ brandColor: '#336699', features: ['analytics', 'seo', 'scheduling', 'commerce'] },
      },
      websites: [{ id: websiteId }],
      archived: [{ id: archivedId }],
      archivedWebsite: { name: 'Attic', archivedAt: expect.any(String) },
      client: { id: clientId, email: 'vera.viewer@example.com', name: 'Vera Viewer' },
      people: { owner: { email: 'olga.owner@example.com' } },
      transfers: [{ id: transferId, email: 'olga.owner@example.com', status: 'accepted' }],
      provisioning: { status: 'succeeded' },
      delivery: {
        ...{ estimatedCompletionAt: '2031-05-01T00:00:00.000Z', showPreviewUrl: true, revision: 4 },
        checkpoints: [
          { id: 'design', label: 'Design', status: 'done', completedAt: expect.any(String) },
          { id: 'launch', label: 'Launch', status: 'pending' },
        ],
      },
      history: [
        { type: 'DeliverySetUp' },
        { type: 'DeliveryReplaced', actor: { subject: 'ops@example.com' }, reason: 'The photos came late', reasonVisible: true },
        { type: 'DeliveryCheckpointStatusSet' },
        { type: 'DeliveryCheckpointStatusSet' },
        { type: 'DeliveryUndone' },
      ],
      bookings: [{ id: contents.bookingId, title: 'Tasting', status: 'accepted', start: '2100-01-04T10:00:00.000Z' }],
      services: [
        {
          ...{ id: contents.serviceId, kind: 'commerce' },
          ...{ shopDomain: 'corner-bakery.myshopify.com', secretNames: ['adminToken'] },
        },
      ],
      billing: { subscription: { status: 'active' }, invoices: [{ id: contents.invoiceId, total: 4_900, status: 'paid' }] },
      seo: { latest: { status: 'completed', score: expect.any(Number) } },
    });
    expect(all.people.links).toHaveLength(2);
    expect(all.people.links).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ clientId, email: 'vera.viewer@example.com', name: 'Vera Viewer', role: 'editor' }),
        expect.objectContaining({ email: 'anna.accepted@example.com', role: 'viewer' }),
      ]),
    );
    expect(await get(owner, '/me')).toMatchObject({
      email: 'olga.owner@example.com',
      websites: [{ id: websiteId, via: 'owner' }],
    });
    expect(await get(admin, '/api-keys')).toContainEqual(expect.objectContaining({ id: contents.apiKeyId, name: 'Fixture' }));
    const anna = createApi(server.address, await mintToken(folder, 'client', 'anna.accepted@example.com'));
    expect(await get(anna, `/invitations/${acceptedInvitationId}`)).toMatchObject({ status: 'accepted' });

    await operate(
      folder,
      'rebuildProjection',
      projections.map(({ name }) => name),
    );
    expect(await readAll(admin, owner, contents)).toEqual(all);

    const resent = await admin.post(`/websites/${websiteId}/client-invitations/${pendingInvitationId}/resend`);
    expect(resent).toMatchObject({ status: 200, body: { email: 'paul.pending@example.com', status: 'pending' } });
    const done = await admin.put(`/websites/${websiteId}/delivery/checkpoints/launch`, { status: 'done' });
    expect(done).toMatchObject({ status: 200, body: { revision: 5 } });
    const created = await admin.post('/websites', { name: 'Later', slug: 'later' });
    expect(created.status).toBe(201);
    const { id } = created.body as { id: string };
    await eventually('the activation of a new website', async () =>
      (await get<{ status: string }>(admin, `/websites/${id}`)).status === 'active' ? true : undefined,
    );
    expect(await server.kill('SIGTERM')).toBe(0);
  }, 120_000);
});
