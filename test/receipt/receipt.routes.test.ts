import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { receiptFold } from '../../src/events/receipt/receipt.state.js';
import { earlierReceiptStream } from '../../src/events/receipt/receipt.stream.js';
import { NO_STREAM } from '../../src/events/store/eventStore.js';
import { checkpoint } from '../support/delivery.js';
import { blockOf, callsOf, changesOf, startDeliveryApi, type DeliveryApi, type DeliveryCalls } from '../support/deliveryApi.js';
import { recorded } from '../support/given.js';
import type { ApiAnswer } from '../support/http.js';
import { createShiftedClock } from '../support/shiftedClock.js';

const block = { estimatedCompletionAt: '2030-03-01T12:00:00.000Z', showPreviewUrl: false };
const later = { ...block, estimatedCompletionAt: '2030-04-01T12:00:00.000Z' };
const override = 'https://secret-preview.example.com/';

interface Reader {
  readonly clientId?: string;
  readonly email?: string;
  readonly name?: string;
  readonly role: string;
  readonly revision: number;
  readonly firstAt: string;
  readonly lastAt: string;
  readonly revisions: readonly { readonly revision: number; readonly firstAt: string; readonly lastAt: string }[];
}

const readersOf = ({ status, body, text }: ApiAnswer): readonly Reader[] => {
  if (status !== 200) throw new Error(`${String(status)}: ${text}`);
  return body as readonly Reader[];
};

const revisionsOf = (answer: ApiAnswer): readonly number[] => changesOf(answer).map(({ revision }) => revision);

let clients = 0;

/** A client who is linked to the website as a viewer. */
const addViewer = async ({ api, token }: DeliveryApi, websiteId: string, name?: string) => {
  clients += 1;
  const email = `viewer-${String(clients)}@example.com`;
  const { body } = await api.call('POST', '/clients', { token, body: { email, ...(name !== undefined && { name }) } });
  await api.call('POST', `/websites/${websiteId}/clients`, { token, body: { email, role: 'viewer' } });
  const own = await api.mintToken({ role: 'client', subject: email, verifiedEmail: email });
  return { ...callsOf(api, own, websiteId), email, clientId: (body as { id: string }).id };
};

let started: DeliveryApi;
beforeAll(async () => {
  started = await startDeliveryApi();
});

const setUp = async (body: object = {}): Promise<{ admin: DeliveryCalls; viewer: Awaited<ReturnType<typeof addViewer>> }> => {
  const admin = await started.newDelivery({ ...block, checkpoints: [checkpoint('a', { neededFromClient: 'Texts' })], ...body });
  return { admin, viewer: await addViewer(started, admin.websiteId, 'Vera') };
};

