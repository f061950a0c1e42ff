import { beforeAll, describe, expect, test } from '@jest/globals';
import { checkpoint } from '../support/delivery.js';
import {
  blockOf,
  callsOf,
  previewUrlOverride,
  replacement,
  startDeliveryApi,
  untilAfter,
  type AnsweredBlock,
  type DeliveryApi,
  type DeliveryCalls,
} from '../support/deliveryApi.js';

let started: DeliveryApi;
beforeAll(async () => {
  started = await startDeliveryApi();
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
    await untilAfter(hidden);
    const shown = blockOf(await delivery.replace({ ...replacement, previewUrlOverride, showPreviewUrl: true }));
    await untilAfter(shown);
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

const fail = (): never => {
  throw new Error('there is no such client');
};
