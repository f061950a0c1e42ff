import { beforeAll, expect, test } from '@jest/globals';
import { startApi, type RunningApi } from '../support/http.js';

let api: RunningApi;
let token: string;

beforeAll(async () => {
  api = await startApi();
  token = await api.mintToken();
});

test('a template that there is not is a violation like any other', async () => {
  const body = { name: 'Bakery', slug: 'bakery', templateId: 'palace' };
  expect(await api.call('POST', '/websites', { token, body })).toMatchObject({
    status: 400,
    body: {
      error: 'Invalid request body — templateId: template palace does not exist',
      details: [{ field: 'templateId', issue: 'template palace does not exist' }],
    },
  });
});

test('GET /templates comes in pages, in the order of the whole list, is counted and read by ids', async () => {
  const idsOf = ({ body }: { body: unknown }) => (body as { id: string }[]).map(({ id }) => id);
  const first = await api.call('GET', '/templates?limit=1&count=true', { token });
  expect([idsOf(first), first.headers.get('total-count')]).toEqual([['business'], '2']);
  const next = /<[^>]*\/v1(\/[^>]+)>; rel="next"/.exec(first.headers.get('link') ?? '')?.[1] ?? '';
  const second = await api.call('GET', next, { token });
  expect([idsOf(second), second.headers.get('link')]).toEqual([['landing'], null]);
  expect(idsOf(await api.call('GET', '/templates?ids=landing,none,business', { token }))).toEqual(['landing', 'business']);
  expect((await api.call('GET', '/templates?cursor=nonsense', { token })).status).toBe(400);
});

test('GET /templates: every template with a picture that a page can show', async () => {
  const client = await api.mintToken({ role: 'client', subject: 'kim@example.com' });
  const { status, body } = await api.call('GET', '/templates', { token: client });
  const listed = body as { id: string; picture: string }[];
  expect([status, listed]).toEqual([
    200,
    ['business', 'landing'].map((id) => ({
      id,
      name: expect.stringMatching(/./),
      description: expect.stringMatching(/./),
      editable: expect.objectContaining({ type: 'object' }),
      picture: `${api.url}/templates/${id}/picture`,
    })),
  ]);
  for (const { picture } of listed) {
    const answer = await fetch(picture);
    const bytes = Buffer.from(await answer.arrayBuffer());
    expect([answer.status, answer.headers.get('content-type'), bytes.subarray(8, 12).toString()]).toEqual([
      200,
      'image/webp',
      'WEBP',
    ]);
    expect(bytes.length).toBeLessThan(40_000);
  }
});

test.each(['palace', '..%2Fbusiness', 'business.webp'])('GET /templates/%s/picture: 404', async (id) => {
  expect(await api.call('GET', `/templates/${id}/picture`)).toMatchObject({ status: 404, body: { code: 'not_found' } });
});

test('GET /features: what each tier has, and the lowest tier of each feature', async () => {
  const { status, body } = await api.call('GET', '/features', { token });
  const starter = ['content', 'documents', 'analytics'];
  const growth = [...starter, 'marketing', 'seo', 'scheduling'];
  expect([status, body]).toEqual([
    200,
    {
      tiers: [
        { tier: 'starter', features: starter },
        { tier: 'growth', features: growth },
        { tier: 'scale', features: [...growth, 'commerce', 'blueprint'] },
      ],
      features: [
        ...starter.map((feature) => ({ feature, lowestTier: 'starter' })),
        ...['marketing', 'seo', 'scheduling'].map((feature) => ({ feature, lowestTier: 'growth' })),
        ...['commerce', 'blueprint'].map((feature) => ({ feature, lowestTier: 'scale' })),
      ],
    },
  ]);
  expect((await api.call('GET', '/features')).status).toBe(401);
});

test('PATCH /websites/:id with null gives the tier, or the features, that a new website has', async () => {
  const body = { name: 'Bakery', slug: 'unset', tier: 'scale', features: ['seo'] };
  const { id } = (await api.call('POST', '/websites', { token, body })).body as { id: string };
  const patch = (changes: object) => api.call('PATCH', `/websites/${id}`, { token, body: changes });
  const full = await patch({ features: null });
  expect(full).toMatchObject({ status: 200, body: { tier: 'scale' } });
  expect((full.body as { features: unknown }).features).toHaveLength(8);
  expect(await patch({ tier: null })).toMatchObject({
    status: 200,
    body: { tier: 'starter', features: ['content', 'documents', 'analytics'] },
  });
});

test('PATCH /websites/:id names the feature that there is not, as POST /websites does', async () => {
  const { id } = (await api.call('POST', '/websites', { token, body: { name: 'Bakery', slug: 'zap' } })).body as { id: string };
  const features = ['content', 'zap'];
  const patched = await api.call('PATCH', `/websites/${id}`, { token, body: { features } });
  const posted = await api.call('POST', '/websites', { token, body: { name: 'Bakery', slug: 'zap-2', features } });
  expect(patched).toMatchObject({
    status: 400,
    body: { error: expect.stringMatching(/^Invalid request body — features\.1: must be one of content, /) as unknown },
  });
  expect(posted.body).toStrictEqual(patched.body);
});