describe('GET /websites/:id/delivery/changes', () => {
  test('200 with what changed since the caller last looked, newest first', async () => {
    const { admin, viewer } = await setUp();
    // Who never looked gets all, the set-up too.
    expect(revisionsOf(await viewer.changes())).toEqual([0]);
    expect((await viewer.seen(0)).status).toBe(204);
    expect(revisionsOf(await viewer.changes())).toEqual([]);

    await admin.setStatus('a', 'done');
    const moved = blockOf(await admin.replace({ ...later, reason: 'Texts came late', reasonVisible: true }));
    const [second, first] = changesOf(await viewer.changes());
    expect(second).toStrictEqual({
      revision: 2,
      at: moved.updatedAt,
      changes: [{ path: 'estimatedCompletionAt', from: block.estimatedCompletionAt, to: later.estimatedCompletionAt }],
      reason: 'Texts came late',
    });
    expect(first).toStrictEqual({
      revision: 1,
      at: expect.any(String),
      changes: [
        { path: 'checkpoints.a.status', from: 'pending', to: 'done' },
        { path: 'checkpoints.a.completedAt', from: null, to: expect.any(String) },
        { path: 'checkpoints.a.neededFromClient', from: 'Texts', to: null },
      ],
    });

    await viewer.seen(1);
    expect(revisionsOf(await viewer.changes())).toEqual([2]);
    // A look at an older state, as from a page left open, hides nothing that was seen.
    await viewer.seen(2);
    await viewer.seen(0);
    expect(revisionsOf(await viewer.changes())).toEqual([]);
    // Everybody has looked for themselves.
    expect(revisionsOf(await admin.changes())).toEqual([2, 1, 0]);
    await admin.seen(2);
    expect(revisionsOf(await admin.changes())).toEqual([]);
  });

  test('?since asks from any revision, whatever the caller saw', async () => {
    const { admin, viewer } = await setUp();
    await admin.setStatus('a', 'done');
    await admin.setStatus('a', 'pending');
    await viewer.seen(2);
    expect(revisionsOf(await viewer.changes('?since=0'))).toEqual([2, 1]);
    expect(revisionsOf(await viewer.changes('?since=1'))).toEqual([2]);
    expect(revisionsOf(await viewer.changes('?since=2'))).toEqual([]);
    expect(revisionsOf(await viewer.changes('?since=9'))).toEqual([]);
    for (const since of ['-1', 'x', '1.5']) expect((await viewer.changes(`?since=${since}`)).status).toBe(400);
  });

  test('in pages', async () => {
    const { admin, viewer } = await setUp();
    for (const status of ['done', 'pending', 'done', 'pending']) await admin.setStatus('a', status);
    const revisions: number[] = [];
    let query: string | undefined = '?limit=2&since=0';
    while (query !== undefined) {
      const answer = await viewer.changes(query);
      revisions.push(...revisionsOf(answer));
      query = /\?[^>]*/.exec(answer.headers.get('link') ?? '')?.[0];
    }
    expect(revisions).toEqual([4, 3, 2, 1]);
    expect((await viewer.changes('?cursor=nope')).status).toBe(400);
  });

  test('without since, the pages stay those of the first, whatever is reported as seen meanwhile', async () => {
    const { admin, viewer } = await setUp();
    for (const status of ['done', 'pending', 'done']) await admin.setStatus('a', status);
    const revisions: number[] = [];
    const totals = new Set<string | null>();
    for (let query: string | undefined = '?limit=1&count=true'; query !== undefined;) {
      const answer = await viewer.changes(query);
      revisions.push(...revisionsOf(answer));
      totals.add(answer.headers.get('total-count'));
      expect((await viewer.seen(3)).status).toBe(204);
      query = /\?[^>]*/.exec(answer.headers.get('link') ?? '')?.[0];
    }
    expect(revisions).toEqual([3, 2, 1, 0]);
    expect([...totals]).toEqual(['4']);
  });

  test('says nothing of the override of the preview, nor a reason that is not for clients, to anybody', async () => {
    const { admin, viewer } = await setUp({ previewUrlOverride: override });
    await admin.replace({ ...block, previewUrlOverride: `${override}2`, reason: 'Hidden words' });
    await admin.replace({ ...block, previewUrlOverride: `${override}3`, reason: 'A new preview is near', reasonVisible: true });
    await admin.replace({ ...later, previewUrlOverride: '', showPreviewUrl: true, reason: 'Hidden words' });
    for (const calls of [viewer, admin]) {
      const answer = await calls.changes();
      expect(answer.text).not.toMatch(/secret-preview|previewUrlOverride|Hidden words|ops@example/);
      expect(
        changesOf(answer).map(({ revision, changes, reason }) => [revision, changes.map(({ path }) => path), reason]),
      ).toEqual([
        [3, ['estimatedCompletionAt', 'showPreviewUrl'], undefined],
        [2, [], 'A new preview is near'],
        [0, ['estimatedCompletionAt', 'showPreviewUrl', 'checkpoints.a'], undefined],
      ]);
    }
    // The admins read all reasons in the history.
    expect(changesOf(await admin.history()).map(({ reason }) => reason)).toEqual([
      undefined,
      'Hidden words',
      'A new preview is near',
      'Hidden words',
    ]);
  });

  test('?as: an admin gets what the person would, and it is no look of theirs', async () => {
    const { admin, viewer } = await setUp();
    await viewer.seen(0);
    await admin.setStatus('a', 'done');
    expect(revisionsOf(await admin.changes(`?as=${viewer.email}`))).toEqual([1]);
    expect(revisionsOf(await viewer.changes())).toEqual([1]);
    expect(readersOf(await admin.readers())).toMatchObject([{ clientId: viewer.clientId, revision: 0 }]);
  });

  test('before the set-up: 404', async () => {
    const website = await started.newWebsite();
    expect(await website.changes()).toMatchObject({ status: 404, body: { code: 'delivery_not_set_up' } });
  });
});

