import { describe, expect, test } from '@jest/globals';
import type { Commerce } from '../../src/integrations/commerce/port.js';
import { createShopify } from '../../src/integrations/commerce/shopify.js';
import { ProviderFault } from '../../src/integrations/fault.js';
import { createLogger } from '../../src/platform/logger.js';
import { systemRandom } from '../../src/platform/random.js';
import { startApi } from '../support/http.js';
import { hastyClock } from '../support/provider.js';
import { adminToken, fakeProduct, shopifyWith, type Bucket } from '../support/providers/shopifyFake.js';
import { serveFake, troubleKinds, type ServedFake } from '../support/providers/wire.js';
import { shopDomain, signatureOf } from '../support/shopWebhooks.js';

const three = [1, 2, 3].map((number) => fakeProduct(number));
const shop = { domain: shopDomain, adminToken };

const clientOf = (fake: ServedFake, log: string[] = []): Commerce =>
  createShopify({
    webhookSecrets: ['present', 'previous'],
    apiVersion: '2026-01',
    clock: hastyClock(15),
    random: systemRandom,
    logger: createLogger({ level: 'debug', destination: { write: (line: string) => void log.push(line) } }),
    originOf: () => fake.url,
  });

const faultOf = async (asked: Promise<unknown>): Promise<ProviderFault> => {
  const error: unknown = await asked.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof ProviderFault)) throw new Error(`it is no fault of a provider: ${String(error)}`);
  return error;
};

describe('products', () => {
  test('are translated and paged', async () => {
    const bare = { status: 'DRAFT', onlineStoreUrl: null, totalInventory: null, featuredMedia: null };
    const fake = await serveFake(shopifyWith([fakeProduct(1), fakeProduct(2, bare)]));
    const commerce = clientOf(fake);
    const [first] = await commerce.products({ shop, limit: 1 });
    expect(first).toStrictEqual({
      id: 'gid://shopify/Product/1',
      cursor: first?.cursor,
      title: 'Bread 1',
      handle: 'bread-1',
      status: 'active',
      url: 'https://corner-bakery.example/products/bread-1',
      imageUrl: 'https://cdn.shopify.com/bread.jpg',
      price: { min: '3.5', max: '4.0', currency: 'EUR' },
      inventory: 4,
      updatedAt: '2026-05-01T10:00:00.000Z',
    });
    const [second, ...more] = await commerce.products({ shop, limit: 250, after: first?.cursor ?? '' });
    expect(more).toStrictEqual([]);
    expect(second).toStrictEqual({
      id: 'gid://shopify/Product/2',
      cursor: second?.cursor,
      title: 'Bread 2',
      handle: 'bread-2',
      status: 'draft',
      price: { min: '3.5', max: '4.0', currency: 'EUR' },
      updatedAt: '2026-05-01T10:00:00.000Z',
    });
    expect(fake.requests.map(({ path }) => path)).toStrictEqual(Array(2).fill('/admin/api/2026-01/graphql.json'));
    expect(fake.complaints).toStrictEqual([]);
  });

  test('are counted, also when they are very many', async () => {
    const many = Array.from({ length: 10_001 }, (_, index) => fakeProduct(index + 1));
    const fake = await serveFake(shopifyWith(many));
    expect(await clientOf(fake).countProducts(shop)).toBe(10_001);
    expect(fake.requests).toHaveLength(1);
    expect(fake.complaints).toStrictEqual([]);
  });

  test('are retried once the rate limit allows it; a long wait is left to the caller', async () => {
    const bucket: Bucket = { available: 2, restoreRate: 20 };
    const fake = await serveFake(shopifyWith(three, bucket));
    expect(await clientOf(fake).products({ shop, limit: 3 })).toHaveLength(3);
    expect(fake.requests).toHaveLength(2);

    const slow = await serveFake(shopifyWith(three, { available: 2, restoreRate: 1 }));
    const fault = await faultOf(clientOf(slow).products({ shop, limit: 3 }));
    expect(fault).toMatchObject({ transient: true, retryAfterMs: 20_000, message: 'Shopify asked to wait' });
    expect(slow.requests).toHaveLength(1);
  });

  test.each([
    [401, 'the access token is not accepted, or may not read products'],
    [402, 'the shop is frozen'],
    [404, 'there is no such shop'],
    [423, 'the shop is locked'],
    [418, 'the query was answered with status 418'],
  ])('status %d: %s', async (status, message) => {
    const fake = await serveFake(() => ({ status, body: { errors: 'No' } }));
    expect(await faultOf(clientOf(fake).products({ shop, limit: 1 }))).toMatchObject({ transient: false, message });
    expect(fake.requests).toHaveLength(1);
  });

  test('a refused query is a fault that repeats nothing of the request', async () => {
    const fake = await serveFake(shopifyWith(three));
    const fault = await faultOf(clientOf(fake).products({ shop, limit: 1, after: 'nonsense-canary' }));
    expect(fault).toMatchObject({ transient: false, message: 'the query was refused' });
  });

  test.each(troubleKinds.flatMap((what) => [{ what, when: 'before' } as const, { what, when: 'after' } as const]))(
    'once $what ($when it has acted): asked again, or a fault that says so',
    async (trouble) => {
      const fake = await serveFake(shopifyWith(three));
      fake.trouble((_, index) => (index === 0 ? trouble : undefined));
      const log: string[] = [];
      const asked = clientOf(fake, log).products({ shop, limit: 3 });
      const found = await asked.catch((error: unknown) => error);
      if (found instanceof ProviderFault) expect(found.transient).toBe(true);
      else expect(found).toHaveLength(3);
      // A short wait is never left to the caller.
      if (['500', 'reset', 'silence', 'half', 'drip'].includes(trouble.what)) expect(found).toHaveLength(3);
      expect(log.join('')).not.toContain('canary');
    },
    20_000,
  );

  test('a shop that is down does not affect others', async () => {
    const fake = await serveFake(shopifyWith(three));
    const commerce = clientOf(fake);
    fake.trouble(() => ({ what: '429', when: 'before' }));
    expect(await faultOf(commerce.products({ shop, limit: 1 }))).toMatchObject({ retryAfterMs: 7_000 });
    fake.trouble();
    expect((await faultOf(commerce.products({ shop, limit: 1 }))).message).toBe('Shopify asked to wait');
    expect(await commerce.products({ shop: { ...shop, domain: 'other.myshopify.com' }, limit: 1 })).toHaveLength(1);
  });
});

