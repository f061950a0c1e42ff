import { beforeAll, describe, expect, test } from '@jest/globals';
import { DatabaseSync } from '@photostructure/sqlite';
import { join } from 'node:path';
import { eventually } from '../support/eventually.js';
import { startApi, type ApiAnswer, type RunningApi } from '../support/http.js';

let api: RunningApi;
let token: string;

beforeAll(async () => {
  api = await startApi();
  token = await api.mintToken();
});

const made = async (path: string, body: unknown): Promise<string> => {
  const answer = await api.call('POST', path, { token, body });
  expect([200, 201]).toContain(answer.status);
  return (answer.body as { id: string }).id;
};
const search = (q: string, caller = token): Promise<ApiAnswer> =>
  api.call('GET', `/search?q=${encodeURIComponent(q)}`, { token: caller });

interface Found {
  readonly websites: readonly { readonly slug: string; readonly via?: string }[];
  readonly clients?: readonly { readonly id: string; readonly email: string; readonly name?: string }[];
}
const found = async (q: string, caller = token): Promise<Found> => {
  const { status, body, text } = await search(q, caller);
  if (status !== 200) throw new Error(text);
  return body as Found;
};
const slugs = async (q: string, caller = token): Promise<readonly string[]> =>
  (await found(q, caller)).websites.map(({ slug }) => slug);
const emails = async (q: string): Promise<readonly string[] | undefined> => (await found(q)).clients?.map(({ email }) => email);

describe('GET /search finds websites', () => {
  const ids: Record<string, string> = {};
  let owner: string;

  beforeAll(async () => {
    owner = await made('/clients', { email: 'owner@search.example', name: 'Zoë Großmann' });
    for (const website of [
      { slug: 'bak', name: 'Anything' },
      { slug: 'corner', name: 'Corner Bäckerei', clientId: owner },
      { slug: 'thebakers', name: 'The bakers' },
      { slug: 'xbakx', name: 'Inside xbakx' },
      { slug: 'strasse', name: 'Große Straße', clientId: owner },
      { slug: 'gone', name: 'Bakery that is gone', clientId: owner },
    ]) {
      ids[website.slug] = await made('/websites', website);
    }
    await api.call('POST', `/websites/${String(ids.gone)}/archive`, { token });
  });

  test.each([
    ['bak', ['bak', 'thebakers', 'xbakx'], 'the slug, then beginnings of words, then parts'],
    ['BÄCK', ['corner'], 'diacritics and case'],
    ['backerei', ['corner'], 'without diacritics'],
    ['strasse', ['strasse'], 'letters that stand for two'],
    ['corner bä', ['corner'], 'across words'],
    ['b', ['thebakers', 'corner', 'bak'], 'one character: beginnings of words'],
    ['kx', [], 'two characters within a word'],
    ['erei', ['corner'], 'the end'],
    ['bakbak', [], 'what is not there'],
    ['%_%', [], 'what databases take for patterns'],
    ['   ', [], 'nothing'],
  ])('%j → %j: %s', async (q, expected) => {
    expect([...(await slugs(q))].sort()).toStrictEqual([...expected].sort());
    if (q === 'bak') expect(await slugs(q)).toStrictEqual(expected);
  });

  test('of a client their own, with the way to them', async () => {
    const email = 'owner@search.example';
    const caller = await api.mintToken({ role: 'client', subject: email, verifiedEmail: email });
    expect(await found('gro', caller)).toStrictEqual({
      websites: [expect.objectContaining({ slug: 'strasse', via: 'owner', role: 'editor' })],
    });
    expect(await slugs('bak', caller)).toStrictEqual([]);
    await api.call('DELETE', `/websites/${String(ids.strasse)}/owner`, { token });
    expect(await found('gro', caller)).toStrictEqual({ websites: [] });
    const stranger = await api.mintToken({ role: 'client', subject: 'x', verifiedEmail: 'x@search.example' });
    expect(await found('bak', stranger)).toStrictEqual({ websites: [] });
  });

  test.each(['1', 'a1', 'a--b', 'x-1', 'corner-2', 'xn--caf-dma', '0'.repeat(63)])(
    'the website whose slug is %s first, of a client among their own',
    async (slug) => {
      await made('/websites', { slug, name: 'Named otherwise', clientId: owner });
      await made('/websites', { slug: `${slug.slice(0, 60)}-z`, name: `Also ${slug}` });
      const email = 'owner@search.example';
      const caller = await api.mintToken({ role: 'client', subject: email, verifiedEmail: email });
      expect((await slugs(slug))[0]).toBe(slug);
      expect(await slugs(slug, caller)).toStrictEqual([slug]);
    },
  );

  test('under a new name at once, and not under the old one', async () => {
    await api.call('PATCH', `/websites/${String(ids.xbakx)}`, { token, body: { name: 'Quixote', slug: 'quixote' } });
    expect(await slugs('quix')).toStrictEqual(['quixote']);
    expect(await slugs('xbakx')).toStrictEqual([]);
  });

  test('at most 20, the newest first', async () => {
    for (let index = 0; index < 25; index += 1) await made('/websites', { slug: `many-${String(index)}`, name: 'Legion' });
    expect(await slugs('legion')).toStrictEqual(Array.from({ length: 20 }, (_, index) => `many-${String(24 - index)}`));
  });

  test.each([['?q='], [''], [`?q=${'a'.repeat(201)}`]])('%s is refused', async (query) => {
    expect(await api.call('GET', `/search${query}`, { token })).toMatchObject({ status: 400, body: { code: 'invalid_query' } });
  });
});