describe('POST /websites/:id/delivery/seen', () => {
  test.each([
    ['beyond the block', 1, 'is not a change of this delivery block'],
    ['below the set-up', -1, 'must be at least 0; got -1'],
    ['that is no number', 'x', 'must be a whole number; got text'],
    ['that is missing', undefined, 'is required'],
  ])('a revision %s: 400', async (_, revision, issue) => {
    const { viewer } = await setUp();
    const { status, body } = await viewer.seen(revision);
    expect([status, body]).toMatchObject([400, { error: expect.stringContaining(`revision: ${issue}`) }]);
  });

  test('before the set-up: 404', async () => {
    const website = await started.newWebsite();
    expect((await website.seen(0)).status).toBe(404);
  });

  test('many times at once: kept once', async () => {
    const { admin, viewer } = await setUp();
    const answers = await Promise.all(Array.from({ length: 8 }, () => viewer.seen(0)));
    expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 8 }, () => 204));
    const key = { websiteId: admin.websiteId, readerId: viewer.clientId };
    expect((await started.api.engine.state(receiptFold, key)).revision).toBe(0n);
  });

  test('what was recorded before each person had a stream still counts, and is listed with what came since', async () => {
    const { admin, viewer } = await setUp();
    for (const status of ['done', 'pending']) await admin.setStatus('a', status);
    const { clientId, websiteId } = viewer;
    const { engine } = started.api;
    const seen = { type: 'DeliveryRevisionSeen', data: { websiteId, readerId: clientId, clientId, revision: 1 } };
    const stored = engine.codec.encode(seen, engine.ids.commandId(), recorded(seen).metadata);
    await engine.eventStore.append(earlierReceiptStream.name({ websiteId }), [stored], NO_STREAM);

    expect(revisionsOf(await viewer.changes())).toEqual([2]);
    // A later look at an older state hides nothing that was seen.
    await viewer.seen(0);
    expect(revisionsOf(await viewer.changes())).toEqual([2]);
    const [reader, ...others] = readersOf(await admin.readers());
    expect([reader?.revision, reader?.revisions.map(({ revision }) => revision), others]).toEqual([1, [0, 1], []]);
  });

  test('of an archived website: 400', async () => {
    const { admin, viewer } = await setUp();
    await started.api.call('POST', `/websites/${admin.websiteId}/archive`, { token: started.token });
    expect(await viewer.seen(0)).toMatchObject({ status: 400, body: { code: 'website_archived' } });
    expect((await viewer.changes()).status).toBe(200);
  });

  test('with ?dryRun=1: 200 with the event, and nothing is kept', async () => {
    const { admin, viewer } = await setUp();
    const { status, body } = await viewer.seen(0, '?dryRun=1');
    expect([status, body]).toMatchObject([
      200,
      { events: [{ type: 'DeliveryRevisionSeen', data: { clientId: viewer.clientId, revision: 0 } }] },
    ]);
    expect(readersOf(await admin.readers())).toEqual([]);
  });
});

