import { beforeAll, describe, expect, test } from '@jest/globals';
import { clientSubjectDecider } from '../../src/commands/client/client.decider.js';
import { checkpoint } from '../support/delivery.js';
import {
  blockOf,
  changesOf,
  eta,
  previewUrlOverride,
  replacement,
  startDeliveryApi,
  type DeliveryApi,
} from '../support/deliveryApi.js';

let started: DeliveryApi;
beforeAll(async () => {
  started = await startDeliveryApi();
});

const time = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

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