describe('GET /search finds clients', () => {
  test('by address and name, in whatever way they are written', async () => {
    await made('/clients', { email: 'anna.keller@people.example', name: 'Änna Keller' });
    await made('/clients', { email: 'bert@people.example', name: 'Bert Hanna' });
    expect(await emails('anna')).toStrictEqual(['anna.keller@people.example', 'bert@people.example']);
    expect(await emails('keller')).toStrictEqual(['anna.keller@people.example']);
    expect(await emails('@people.ex')).toStrictEqual(['bert@people.example', 'anna.keller@people.example']);
    expect(await emails('be')).toStrictEqual(['bert@people.example']);
    expect(await emails('nobody there')).toStrictEqual([]);
  });

  test('under a new name and a new address, and not under the old name', async () => {
    const id = await made('/clients', { email: 'carla@people.example', name: 'Carla Ottmann' });
    await api.call('PATCH', `/clients/${id}`, { token, body: { name: 'Carla Wexford' } });
    expect(await emails('wexf')).toStrictEqual(['carla@people.example']);
    expect(await emails('ottmann')).toStrictEqual([]);
    expect(await emails('carla@')).toStrictEqual(['carla@people.example']);
  });

  test('not under a name that was taken away', async () => {
    const id = await made('/clients', { email: 'dora@people.example', name: 'Dora Lindqvist' });
    const unnamed = await api.call('PATCH', `/clients/${id}`, { token, body: { name: null } });
    expect(unnamed).toMatchObject({ status: 200, body: { id, email: 'dora@people.example' } });
    expect(unnamed.body).not.toHaveProperty('name');
    expect(await emails('lindqvist')).toStrictEqual([]);
    expect(await emails('dora@')).toStrictEqual(['dora@people.example']);
  });

  test('no part of a name stands in the read models; of an erased client nothing is left', async () => {
    const id = await made('/clients', { email: 'quentin@people.example', name: 'Quentin Zyx' });
    expect(await emails('quentin')).toStrictEqual(['quentin@people.example']);
    const rows = (): readonly { readonly field: string; readonly value: string }[] => {
      const file = new DatabaseSync(join(api.folder, 'read-models.db'), { readOnly: true });
      try {
        return file.prepare('SELECT field, value FROM entry WHERE id = ?').all(id) as { field: string; value: string }[];
      } finally {
        file.close();
      }
    };
    expect(rows().filter(({ field }) => field === 'terms').length).toBeGreaterThan(20);
    expect(JSON.stringify(rows())).not.toMatch(/que|zyx/i);
    expect((await api.call('DELETE', `/clients/${id}`, { token })).status).toBe(204);
    expect(await emails('quentin')).toStrictEqual([]);
    await eventually('no entries', () => (rows().length === 0 ? true : undefined));
  });

  test('GET /clients?q= finds them in the same way, page by page', async () => {
    for (const name of ['one', 'two', 'three']) await made('/clients', { email: `${name}@paged.example`, name });
    const page = async (query: string): Promise<readonly unknown[]> => {
      const { body } = await api.call('GET', `/clients?q=@PAGED&${query}`, { token });
      return (body as { name: string }[]).map(({ name }) => name);
    };
    expect(await page('')).toStrictEqual(['three', 'two', 'one']);
    expect(await page('sort=name&limit=2')).toStrictEqual(['one', 'three']);
    const first = await api.call('GET', '/clients?q=@paged&limit=2&count=true', { token });
    expect(first.headers.get('total-count')).toBe('3');
    const next = /<[^>]*\/v1([^>]*)>; rel="next"/.exec(first.headers.get('link') ?? '')?.[1] ?? '';
    expect((await api.call('GET', next, { token })).body).toMatchObject([{ name: 'one' }]);
  });
});