describe('GET /websites/:id/products', () => {
  const world = async (fake: ServedFake, secret = adminToken) => {
    const api = await startApi({ commerce: clientOf(fake) });
    const token = await api.mintToken();
    const { body } = await api.call('POST', '/websites', { token, body: { name: 'B', slug: 'bakery', tier: 'scale' } });
    const { id } = body as { id: string };
    const input = { kind: 'commerce', shopDomain, secrets: { adminToken: secret } };
    return {
      api,
      attach: () => api.call('POST', `/websites/${id}/services`, { token, body: input }),
      get: (query = '') => api.call('GET', `/websites/${id}/products${query}`, { token }),
      id,
    };
  };

  test('lists what the shop sells, in pages, and nothing before there is one', async () => {
    const { attach, get, id } = await world(await serveFake(shopifyWith(three)));
    const none = { status: 404, body: { error: `Commerce for website ${id} is not set up` } };
    expect(await get()).toMatchObject(none);
    await attach();
    const first = await get('?limit=2');
    expect(first).toMatchObject({ status: 200, body: [{ title: 'Bread 1' }, { title: 'Bread 2' }] });
    expect(first.text).not.toContain('cursor');
    const next = /cursor=([^&>]+)/.exec(first.headers.get('link') ?? '')?.[1] ?? '';
    const last = await get(`?limit=2&cursor=${next}`);
    expect(last).toMatchObject({ status: 200, body: [{ title: 'Bread 3' }] });
    expect(last.headers.get('link')).toBeNull();
    expect((await get('?limit=1&count=true')).headers.get('total-count')).toBe('3');
    expect(await get('?ids=1')).toMatchObject({ status: 400, body: { details: [{ field: 'ids' }] } });
  });

  test('names Shopify when it refuses (502), is down (503), or times out (504)', async () => {
    const fake = await serveFake(shopifyWith(three));
    const { attach, get } = await world(fake);
    await attach();
    fake.trouble(() => ({ what: '500', when: 'before' }));
    expect(await get()).toMatchObject({ status: 503, body: { error: 'Shopify cannot be asked right now' } });
    fake.trouble(() => ({ what: 'silence', when: 'before' }));
    expect(await get()).toMatchObject({ status: 504, body: { error: 'Shopify did not answer in time' } });

    const refused = await world(fake, 'shpat_wrong');
    await refused.attach();
    fake.trouble();
    const error = 'Shopify refused: the access token is not accepted, or may not read products';
    expect(await refused.get()).toMatchObject({ status: 502, body: { error } });
    expect(JSON.stringify(refused.api.log)).not.toContain('shpat_');
  });
});

describe('a signature', () => {
  const commerce = createShopify({
    webhookSecrets: ['present', 'previous'],
    apiVersion: '2026-01',
    clock: hastyClock(),
    random: systemRandom,
    logger: createLogger({ level: 'silent' }),
  });
  const body = Buffer.from('{"é":1}\n');

  test.each<[string, boolean, string]>([
    ['of the current secret', true, signatureOf(body, 'present')],
    ['of the previous one', true, signatureOf(body, 'previous')],
    ['of neither', false, signatureOf(body, 'stranger')],
    ['of another body', false, signatureOf('{}', 'present')],
    ['that is empty', false, ''],
    ['in base64 for addresses', false, signatureOf(body, 'present').replaceAll('+', '-').replaceAll('/', '_').replace('=', '')],
    ['with something behind it', false, `${signatureOf(body, 'present')}=`],
    ['of zeros', false, Buffer.alloc(32).toString('base64')],
  ])('%s: %s', (_, isValid, signature) => {
    expect(commerce.isSignatureValid(body, signature)).toBe(isValid);
  });

  test('equals that of openssl', () => {
    // printf '{}' | openssl dgst -sha256 -hmac present -binary | openssl base64
    expect(commerce.isSignatureValid(Buffer.from('{}'), 'Y2tU7yw3p0eVGtxgWybLxqeUOvQRkJ93CiJzz6wf/Ak=')).toBe(true);
  });
});