describe('GET /websites/:id/delivery/readers', () => {
  test('200 with who saw which revision, first and last time', async () => {
    const { admin, viewer } = await setUp();
    const other = await addViewer(started, admin.websiteId);
    await viewer.seen(0);
    await admin.setStatus('a', 'done');
    await viewer.seen(1);
    await other.seen(1);
    await admin.seen(1);

    const readers = readersOf(await admin.readers());
    const [first, last] = [viewer, other].map(({ clientId }) => readers.find((reader) => reader.clientId === clientId));
    expect(first).toStrictEqual({
      clientId: viewer.clientId,
      subject: viewer.email,
      name: 'Vera',
      email: viewer.email,
      role: 'client',
      revision: 1,
      firstAt: expect.any(String),
      lastAt: expect.any(String),
      revisions: [
        { revision: 1, firstAt: first?.lastAt, lastAt: first?.lastAt },
        { revision: 0, firstAt: first?.firstAt, lastAt: first?.firstAt },
      ],
    });
    expect(last).toMatchObject({ email: other.email, name: other.email, revision: 1 });
    const colleague = readers.find(({ role }) => role === 'admin');
    expect(colleague).toMatchObject({ subject: 'ops@example.com', revision: 1 });
    expect(colleague).not.toHaveProperty('clientId');
    expect(readers).toHaveLength(3);
  });

  test('in pages', async () => {
    const { admin, viewer } = await setUp();
    const all = [viewer, await addViewer(started, admin.websiteId), await addViewer(started, admin.websiteId)];
    for (const each of all) await each.seen(0);
    const found: (string | undefined)[] = [];
    let query: string | undefined = '?limit=2';
    while (query !== undefined) {
      const answer = await admin.readers(query);
      found.push(...readersOf(answer).map(({ clientId }) => clientId));
      query = /\?[^>]*/.exec(answer.headers.get('link') ?? '')?.[0];
    }
    expect(found).toEqual(all.map(({ clientId }) => clientId).reverse());
  });

  test('a person who was erased has no name there, and their address stands nowhere in the files', async () => {
    const { admin, viewer } = await setUp();
    await viewer.seen(0);
    expect((await admin.readers()).text).toContain(viewer.email);
    await started.api.call('DELETE', `/clients/${viewer.clientId}`, { token: started.token });
    const [reader] = readersOf(await admin.readers());
    expect(reader).toMatchObject({ subject: '[erased]', name: '[erased]', email: '[erased]', revision: 0 });
    const stores = readdirSync(started.api.folder).filter((name) => /\.db(?:-wal)?$/.test(name));
    expect(stores.length).toBeGreaterThanOrEqual(2);
    for (const name of stores) {
      expect([name, readFileSync(join(started.api.folder, name)).includes(viewer.email)]).toEqual([name, false]);
    }
  });

  test('what a person looked at is in the export of everything about them', async () => {
    const { viewer } = await setUp();
    await viewer.seen(0);
    const { api, token } = started;
    const { status, body } = await api.call('GET', `/clients/${viewer.clientId}/export`, { token });
    expect(status).toBe(200);
    expect((body as { eventsBy: readonly { type: string }[] }).eventsBy).toMatchObject([
      { type: 'DeliveryRevisionSeen', data: { clientId: viewer.clientId, revision: 0 } },
    ]);
  });

  test('is told: every answer about the block says whether it is kept who reads it', async () => {
    const { admin, viewer } = await setUp();
    const told = [await viewer.read(), await viewer.changes(), await viewer.seen(0), await admin.readers()];
    expect(told.map(({ headers }) => headers.get('read-receipts'))).toEqual(['on', 'on', 'on', 'on']);
  });
});

describe('looks again', () => {
  const clock = createShiftedClock();
  let own: DeliveryApi;
  beforeAll(async () => {
    own = await startDeliveryApi({ clock });
  });

  test('within a minute add nothing; after it the last time is another', async () => {
    const admin = await own.newDelivery();
    const viewer = await addViewer(own, admin.websiteId);
    const looks = async (): Promise<number> => {
      let count = 0;
      for await (const { revision } of own.api.engine.history(receiptFold.stream, {
        websiteId: admin.websiteId,
        readerId: viewer.clientId,
      })) {
        count = Number(revision) + 1;
      }
      return count;
    };
    await viewer.seen(0);
    const [first] = readersOf(await admin.readers());
    for (let repeated = 0; repeated < 3; repeated += 1) await viewer.seen(0);
    expect(await looks()).toBe(1);
    expect(readersOf(await admin.readers())).toEqual([first]);
    clock.shift(60_000);
    await viewer.seen(0);
    expect(await looks()).toBe(2);
    const [again] = readersOf(await admin.readers());
    expect(again?.firstAt).toBe(first?.firstAt);
    expect(Date.parse(again?.lastAt ?? '')).toBeGreaterThanOrEqual(Date.parse(first?.lastAt ?? '') + 60_000);
  });
});

describe('READ_RECEIPTS=off', () => {
  test('keeps nothing, says so, and what changed is asked by a revision', async () => {
    const own = await startDeliveryApi({ environment: { READ_RECEIPTS: 'off' } });
    const admin = await own.newDelivery(block);
    const viewer = await addViewer(own, admin.websiteId);
    await admin.replace(later);
    const position = await own.api.engine.eventStore.lastPosition();
    expect((await viewer.seen(1)).status).toBe(204);
    expect(await own.api.engine.eventStore.lastPosition()).toBe(position);

    expect(await viewer.changes()).toMatchObject({
      status: 400,
      body: { error: 'Invalid query — since: is required while read receipts are off', code: 'invalid_query' },
    });
    expect(revisionsOf(await viewer.changes('?since=0'))).toEqual([1]);
    expect(readersOf(await admin.readers())).toEqual([]);
    expect((await admin.readers('?cursor=!!!')).status).toBe(400);
    const told = [await viewer.read(), await viewer.changes('?since=0'), await viewer.seen(0), await admin.readers()];
    expect(told.map(({ headers }) => headers.get('read-receipts'))).toEqual(['off', 'off', 'off', 'off']);
  });
});
