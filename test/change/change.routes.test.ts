import { beforeAll, describe, expect, test } from '@jest/globals';
import { startEverybody, type Everybody, type Person } from '../support/everybody.js';
import { readEvents, type EventReader } from '../support/eventReader.js';

let everybody: Everybody;
beforeAll(async () => {
  everybody = await startEverybody();
});

const tokenOf = (person: Person): string => everybody.credentials[person].token;
const listen = (person: Person, path = `/websites/${everybody.websiteId}/events`, lastEventId?: string): Promise<EventReader> =>
  readEvents(everybody.api.url, path, tokenOf(person), lastEventId === undefined ? {} : { 'last-event-id': lastEventId });

const change = async (method: string, path: string, body?: unknown): Promise<Readonly<Record<string, unknown>>> => {
  const answer = await everybody.api.call(method, path, { token: tokenOf('admin'), ...(body !== undefined && { body }) });
  if (answer.status >= 300) throw new Error(`${method} ${path} answered ${String(answer.status)}: ${answer.text}`);
  return answer.body as Record<string, unknown>;
};
const ofSite = (path: string): string => `/websites/${everybody.websiteId}${path}`;
let names = 0;
/** A change that everybody sees: once it has come, so has everything before it. */
const rename = async (): Promise<{ readonly type: string; readonly revision: number }> => {
  names += 1;
  const path = ofSite('');
  await change('PATCH', path, { name: `Bakery ${String(names)}` });
  const { headers } = await everybody.api.call('GET', path, { token: tokenOf('admin') });
  return { type: 'WebsiteRenamed', revision: Number(/^"(\d+)/.exec(headers.get('etag') ?? '')?.[1]) };
};
const typesOf = ({ received }: EventReader): readonly unknown[] => received.flatMap(({ data }) => data.type ?? []);

describe('GET /events', () => {
  test('tells an admin what changed anywhere, and who did it', async () => {
    const reader = await listen('admin', '/events');
    expect(await reader.until({ event: 'ready' })).toMatchObject({ data: {} });
    const { id: websiteId } = await change('POST', '/websites', { name: 'New', slug: 'new' });
    const { id: clientId } = await change('POST', '/clients', { email: 'new@example.com' });
    expect(await reader.until({ type: 'WebsiteCreated', websiteId })).toStrictEqual({
      event: 'website',
      id: expect.stringMatching(/^[0-9a-f]{8}-\d+$/),
      data: {
        type: 'WebsiteCreated',
        websiteId,
        revision: 0,
        at: expect.stringMatching(/Z$/),
        actor: expect.objectContaining({ subject: 'admin', role: 'admin', via: 'token' }),
      },
    });
    expect(await reader.until({ type: 'ClientRegistered' })).toMatchObject({ event: 'client', data: { clientId } });
    expect(JSON.stringify(reader.received)).not.toMatch(/new@example\.com|encrypted:/);
  });

  test('is for admins', async () => {
    for (const person of ['owner', 'stranger'] as const) expect((await listen(person, '/events')).status).toBe(403);
  });

  test('holds no bookkeeping of processes', async () => {
    const reader = await listen('admin', '/events');
    await reader.until({ event: 'ready' });
    await change('POST', '/api-keys', { name: 'another' });
    await reader.until({ type: 'APIKeyMinted' });
    expect(typesOf(reader)).not.toContain('APIKeyCounted');
  });
});

describe('GET /websites/:id/events', () => {
  test('tells members what they may read, without who did it', async () => {
    const reader = await listen('viewer');
    await reader.until({ event: 'ready' });
    await change('PUT', ofSite('/delivery/checkpoints/kickoff'), { status: 'in_progress' });
    const told = await reader.until({ type: 'DeliveryCheckpointStatusSet' });
    const data = { type: told.data.type, websiteId: everybody.websiteId, revision: 1, at: expect.any(String) };
    expect(told).toStrictEqual({ event: 'delivery', id: expect.any(String), data });
  });

  test('of another website come none', async () => {
    const reader = await listen('viewer');
    await reader.until({ event: 'ready' });
    const { id } = await change('POST', '/websites', { name: 'Other', slug: 'other' });
    await change('PATCH', `/websites/${id as string}`, { name: 'Another' });
    await reader.until(await rename());
    expect(typesOf(reader)).toStrictEqual(['WebsiteRenamed']);
  });

  test('clients do not learn that a preview changed which is hidden from them', async () => {
    const [admin, owner] = await Promise.all([listen('admin'), listen('owner')]);
    await Promise.all([admin.until({ event: 'ready' }), owner.until({ event: 'ready' })]);
    const block = { estimatedCompletionAt: '2030-02-28T12:00:00.000Z', showPreviewUrl: false };
    await change('PUT', ofSite('/delivery'), block);
    await owner.until({ type: 'DeliveryReplaced' });
    await change('PUT', ofSite('/delivery'), { ...block, previewUrlOverride: 'https://hidden.example.com/' });
    const after = await rename();
    await Promise.all([admin.until(after), owner.until(after)]);
    expect(typesOf(owner)).toStrictEqual(['DeliveryReplaced', 'WebsiteRenamed']);
    expect(typesOf(admin)).toStrictEqual(['DeliveryReplaced', 'DeliveryReplaced', 'WebsiteRenamed']);
    await change('PUT', ofSite('/delivery'), { ...block, showPreviewUrl: true });
    await change('PUT', ofSite('/delivery'), {
      ...block,
      showPreviewUrl: true,
      previewUrlOverride: 'https://shown.example.com/',
    });
    const last = await rename();
    await owner.until(last);
    expect(typesOf(owner).slice(2)).toStrictEqual(['DeliveryReplaced', 'DeliveryReplaced', 'WebsiteRenamed']);
  });

  test('who may read is told: links the owner, offers of the ownership the admin alone', async () => {
    const readers = { admin: await listen('admin'), owner: await listen('owner'), viewer: await listen('viewer') };
    for (const reader of Object.values(readers)) await reader.until({ event: 'ready' });
    const { invitation } = await change('POST', ofSite('/clients'), { email: 'somebody@example.com', role: 'viewer' });
    const { id: transferId } = await change('POST', ofSite('/transfers'), { email: 'buyer@example.com' });
    await change('DELETE', ofSite(`/transfers/${transferId as string}`));
    await change('DELETE', ofSite(`/client-invitations/${(invitation as { id: string }).id}`));
    const after = await rename();
    for (const reader of Object.values(readers)) await reader.until(after);
    expect(typesOf(readers.viewer)).toStrictEqual(['WebsiteRenamed']);
    expect(typesOf(readers.owner)).toStrictEqual(['InvitationIssued', 'InvitationRevoked', 'WebsiteRenamed']);
    const all = ['InvitationIssued', 'InvitationIssued', 'InvitationRevoked', 'InvitationRevoked', 'WebsiteRenamed'];
    expect(typesOf(readers.admin)).toStrictEqual(all);
  });

  test('invoices are told to the owner whom they are for, and not to viewers', async () => {
    const [owner, viewer] = await Promise.all([listen('owner'), listen('viewer')]);
    await Promise.all([owner.until({ event: 'ready' }), viewer.until({ event: 'ready' })]);
    const invoices = ofSite('/billing/invoices');
    const ids: unknown[] = [];
    for (const description of ['March', 'April']) {
      ids.push((await change('POST', invoices, { total: 4_900, currency: 'eur', description })).id);
    }
    await change('POST', `${invoices}/${String(ids[0])}/pay`);
    await change('POST', `${invoices}/${String(ids[1])}/void`);
    const after = await rename();
    await Promise.all([owner.until(after), viewer.until(after)]);
    expect(typesOf(owner)).toStrictEqual(['InvoiceIssued', 'InvoiceIssued', 'InvoicePaid', 'InvoiceVoided', 'WebsiteRenamed']);
    expect(owner.received).toContainEqual(expect.objectContaining({ event: 'billing' }));
    expect(typesOf(viewer)).toStrictEqual(['WebsiteRenamed']);
  });

  test('bookings are told to editors, and not to viewers', async () => {
    const [editor, viewer] = await Promise.all([listen('editor'), listen('viewer')]);
    await Promise.all([editor.until({ event: 'ready' }), viewer.until({ event: 'ready' })]);
    const booking = { title: 'Call', start: '2030-01-31T12:00:00Z', end: '2030-01-31T13:00:00Z' };
    await change('POST', ofSite('/bookings'), booking);
    await editor.until({ event: 'booking', type: 'BookingAdded' });
    const after = await rename();
    await viewer.until(after);
    expect(typesOf(viewer)).toStrictEqual(['WebsiteRenamed']);
  });

  test('content is told of to members, and of a feature that is off to nobody', async () => {
    const [admin, viewer] = await Promise.all([listen('admin'), listen('viewer')]);
    await Promise.all([admin.until({ event: 'ready' }), viewer.until({ event: 'ready' })]);
    await change('PUT', ofSite('/marketing/plan'), { baseHash: null, body: { title: 'Plan' } });
    await viewer.until({ event: 'content', type: 'ContentSaved' });
    const { features } = await change('PATCH', ofSite(''), { features: ['content'] });
    expect(features).toStrictEqual(['content']);
    // What was saved before, of a feature that is off now, is not told when it is asked for again.
    const { id } = await viewer.until({ event: 'ready' });
    const again = await listen('admin', undefined, id);
    await again.until({ type: 'WebsitePlanChanged' });
    expect(typesOf(again)).not.toContain('ContentSaved');
    await change('PATCH', ofSite(''), {
      features: ['content', 'documents', 'analytics', 'marketing', 'seo', 'scheduling', 'commerce', 'blueprint'],
    });
  });

  test('Last-Event-ID goes on with what was missed, once and in order', async () => {
    const first = await listen('viewer');
    await first.until({ event: 'ready' });
    const seen = await first.until(await rename());
    first.leave();
    const missed = [await rename(), await rename(), await rename()];
    const second = await listen('viewer', undefined, seen.id);
    for (const one of missed) await second.until(one);
    const live = await rename();
    await second.until(live);
    expect(second.received.map(({ data }) => data.revision)).toStrictEqual([...missed, live].map(({ revision }) => revision));
  });

  test.each([
    ['of another log', '00000000-3'],
    ['of the future', 'future'],
    ['that is none', 'nonsense'],
  ])('with an id %s: reset, then what changes from now on', async (_, lastEventId) => {
    const reader = await listen('viewer');
    const { id } = await reader.until({ event: 'ready' });
    const again = await listen('viewer', undefined, lastEventId === 'future' ? `${id.slice(0, 9)}999999999` : lastEventId);
    await again.until({ event: 'reset' });
    const after = await rename();
    await again.until(after);
    expect(again.received.map(({ event }) => event)).toStrictEqual(['reset', 'website']);
  });

  test('an id that is too far back: reset', async () => {
    const reader = await listen('viewer');
    const { id } = await reader.until({ event: 'ready' });
    const other = `/websites/${(await change('POST', '/websites', { name: 'Busy', slug: 'busy' })).id as string}`;
    const { engine } = everybody.api;
    // Written past the commands, which would take long.
    const actor = { subject: 'test', role: 'system', via: 'worker' } as const;
    for (let batch = 0; batch < 5; batch += 1) {
      const events = Array.from({ length: 500 }, () => ({
        id: engine.ids.commandId(),
        type: 'WebsiteRenamed',
        schemaVersion: 1,
        data: { websiteId: other.slice(10), name: 'Busy' },
        metadata: { at: '2030-01-01T00:00:00.000Z', actor, requestId: 'test', correlationId: 'test', causationId: 'test' },
      }));
      await engine.eventStore.append(`website-${other.slice(10)}`, events, 'any');
    }
    const again = await listen('viewer', undefined, id);
    await again.until({ event: 'reset' });
  });

  test('ends when the access ends, and tells nothing after that', async () => {
    const reader = await listen('editor');
    await reader.until({ event: 'ready' });
    await change('DELETE', ofSite(`/clients/${everybody.clientIds.editor}`));
    await rename();
    expect(await reader.done).toBe('ended');
    expect(typesOf(reader)).toStrictEqual([]);
  });

  test('as a client would see it', async () => {
    const reader = await listen('admin', `${ofSite('/events')}?as=viewer@example.com`);
    await reader.until({ event: 'ready' });
    await change('POST', ofSite('/services'), { kind: 'analytics', siteId: 'bakery.example.com' });
    await reader.until(await rename());
    expect(reader.received.map(({ event, data }) => [event, data.actor])).toStrictEqual([
      ['ready', undefined],
      ['website', undefined],
    ]);
  });
});
