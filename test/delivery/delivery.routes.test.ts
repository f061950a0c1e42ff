import { setImmediate } from 'node:timers/promises';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { clientSubjectDecider } from '../../src/commands/client/client.decider.js';
import { checkpoint } from '../support/delivery.js';
import {
  blockOf,
  callsOf,
  changesOf,
  startDeliveryApi,
  type AnsweredBlock,
  type DeliveryApi,
  type DeliveryCalls,
} from '../support/deliveryApi.js';

let started: DeliveryApi;
beforeAll(async () => {
  started = await startDeliveryApi();
});

const eta = '2030-03-01T12:00:00.000Z';
const replacement = { estimatedCompletionAt: eta, showPreviewUrl: false };
const previewUrlOverride = 'https://preview.example.com/a?b=c';
const time = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

describe('PUT /websites/:id/delivery, the first time', () => {
  test('with an empty body: 200 with the defaults', async () => {
    const { websiteId, ...delivery } = await started.newWebsite();
    const answer = await delivery.replace({});
    const block = blockOf(answer);
    expect(block).toStrictEqual({
      websiteId,
      estimatedCompletionAt: new Date(Date.parse(block.updatedAt) + 30 * 24 * 60 * 60 * 1000).toISOString(),
      showPreviewUrl: false,
      checkpoints: [
        { id: 'kickoff', label: 'Kickoff', order: 10, status: 'pending' },
        { id: 'design-approved', label: 'Design approved', order: 20, status: 'pending' },
        { id: 'initial-deploy', label: 'Initial deploy', order: 30, status: 'pending' },
        { id: 'content-loaded', label: 'Content loaded', order: 40, status: 'pending' },
        { id: 'qa', label: 'QA', order: 50, status: 'pending' },
        { id: 'launch', label: 'Launch', order: 60, status: 'pending' },
      ],
      revision: 0,
      updatedAt: expect.stringMatching(time),
    });
    expect(answer.headers.get('etag')).toMatch(/^"0-/);
    expect(blockOf(await delivery.read())).toStrictEqual(block);
  });

  test('with its own checkpoints: 200 with those', async () => {
    const delivery = await started.newWebsite();
    const { checkpoints } = blockOf(await delivery.replace({ checkpoints: [checkpoint('only')] }));
    expect(checkpoints).toStrictEqual([checkpoint('only')]);
  });
});

describe('PUT /websites/:id/delivery, later', () => {
  test('without checkpoints and override: 200, both kept', async () => {
    const delivery = await started.newDelivery({ checkpoints: [checkpoint('a')], previewUrlOverride });
    expect(blockOf(await delivery.replace({ ...replacement, showPreviewUrl: true }))).toMatchObject({
      estimatedCompletionAt: eta,
      showPreviewUrl: true,
      previewUrlOverride,
      checkpoints: [checkpoint('a')],
      revision: 1,
    });
  });

  test('with checkpoints: 200, the whole list replaced and in order', async () => {
    const delivery = await started.newDelivery();
    const checkpoints = [checkpoint('c', { order: 30 }), checkpoint('b', { order: 20 }), checkpoint('a', { order: 30 })];
    const block = blockOf(await delivery.replace({ ...replacement, checkpoints }));
    expect(block.checkpoints.map(({ id }) => id)).toStrictEqual(['b', 'c', 'a']);
  });

  test('what was received may be sent back; what was done keeps its time, whatever is sent', async () => {
    const delivery = await started.newDelivery({ checkpoints: [checkpoint('a', { status: 'done' }), checkpoint('b')] });
    const block = blockOf(await delivery.read());
    const completedAt = block.updatedAt;
    expect(block.checkpoints).toStrictEqual([checkpoint('a', { status: 'done', completedAt }), checkpoint('b')]);

    const sent = block.checkpoints.map((entry) => ({ ...entry, label: 'Renamed', completedAt: '1999-01-01T00:00:00Z' }));
    const { checkpoints } = blockOf(await delivery.replace({ ...replacement, checkpoints: sent }));
    expect(checkpoints).toStrictEqual([
      checkpoint('a', { label: 'Renamed', status: 'done', completedAt }),
      checkpoint('b', { label: 'Renamed' }),
    ]);
  });

  test('times with any offset: 200, answered in UTC with milliseconds', async () => {
    const delivery = await started.newDelivery();
    const dueAt = '2030-02-01T00:30:00+05:30';
    const block = blockOf(
      await delivery.replace({
        ...replacement,
        estimatedCompletionAt: '2030-03-01T14:00:00+02:00',
        checkpoints: [{ ...checkpoint('a'), dueAt }],
      }),
    );
    expect(block).toMatchObject({ estimatedCompletionAt: eta, checkpoints: [{ dueAt: '2030-01-31T19:00:00.000Z' }] });
  });

  test('what is needed from the client: 200, kept while the status changes, gone when done, back after an undo', async () => {
    const delivery = await started.newDelivery({ checkpoints: [checkpoint('a', { neededFromClient: 'Texts' })] });
    const needed = async () => blockOf(await delivery.read()).checkpoints[0]?.neededFromClient;
    expect(await needed()).toBe('Texts');
    await delivery.setStatus('a', 'in_progress');
    expect(await needed()).toBe('Texts');
    await delivery.setStatus('a', 'done');
    expect(await needed()).toBeUndefined();
    expect(changesOf(await delivery.history()).at(-1)?.changes).toContainEqual({
      path: 'checkpoints.a.neededFromClient',
      from: 'Texts',
      to: null,
    });
    await delivery.setStatus('a', 'in_progress');
    expect(await needed()).toBeUndefined();
    await delivery.undo({ revision: 2 });
    expect(await needed()).toBe('Texts');
    await delivery.replace({ ...replacement, checkpoints: [checkpoint('a', { neededFromClient: '' })] });
    expect(await needed()).toBeUndefined();
  });

  test('an empty override: 200, unset', async () => {
    const delivery = await started.newDelivery({ previewUrlOverride });
    const block = blockOf(await delivery.replace({ ...replacement, previewUrlOverride: '' }));
    expect(block).not.toHaveProperty('previewUrlOverride');
    expect(block).not.toHaveProperty('previewUrl');
  });

  test('the same again: 200, and nothing was changed', async () => {
    const delivery = await started.newDelivery();
    const body = { ...replacement, checkpoints: [checkpoint('a', { status: 'done' })], reason: 'Because' };
    const first = blockOf(await delivery.replace(body));
    expect(blockOf(await delivery.replace(body))).toStrictEqual(first);
    expect(changesOf(await delivery.history())).toHaveLength(2);
  });

  test('nothing but a reason: 200, a change of its own; the same again: 200, and none', async () => {
    const delivery = await started.newDelivery({ ...replacement, checkpoints: [checkpoint('a')] });
    const before = blockOf(await delivery.read());
    const body = { ...replacement, reason: 'The photos come a week later', reasonVisible: true };
    const explained = blockOf(await delivery.replace(body));
    expect(explained).toStrictEqual({ ...before, revision: 1, updatedAt: expect.stringMatching(time) });
    expect(blockOf(await delivery.replace(body))).toStrictEqual(explained);
    const { reason, reasonVisible } = body;
    expect(changesOf(await delivery.history()).slice(1)).toMatchObject([{ revision: 1, changes: [], reason, reasonVisible }]);
    expect(changesOf(await delivery.changes('?since=0'))).toMatchObject([{ revision: 1, changes: [], reason }]);
  });

  test('texts of any Unicode come back as they were sent', async () => {
    const delivery = await started.newDelivery();
    const labels = ['\u0000', '\ud800', '\u2028\u202e', '😀', '__proto__', ' x '];
    const checkpoints = labels.map((label, index) => checkpoint(`c${index}`, { label }));
    await delivery.replace({ ...replacement, checkpoints });
    expect(blockOf(await delivery.read()).checkpoints.map(({ label }) => label)).toStrictEqual(labels);
  });

  test('with ?dryRun=1: 200 with the events that it would have made, and none is', async () => {
    const delivery = await started.newWebsite();
    const { status, body } = await delivery.replace({ checkpoints: [] }, {}, '?dryRun=1');
    expect([status, body]).toMatchObject([200, { events: [{ type: 'DeliverySetUp', data: { checkpoints: [] } }] }]);
    expect((await delivery.read()).status).toBe(404);
  });
});

describe('PUT /websites/:id/delivery that is refused: 400', () => {
  let delivery: DeliveryCalls;
  beforeAll(async () => {
    delivery = await started.newDelivery();
  });

  const form = 'must be an ISO 8601 time with its offset, as in 2030-01-31T12:00:00.000Z';
  const name = 'use 1 to 64 letters, digits and dashes';
  const ids = (...names: unknown[]) => names.map((id) => ({ ...checkpoint('a'), id }));
  const one = (changes: object) => [{ ...checkpoint('a'), ...changes }];
  const { status: _, ...withoutStatus } = checkpoint('a');

  test.each<[string, object, string, string]>([
    ['no ETA', { estimatedCompletionAt: undefined }, 'estimatedCompletionAt', 'is required'],
    ['no showPreviewUrl', { showPreviewUrl: undefined }, 'showPreviewUrl', 'is required'],
    ['an ETA of null', { estimatedCompletionAt: null }, 'estimatedCompletionAt', 'must be text; got'],
    ['an ETA without an offset', { estimatedCompletionAt: '2030-01-01T00:00:00' }, 'estimatedCompletionAt', form],
    ['an ETA on a day that there is not', { estimatedCompletionAt: '2026-02-30T00:00:00Z' }, 'estimatedCompletionAt', form],
    ['an ETA in a leap second', { estimatedCompletionAt: '2016-12-31T23:59:60Z' }, 'estimatedCompletionAt', form],
    ['an ETA after the year 9999', { estimatedCompletionAt: '9999-12-31T23:59:59-01:00' }, 'estimatedCompletionAt', form],
    ['an ETA that is a number', { estimatedCompletionAt: 1_900_000_000_000 }, 'estimatedCompletionAt', 'must be text; got'],
    ['showPreviewUrl as text', { showPreviewUrl: 'true' }, 'showPreviewUrl', 'must be true or false; got text'],
    ['an override of null', { previewUrlOverride: null }, 'previewUrlOverride', 'must be text; got'],
    [
      'an override that runs',
      { previewUrlOverride: 'javascript:alert(1)' },
      'previewUrlOverride',
      'must be an http or https URL without credentials',
    ],
    [
      'an override with a password',
      { previewUrlOverride: 'https://a:b@c.example' },
      'previewUrlOverride',
      'must be an http or https URL without credentials',
    ],
    [
      'an override of 2049 characters',
      { previewUrlOverride: `https://a.example/${'x'.repeat(2031)}` },
      'previewUrlOverride',
      'must have at most 2048 characters',
    ],
    ['checkpoints that are no list', { checkpoints: {} }, 'checkpoints', 'must be a list; got an object'],
    [
      '41 checkpoints',
      { checkpoints: ids(...Array.from({ length: 41 }, (_entry, index) => `c${index}`)) },
      'checkpoints',
      'must have at most 40 entries',
    ],
    ['a checkpoint that is null', { checkpoints: [null] }, 'checkpoints.0', 'must be an object; got null'],
    ['an id twice', { checkpoints: ids('a', 'b', 'a') }, 'checkpoints.2.id', 'must be unique within the delivery block'],
    ['an id with other characters', { checkpoints: ids('a', 'b_c') }, 'checkpoints.1.id', name],
    ['an empty id', { checkpoints: ids('') }, 'checkpoints.0.id', name],
    ['an id of 65 characters', { checkpoints: ids('x'.repeat(65)) }, 'checkpoints.0.id', name],
    ['an id that is a number', { checkpoints: ids(1) }, 'checkpoints.0.id', 'must be text; got'],
    ['a blank label', { checkpoints: one({ label: ' ' }) }, 'checkpoints.0.label', 'must not be blank'],
    ['an empty label', { checkpoints: one({ label: '' }) }, 'checkpoints.0.label', 'must not be empty'],
    [
      'a label of 201 characters',
      { checkpoints: one({ label: 'x'.repeat(201) }) },
      'checkpoints.0.label',
      'must have at most 200 characters',
    ],
    [
      'an order that is no integer',
      { checkpoints: one({ order: 1.5 }) },
      'checkpoints.0.order',
      'must be a whole number; got a fraction',
    ],
    [
      'an order beyond 2^53',
      { checkpoints: one({ order: 2 ** 53 }) },
      'checkpoints.0.order',
      'must be at most 9007199254740991; got 9007199254740992',
    ],
    [
      'an unknown status',
      { checkpoints: one({ status: 'started' }) },
      'checkpoints.0.status',
      'must be one of pending, in_progress, done',
    ],
    ['no status', { checkpoints: [withoutStatus] }, 'checkpoints.0.status', 'is required'],
    ['a deadline that is no time', { checkpoints: one({ dueAt: 'tomorrow' }) }, 'checkpoints.0.dueAt', form],
    [
      'a need of 301 characters',
      { checkpoints: one({ neededFromClient: 'x'.repeat(301) }) },
      'checkpoints.0.neededFromClient',
      'must have at most 300 characters',
    ],
    ['a need of null', { checkpoints: one({ neededFromClient: null }) }, 'checkpoints.0.neededFromClient', 'must be text; got'],
    ['an unknown field of a checkpoint', { checkpoints: one({ color: 'red' }) }, 'checkpoints.0.color', 'is not a known field'],
    ['an unknown field', { revision: 0 }, 'revision', 'is not a known field'],
    ['an empty reason', { reason: '' }, 'reason', 'must not be empty'],
  ])('%s', async (_what, changes, field, issue) => {
    const { status, body } = await delivery.replace({ ...replacement, ...changes });
    // What came follows what is expected.
    const [told = { issue: '' }] = (body as { details: readonly { issue: string }[] }).details;
    expect(told.issue.slice(0, issue.length)).toBe(issue);
    const details = [{ field, issue: told.issue }];
    const error = `Invalid request body — ${field}: ${told.issue}`;
    expect([status, body]).toStrictEqual([400, { error, code: 'invalid_body', details }]);
  });

  test('every violation is listed', async () => {
    const { body } = await delivery.replace({ checkpoints: ids('a', 'a'), previewUrlOverride: 'x' });
    expect((body as { details: { field: string }[] }).details.map(({ field }) => field)).toStrictEqual([
      'estimatedCompletionAt',
      'showPreviewUrl',
      'previewUrlOverride',
      'checkpoints.1.id',
    ]);
  });

  test('none of them changed anything', async () => {
    expect(changesOf(await delivery.history())).toHaveLength(1);
  });

  test('an archived website', async () => {
    const { api, token } = started;
    const archived = await started.newDelivery();
    await api.call('POST', `/websites/${archived.websiteId}/archive`, { token });
    const refusal = [400, { error: `Website ${archived.websiteId} is archived`, code: 'website_archived', details: null }];
    for (const ask of [
      () => archived.replace(replacement),
      () => archived.setStatus('qa', 'done'),
      () => archived.undo({ revision: 1 }),
    ]) {
      const { status, body } = await ask();
      expect([status, body]).toStrictEqual(refusal);
    }
    expect(blockOf(await archived.read()).revision).toBe(0);
  });
});

describe('PUT /websites/:id/delivery/checkpoints/:checkpointId', () => {
  test('200: done is completed now, and leaving done is not completed any more', async () => {
    const delivery = await started.newDelivery();
    const done = blockOf(await delivery.setStatus('qa', 'done'));
    const qa = (block: typeof done) => block.checkpoints.find(({ id }) => id === 'qa');
    expect(done.revision).toBe(1);
    expect(qa(done)).toStrictEqual({ id: 'qa', label: 'QA', order: 50, status: 'done', completedAt: done.updatedAt });
    expect(blockOf(await delivery.read())).toStrictEqual(done);

    const open = blockOf(await delivery.setStatus('qa', 'in_progress'));
    expect(qa(open)).toStrictEqual({ id: 'qa', label: 'QA', order: 50, status: 'in_progress' });
  });

  test('200 and no change for the status that it has', async () => {
    const delivery = await started.newDelivery();
    const first = blockOf(await delivery.setStatus('qa', 'done'));
    expect(blockOf(await delivery.setStatus('qa', 'done'))).toStrictEqual(first);
    expect(changesOf(await delivery.history())).toHaveLength(2);
  });

  test.each([
    ['unknown', 'nope', 404, 'Checkpoint nope not found'],
    ['named like a part of every object', 'constructor', 404, 'Checkpoint constructor not found'],
    [
      'that cannot be one',
      'a%20b',
      400,
      'Invalid path params — checkpointId: use 1 to 64 letters, digits and dashes; got 3 characters',
    ],
  ])('a checkpoint %s (%s): %i', async (_, id, status, error) => {
    const delivery = await started.newDelivery();
    const answer = await delivery.setStatus(id, 'done');
    expect([answer.status, answer.body]).toMatchObject([status, { error }]);
  });

  test('before the set-up: 404', async () => {
    const delivery = await started.newWebsite();
    const { status, body } = await delivery.setStatus('qa', 'done');
    expect([status, body]).toMatchObject([404, { error: `Delivery for website ${delivery.websiteId} is not set up` }]);
  });

  test.each([['started'], [null], [true], [undefined]])('a status of %p: 400', async (status) => {
    const delivery = await started.newDelivery();
    const answer = await delivery.setStatus('qa', status);
    expect([answer.status, (answer.body as { error: string }).error]).toStrictEqual([
      400,
      expect.stringMatching(/^Invalid request body — status: /),
    ]);
  });
});

describe('If-Match', () => {
  test('of the revision that is: 200; of one that was: 400, for each write', async () => {
    const delivery = await started.newDelivery();
    const etag = (await delivery.read()).headers.get('etag') ?? '';
    const second = await delivery.setStatus('qa', 'done', { 'if-match': etag });
    expect(second.status).toBe(200);
    const stale = [400, { error: 'Someone else saved while you were editing', code: 'stale', details: null }];
    for (const { status, body } of [
      await delivery.setStatus('launch', 'done', { 'if-match': etag }),
      await delivery.replace(replacement, { 'if-match': etag }),
      await delivery.undo({ revision: 1 }, { 'if-match': etag }),
    ]) {
      expect([status, body]).toStrictEqual(stale);
    }
    expect((await delivery.replace(replacement, { 'if-match': second.headers.get('etag') ?? '' })).status).toBe(200);
  });

  test('of any state: 200 where there is one, else 400', async () => {
    const delivery = await started.newWebsite();
    const headers = { 'if-match': '*' };
    const stale = { status: 400, body: { code: 'stale' } };
    expect(await delivery.replace({}, headers)).toMatchObject(stale);
    const tried = { token: started.token, body: {}, headers };
    expect(await started.api.call('PUT', `/websites/${delivery.websiteId}/delivery?dryRun=1`, tried)).toMatchObject(stale);
    expect((await delivery.read()).status).toBe(404);
    expect((await delivery.replace({})).status).toBe(200);
    expect((await delivery.replace(replacement, headers)).status).toBe(200);
  });
});

describe('GET /websites/:id/delivery', () => {
  test('before the set-up: 404', async () => {
    const delivery = await started.newWebsite();
    const { status, body } = await delivery.read();
    expect([status, body]).toStrictEqual([
      404,
      { error: `Delivery for website ${delivery.websiteId} is not set up`, code: 'delivery_not_set_up', details: null },
    ]);
  });

  test('of an unknown website: 404', async () => {
    const { status, body } = await callsOf(started.api, started.token, 'nope').read();
    expect([status, body]).toMatchObject([404, { error: 'Website nope not found' }]);
  });

  test('?at: 200 with the block as it was then, 404 before the set-up, 400 for what is no time', async () => {
    const delivery = await started.newDelivery({ previewUrlOverride });
    const first = blockOf(await delivery.read());
    await until(first);
    const second = blockOf(await delivery.setStatus('qa', 'done'));

    const at = (time_: string) => delivery.read(`?at=${encodeURIComponent(time_)}`);
    expect(blockOf(await at(first.updatedAt))).toStrictEqual(first);
    expect(blockOf(await at(first.updatedAt.replace('Z', '+00:00')))).toStrictEqual(first);
    expect(blockOf(await at(second.updatedAt))).toStrictEqual(second);
    expect(blockOf(await at('2999-01-01T00:00:00Z'))).toStrictEqual(second);
    expect((await at('2020-01-01T00:00:00Z')).status).toBe(404);
    expect(await at('yesterday')).toMatchObject({ status: 400, body: { details: [{ field: 'at' }] } });
  });
});

describe('GET /websites/:id/delivery/history', () => {
  test('names people: as a client, by the address of their token, or as erased', async () => {
    const delivery = await started.newDelivery();
    const { api, token } = started;
    const post = async (email: string, name?: string) =>
      (await api.call('POST', '/clients', { token, body: { email, ...(name !== undefined && { name }) } })).body as {
        id: string;
      };
    const { id } = await post('ana@example.com', 'Ana Gomes');
    await api.engine.handle(
      clientSubjectDecider,
      { type: 'BindClientSubject', subjectIndex: api.engine.blindIndex('u-1'), clientId: id, subject: 'u-1' },
      { commandId: api.engine.ids.commandId(), actor: { subject: 'x', role: 'system', via: 'worker' }, requestId: 'r' },
    );
    const people = [{ subject: 'u-1' }, { subject: 'u-2', verifiedEmail: 'bo@example.com' }, { subject: 'u-3' }];
    for (const [index, person] of people.entries()) {
      const as = await api.mintToken({ role: 'admin', ...person });
      const status = index % 2 === 0 ? 'done' : 'pending';
      await api.call('PUT', `/websites/${delivery.websiteId}/delivery/checkpoints/qa`, { token: as, body: { status } });
    }
    const actors = async () => changesOf(await delivery.history()).map(({ actor }) => (actor as { name?: string }).name);
    expect((await actors()).slice(1)).toStrictEqual(['Ana Gomes', 'bo@example.com', undefined]);

    await api.call('DELETE', `/clients/${id}`, { token });
    const bo = await post('bo@example.com');
    await api.call('DELETE', `/clients/${bo.id}`, { token });
    expect((await actors()).slice(1)).toStrictEqual(['[erased]', '[erased]', undefined]);
  });

  test('200 with who changed what, oldest first', async () => {
    const delivery = await started.newDelivery({ ...replacement, checkpoints: [checkpoint('qa')] });
    await delivery.setStatus('qa', 'done');
    const last = await delivery.replace({
      estimatedCompletionAt: '2030-04-01T00:00:00Z',
      showPreviewUrl: false,
      reason: 'Texts came late',
      reasonVisible: true,
    });
    const { updatedAt } = blockOf(last);
    const [setUp, statusSet, replaced] = changesOf(await delivery.history());
    expect(setUp).toMatchObject({
      revision: 0,
      type: 'DeliverySetUp',
      changes: [{}, {}, { path: 'checkpoints.qa', from: null }],
    });
    expect(statusSet?.changes).toStrictEqual([
      { path: 'checkpoints.qa.status', from: 'pending', to: 'done' },
      { path: 'checkpoints.qa.completedAt', from: null, to: statusSet?.at },
    ]);
    expect(replaced).toStrictEqual({
      revision: 2,
      at: updatedAt,
      actor: { subject: 'ops@example.com', name: 'ops@example.com', role: 'admin', via: 'token', tokenId: expect.any(String) },
      type: 'DeliveryReplaced',
      changes: [{ path: 'estimatedCompletionAt', from: eta, to: '2030-04-01T00:00:00.000Z' }],
      reason: 'Texts came late',
      reasonVisible: true,
    });
  });

  test('in pages', async () => {
    const delivery = await started.newDelivery();
    for (const status of ['done', 'pending', 'done', 'pending']) await delivery.setStatus('qa', status);
    const revisions: number[] = [];
    let query: string | undefined = '?limit=2';
    while (query !== undefined) {
      const answer = await delivery.history(query);
      revisions.push(...changesOf(answer).map(({ revision }) => revision));
      query = /\?[^>]*/.exec(answer.headers.get('link') ?? '')?.[0];
    }
    expect(revisions).toStrictEqual([0, 1, 2, 3, 4]);
  });

  test('before the set-up: 200 and empty', async () => {
    const delivery = await started.newWebsite();
    expect(changesOf(await delivery.history())).toStrictEqual([]);
  });

  test.each(['nope', Buffer.from('abc').toString('base64url'), Buffer.from('-1').toString('base64url')])(
    'a cursor that is not one (%s): 400',
    async (cursor) => {
      const delivery = await started.newWebsite();
      expect(await delivery.history(`?cursor=${cursor}`)).toMatchObject({
        status: 400,
        body: { details: [{ field: 'cursor' }] },
      });
    },
  );
});

describe('POST /websites/:id/delivery/undo', () => {
  test('200 with the block as before that change; the undo is a change that can be undone', async () => {
    const delivery = await started.newDelivery();
    const start = blockOf(await delivery.setStatus('kickoff', 'done'));
    const changed = blockOf(await delivery.replace({ ...replacement, checkpoints: [] }));
    await delivery.replace({ ...replacement, showPreviewUrl: true });

    const restored = blockOf(await delivery.undo({ revision: 2 }));
    expect(restored).toStrictEqual({ ...start, revision: 4, updatedAt: expect.stringMatching(time) });
    expect(blockOf(await delivery.read())).toStrictEqual(restored);
    expect(changesOf(await delivery.history()).at(-1)).toMatchObject({ revision: 4, type: 'DeliveryUndone', undid: 2 });

    expect(blockOf(await delivery.undo({ revision: 2 })).revision).toBe(4);
    const again = blockOf(await delivery.undo({ revision: 4 }));
    expect(again).toStrictEqual({ ...changed, showPreviewUrl: true, revision: 5, updatedAt: expect.stringMatching(time) });
  });

  test('200 with the override that was cleared', async () => {
    const delivery = await started.newDelivery({ previewUrlOverride });
    const cleared = blockOf(await delivery.replace({ ...replacement, previewUrlOverride: '', reason: 'A mistake' }));
    expect(cleared).not.toHaveProperty('previewUrlOverride');
    expect(blockOf(await delivery.undo({ revision: cleared.revision }))).toMatchObject({
      previewUrlOverride,
      previewUrl: previewUrlOverride,
    });
    expect(changesOf(await delivery.history()).slice(1)).toMatchObject([
      { reason: 'A mistake', changes: [{}, { path: 'previewUrlOverride', from: previewUrlOverride, to: null }] },
      { undid: 1, changes: [{}, { path: 'previewUrlOverride', from: null, to: previewUrlOverride }] },
    ]);
  });

  test.each([
    ['the set-up', 0, 'is the set-up, which cannot be undone'],
    ['a change that never was', 1, 'is not a change of this delivery block'],
    ['a change far away', Number.MAX_SAFE_INTEGER, 'is not a change of this delivery block'],
    ['no change', -1, 'must be at least 0; got -1'],
  ])('%s: 400', async (_, revision, issue) => {
    const delivery = await started.newDelivery();
    const { status, body } = await delivery.undo({ revision });
    expect([status, body]).toMatchObject([400, { error: `Invalid request body — revision: ${issue}` }]);
  });

  test('before the set-up: 404', async () => {
    const delivery = await started.newWebsite();
    expect((await delivery.undo({ revision: 1 })).status).toBe(404);
  });
});

describe('clients', () => {
  let delivery: DeliveryCalls;
  const as: Record<string, DeliveryCalls> = {};

  beforeAll(async () => {
    const { api, token } = started;
    delivery = await started.newDelivery({ previewUrlOverride, checkpoints: [checkpoint('a')] });
    const path = `/websites/${delivery.websiteId}`;
    const newClient = async (email: string): Promise<string> => {
      const { body } = await api.call('POST', '/clients', { token, body: { email } });
      as[email] = callsOf(api, await api.mintToken({ role: 'client', subject: email, verifiedEmail: email }), delivery.websiteId);
      return (body as { id: string }).id;
    };
    const clientId = await newClient('owner@example.com');
    await api.call('PATCH', path, { token, body: { clientId } });
    for (const role of ['viewer', 'editor']) {
      await newClient(`${role}@example.com`);
      const { status } = await api.call('POST', `${path}/clients`, { token, body: { email: `${role}@example.com`, role } });
      expect(status).toBe(201);
    }
    await newClient('stranger@example.com');
  });

  const members = ['owner@example.com', 'viewer@example.com', 'editor@example.com'];

  test.each(members)('%s: 200, without the override, and without the preview until it is shown', async (email) => {
    const { previewUrlOverride: _, previewUrl: __, ...rest } = blockOf(await delivery.replace(replacement));
    expect(blockOf((await as[email]?.read()) ?? fail())).toStrictEqual(rest);

    const shown = blockOf(await delivery.replace({ ...replacement, showPreviewUrl: true }));
    const { previewUrlOverride: override, ...visible } = shown;
    expect([override, visible.previewUrl]).toStrictEqual([previewUrlOverride, previewUrlOverride]);
    expect(blockOf((await as[email]?.read()) ?? fail())).toStrictEqual(visible);
  });

  test.each(members)('%s, at a time: 200 with what clients saw then, never the override', async (email) => {
    const calls = as[email] ?? fail();
    const hidden = blockOf(await delivery.replace({ ...replacement, previewUrlOverride: 'https://hidden.example.com' }));
    await until(hidden);
    const shown = blockOf(await delivery.replace({ ...replacement, previewUrlOverride, showPreviewUrl: true }));
    await until(shown);
    const { previewUrlOverride: _, previewUrl: __, ...today } = blockOf(await delivery.replace(replacement));
    const at = async ({ updatedAt }: AnsweredBlock) => blockOf(await calls.read(`?at=${updatedAt}`));

    const { previewUrlOverride: ___, previewUrl: ____, ...hiddenThen } = hidden;
    expect(await at(hidden)).toStrictEqual(hiddenThen);
    const { previewUrlOverride: _____, ...shownThen } = shown;
    expect(await at(shown)).toStrictEqual({ ...shownThen, previewUrl: previewUrlOverride });
    expect(await at(today)).toStrictEqual(today);
    expect((await calls.read('?at=2020-01-01T00:00:00Z')).status).toBe(404);
  });

  test('a client whose access ended, at a time when it had not: 403', async () => {
    const { api, token } = started;
    const path = `/websites/${delivery.websiteId}/clients`;
    const email = 'former@example.com';
    const { body } = await api.call('POST', '/clients', { token, body: { email } });
    const { id } = body as { id: string };
    await api.call('POST', path, { token, body: { email, role: 'viewer' } });
    const former = callsOf(
      api,
      await api.mintToken({ role: 'client', subject: email, verifiedEmail: email }),
      delivery.websiteId,
    );
    const { updatedAt } = blockOf(await former.read());
    expect((await former.read(`?at=${updatedAt}`)).status).toBe(200);
    expect((await api.call('DELETE', `${path}/${id}`, { token })).status).toBe(204);
    expect((await former.read(`?at=${updatedAt}`)).status).toBe(403);
  });

  test.each(members)('%s may not write or see the history: 403', async (email) => {
    const calls = as[email] ?? fail();
    for (const { status, body } of [
      await calls.replace(replacement),
      await calls.setStatus('a', 'done'),
      await calls.undo({ revision: 1 }),
      await calls.history(),
    ]) {
      expect([status, body]).toStrictEqual([403, { error: 'Admin role required', code: 'admin_required', details: null }]);
    }
  });

  test('a stranger: 403', async () => {
    const { status, body } = (await as['stranger@example.com']?.read()) ?? fail();
    expect([status, body]).toMatchObject([403, { error: `Not authorized to access website ${delivery.websiteId}` }]);
  });
});

/** Until the time is another than that of the block's last change. */
const until = async ({ updatedAt }: AnsweredBlock): Promise<void> => {
  while (Date.now() <= Date.parse(updatedAt)) await setImmediate();
};

const fail = (): never => {
  throw new Error('there is no such client');
};
