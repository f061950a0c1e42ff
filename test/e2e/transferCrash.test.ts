import { expect, jest, test } from '@jest/globals';
import { eventually } from '../support/eventually.js';
import { createStripeFake } from '../support/providers/stripeFake.js';
import { serveFake } from '../support/providers/wire.js';
import { createApi, mintToken, startServer, type ServerProcess } from '../support/server.js';
import { temporaryFolder } from '../support/temporary.js';

jest.setTimeout(120_000);

test('killed right after Stripe created the subscription, it creates no second one after a restart, and completes the claim', async () => {
  const folder = temporaryFolder();
  const stripe = createStripeFake();
  let server: ServerProcess | undefined;
  let isDeadly = true;
  const { url } = await serveFake((request) => {
    const answer = stripe.provider(request);
    if (isDeadly && request.method === 'POST' && request.path === '/v1/subscriptions') {
      isDeadly = false;
      void server?.kill('SIGKILL');
    }
    return answer;
  });
  const settings = { STRIPE_SECRET_KEY: stripe.secretKey, STRIPE_PRICE_ID: stripe.priceId, STRIPE_API_URL: url };
  server = await startServer(folder, settings);
  const [adminToken, anaToken] = [await mintToken(folder), await mintToken(folder, 'client', 'ana@example.com')];
  const admin = createApi(server.address, adminToken);
  const { id } = (await admin.post('/websites', { name: 'Bakery', slug: 'bakery' })).body as { id: string };
  const offer = (await admin.post(`/websites/${id}/transfers`, { email: 'ana@example.com' })).body as { id: string };

  const lost = createApi(server.address, anaToken).post(`/invitations/${offer.id}/claim`);
  await expect(lost).rejects.toThrow();
  await server.ended;
  expect(stripe.subscriptions).toHaveLength(1);

  server = await startServer(folder, settings);
  const ana = createApi(server.address, anaToken);
  const claimed = await eventually(
    'the claim',
    async () => {
      const answer = await ana.post(`/invitations/${offer.id}/claim`);
      return answer.status === 200 ? answer : undefined;
    },
    60_000,
  );
  expect(claimed.body).toMatchObject({ invitation: { status: 'accepted' }, website: { id, via: 'owner' } });
  expect([stripe.customers.length, stripe.subscriptions.length]).toEqual([1, 1]);
  expect((await ana.get(`/websites/${id}/billing`)).body).toMatchObject({ subscription: { status: 'active' }, invoices: [{}] });
  // What was written down before the crash is as it was, and each item is done once.
  const ledger = (await ana.get(`/websites/${id}/transfers/${offer.id}/ledger`)).body as {
    moves: { item: string; doneAt?: string }[];
    drawnUpAt: string;
  };
  expect(ledger).toMatchObject({ status: 'completed', drawnUpAt: expect.any(String), completedAt: expect.any(String) });
  expect(ledger.moves.map(({ item }) => item)).toEqual(['ownership', 'billing_account', 'subscription', 'billing_portal']);
  expect(ledger.moves.every(({ doneAt = '' }) => doneAt > ledger.drawnUpAt)).toBe(true);
  expect(await server.kill('SIGTERM')).toBe(0);
});
