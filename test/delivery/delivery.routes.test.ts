import { beforeAll, describe, expect, test } from '@jest/globals';
import { checkpoint } from '../support/delivery.js';
import {
  blockOf,
  callsOf,
  changesOf,
  eta,
  previewUrlOverride,
  replacement,
  startDeliveryApi,
  untilAfter,
  type DeliveryApi,
  type DeliveryCalls,
} from '../support/deliveryApi.js';

let started: DeliveryApi;
beforeAll(async () => {
  started = await startDeliveryApi();
});

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
    const labels = ['a\u0000', '\ud800', 'b\u2028\u202e', '😀', '__proto__', ' x '];
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
    ['a label that nobody sees', { checkpoints: one({ label: '\0' }) }, 'checkpoints.0.label', 'must not be blank'],
    ['a blank reason', { reason: ' ' }, 'reason', 'must not be blank'],
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
    await untilAfter(first);
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
