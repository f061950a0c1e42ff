import { beforeAll, describe, expect, test } from '@jest/globals';
import { hashOfJson } from '../../src/platform/canonicalJson.js';
import { startApi, type ApiAnswer, type RunningApi } from '../support/http.js';

interface Document {
  readonly id: string;
  readonly hash: string;
  readonly body: unknown;
  readonly updatedAt?: string;
  readonly updatedBy?: { readonly name?: string; readonly role: string };
}

let api: RunningApi;
let admin: string;
let editor: string;
let viewer: string;
let count = 0;

beforeAll(async () => {
  api = await startApi();
  admin = await api.mintToken();
  for (const [email, name] of [
    ['ada@example.com', 'Ada'],
    ['vera@example.com', 'Vera'],
  ]) {
    await api.call('POST', '/clients', { token: admin, body: { email, name } });
  }
  const tokenOf = (email: string): Promise<string> => api.mintToken({ role: 'client', subject: email, verifiedEmail: email });
  [editor, viewer] = await Promise.all([tokenOf('ada@example.com'), tokenOf('vera@example.com')]);
});

const newWebsite = async (more: object = {}): Promise<string> => {
  count += 1;
  const body = { name: 'Bakery', slug: `bakery-${String(count)}`, tier: 'growth', ...more };
  const answer = await api.call('POST', '/websites', { token: admin, body });
  const { id } = answer.body as { id: string };
  for (const [email, role] of [
    ['ada@example.com', 'editor'],
    ['vera@example.com', 'viewer'],
  ]) {
    await api.call('POST', `/websites/${id}/clients`, { token: admin, body: { email, role } });
  }
  return `/websites/${id}`;
};

const get = (path: string, token = admin): Promise<ApiAnswer> => api.call('GET', path, { token });
const put = (path: string, baseHash: string | null, body: unknown, token = admin): Promise<ApiAnswer> =>
  api.call('PUT', path, { token, body: { baseHash, body } });
const read = async (path: string): Promise<Document> => (await get(path)).body as Document;

const headline = (text: string) => ({ headline: text });
const changed = 'Someone else saved while you were editing';

describe.each(['content', 'marketing'])('%s documents', (collection) => {
  test('are created, read and listed', async () => {
    const path = `${await newWebsite()}/${collection}`;
    expect((await get(path)).body).toEqual([]);
    expect(await get(`${path}/site`)).toMatchObject({ status: 404, body: { code: 'content_not_found' } });

    const made = await put(`${path}/site`, null, headline('Bread'), editor);
    expect(made).toMatchObject({
      status: 200,
      body: {
        id: 'site',
        hash: hashOfJson(headline('Bread')),
        body: headline('Bread'),
        updatedBy: { name: 'ada@example.com', role: 'client' },
      },
    });
    expect((await get(`${path}/site`, viewer)).body).toEqual(made.body);
    await put(`${path}/about`, null, []);
    const listed = await get(`${path}?count=true&limit=1`, viewer);
    expect(listed.body).toMatchObject([{ id: 'about', body: [] }]);
    expect(listed.headers.get('total-count')).toBe('2');
    const [, cursor = ''] = /cursor=([^&>]+)/.exec(listed.headers.get('link') ?? '') ?? [];
    expect((await get(`${path}?limit=1&cursor=${cursor}`, viewer)).body).toEqual([made.body]);
    const named = await get(`${path}?ids=site,none&count=true`);
    expect([named.body, named.headers.get('total-count')]).toEqual([[made.body], '1']);
  });

  test.each(['agency@example.com', 'agency-1'])(
    'say to clients only that an admin saved, to admins who it was (%s)',
    async (subject) => {
      const path = `${await newWebsite()}/${collection}/site`;
      const saver = await api.mintToken({ subject, verifiedEmail: 'agency@example.com' });
      const { hash } = (await put(path, null, headline('One'), saver)).body as Document;
      const { hash: second } = (await put(path, hash, headline('Two'), saver)).body as Document;
      /** Every way by which a caller reads who saved. */
      const everyActor = async (token: string): Promise<readonly unknown[]> => {
        const answers = [
          await get(path, token),
          await get(path.slice(0, path.lastIndexOf('/')), token),
          await get(`${path}/versions`, token),
          await get(`${path}/versions/${hash}`, token),
          await put(path, second, headline('Two'), token),
          await put(path, hash, headline('Three'), token),
          await api.call('POST', `${path}/restore`, { token, body: { hash: second, baseHash: second } }),
        ];
        return answers.flatMap(({ text }) =>
          [...text.matchAll(/"(?:updatedBy|actor)":(\{[^}]*\})/g)].map(([, actor = '']) => JSON.parse(actor) as unknown),
        );
      };
      const of = { role: 'admin', via: 'token' };
      const toAdmins = { ...of, subject, name: 'agency@example.com' };
      expect(await everyActor(admin)).toEqual(Array.from({ length: 8 }, () => toAdmins));
      const toClients = { ...of, subject: subject === 'agency-1' ? subject : 'admin' };
      expect(await everyActor(editor)).toEqual(Array.from({ length: 8 }, () => toClients));
      expect(JSON.stringify(await get(path, viewer))).not.toContain('agency@');
    },
  );

  test('are read by their ids from their own collection alone', async () => {
    const path = await newWebsite();
    await put(`${path}/marketing/newsletter`, null, headline('Bread'));
    const named = await get(`${path}/${collection}?ids=marketing.newsletter,newsletter`);
    expect((named.body as readonly Document[]).map(({ id }) => id)).toEqual(collection === 'marketing' ? ['newsletter'] : []);
  });

  test('are saved over the version that was edited, and no other', async () => {
    const path = `${await newWebsite()}/${collection}/site`;
    const { hash: first } = (await put(path, null, headline('One'))).body as Document;
    const second = (await put(path, first, headline('Two'), editor)).body as Document;
    const late = await put(path, first, headline('Three'));
    expect(late).toMatchObject({
      status: 400,
      body: {
        error: changed,
        code: 'stale',
        details: {
          currentHash: second.hash,
          updatedAt: second.updatedAt,
          updatedBy: { name: 'ada@example.com', role: 'client' },
        },
      },
    });
    expect(await read(path)).toEqual(second);
    expect(await put(path, null, headline('Three'))).toMatchObject({ status: 400, body: { error: changed } });
    expect(await put(`${path}-other`, first, headline('Three'))).toMatchObject({
      status: 400,
      body: { error: changed, details: { currentHash: null } },
    });
  });

  test('are saved once by many that edited the same version', async () => {
    const path = `${await newWebsite()}/${collection}/site`;
    const { hash } = (await put(path, null, headline('Base'))).body as Document;
    const answers = await Promise.all(Array.from({ length: 8 }, (_, one) => put(path, hash, headline(String(one)))));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    const won = answers.find(({ status }) => status === 200)?.body as Document;
    for (const { body } of answers.filter(({ status }) => status !== 200)) {
      expect(body).toMatchObject({ error: changed, details: { currentHash: won.hash } });
    }
    expect(await read(path)).toEqual(won);
    expect((await get(`${path}/versions`)).body).toHaveLength(2);
  });

  test('that hold what is saved are left as they are', async () => {
    const path = `${await newWebsite()}/${collection}/site`;
    const one = await put(path, null, { a: 1, b: 2 });
    const again = await put(path, null, { b: 2, a: 1 });
    expect(again).toMatchObject({ status: 200, body: one.body as object });
    expect((await get(`${path}/versions`)).body).toHaveLength(1);
  });

  test('have versions, of which one is restored as a new one', async () => {
    const path = `${await newWebsite()}/${collection}/site`;
    const one = (await put(path, null, headline('One'))).body as Document;
    const two = (await put(path, one.hash, headline('Two'), editor)).body as Document;
    const versions = await get(`${path}/versions`);
    expect(versions.body).toEqual([
      { hash: two.hash, at: two.updatedAt, actor: two.updatedBy },
      { hash: one.hash, at: one.updatedAt, actor: one.updatedBy },
    ]);
    expect((await get(`${path}/versions?limit=1`)).headers.get('link')).toContain('rel="next"');
    expect((await get(`${path}/versions/${one.hash}`, viewer)).body).toMatchObject({ hash: one.hash, body: headline('One') });
    expect(await get(`${path}/versions/${'0'.repeat(64)}`)).toMatchObject({
      status: 404,
      body: { code: 'content_version_not_found' },
    });

    const restore = (body: object) => api.call('POST', `${path}/restore`, { token: editor, body });
    expect(await restore({ hash: one.hash, baseHash: one.hash })).not.toMatchObject({ status: 200 });
    expect(await restore({ hash: '0'.repeat(64), baseHash: two.hash })).toMatchObject({ status: 404 });
    const restored = await restore({ hash: one.hash, baseHash: two.hash });
    expect(restored).toMatchObject({
      status: 200,
      body: { hash: one.hash, body: headline('One'), updatedBy: { name: 'ada@example.com' } },
    });
    expect((await get(`${path}/versions`)).body).toHaveLength(3);
  });

  test('are tried without being saved', async () => {
    const path = `${await newWebsite()}/${collection}/site`;
    const tried = await api.call('PUT', `${path}?dryRun=1`, { token: editor, body: { baseHash: null, body: headline('One') } });
    expect(tried).toMatchObject({ status: 200, body: { events: [{ type: 'ContentSaved' }] } });
    expect((await get(path)).status).toBe(404);
  });

  test('honour If-Match', async () => {
    const path = `${await newWebsite()}/${collection}/site`;
    const { hash } = (await put(path, null, headline('One'))).body as Document;
    const etag = (await get(path)).headers.get('etag') ?? '';
    expect((await api.call('GET', path, { token: admin, headers: { 'if-none-match': etag } })).status).toBe(304);
    const save = (baseHash: string, text: string) =>
      api.call('PUT', path, { token: admin, headers: { 'if-match': etag }, body: { baseHash, body: headline(text) } });
    const saved = await save(hash, 'Two');
    expect(saved.status).toBe(200);
    expect(await save((saved.body as Document).hash, 'Three')).toMatchObject({ status: 400, body: { error: changed } });
  });

  test('that are not there match no tag', async () => {
    const path = `${await newWebsite()}/${collection}/site`;
    for (const tag of ['"0-x"', '"1-x"', '"nonsense"', '*']) {
      const headers = { 'if-match': tag };
      for (const to of [path, `${path}?dryRun=1`]) {
        const body = { baseHash: null, body: headline('One') };
        expect(await api.call('PUT', to, { token: admin, headers, body })).toMatchObject({
          status: 400,
          body: { code: 'stale' },
        });
      }
      const body = { hash: hashOfJson({}), baseHash: null };
      expect(await api.call('POST', `${path}/restore`, { token: admin, headers, body })).toMatchObject({
        status: 404,
        body: { code: 'content_not_found' },
      });
    }
    expect((await get(path)).status).toBe(404);
  });

  test('are kept exactly as they were sent, or refused', async () => {
    const path = `${await newWebsite()}/${collection}`;
    const odd = { '__proto__.x': 1, $where: 'a.b', 'a.b': '\u0000\ud800', '': null, 10: [0.1, 1e-7, -5, true], 9: {}, ö: '😀' };
    const text = `{"baseHash":null,"body":${JSON.stringify(odd).replace('"__proto__.x"', '"__proto__"')}}`;
    const saved = await api.call('PUT', `${path}/odd`, {
      token: admin,
      raw: text,
      headers: { 'content-type': 'application/json' },
    });
    expect(saved.status).toBe(200);
    const kept = await get(`${path}/odd`);
    expect(kept.text).toContain('"__proto__":1');
    expect((kept.body as Document).body).toEqual((JSON.parse(text) as { body: unknown }).body);
    expect((await get(path)).body).toEqual([kept.body]);
    expect(
      await api.call('PUT', `${path}/large`, { token: admin, raw: '{"baseHash":null,"body":{"a":[9007199254740993]}}' }),
    ).toMatchObject({ status: 400, body: { code: 'invalid_body', details: [{ field: 'body.a.0' }] } });
  });

  test('have a bounded size, below that of a request', async () => {
    const path = `${await newWebsite()}/${collection}/long`;
    expect(await put(path, null, { text: 'x'.repeat(899_000) })).toMatchObject({ status: 200 });
    expect(await put(path, null, { text: 'é'.repeat(460_000) })).toMatchObject({
      status: 400,
      body: { error: 'Invalid request body — body: must have at most 900,000 bytes' },
    });
  });

  test.each([
    ['a text', 'body', 'Bread', 'body: must be an object or a list'],
    ['nothing', 'body', null, 'body: must be an object or a list'],
    ['another kind of hash', 'baseHash', 7, 'baseHash: must be the hash of the version that was edited, or null; got a number'],
  ])('refuse %s', async (_, field, value, words) => {
    const path = `${await newWebsite()}/${collection}/site`;
    const body = { baseHash: null, body: {}, [field]: value };
    expect(await api.call('PUT', path, { token: admin, body })).toMatchObject({
      status: 400,
      body: { error: `Invalid request body — ${words}` },
    });
  });

  test('are refused with a bounded list of what is wrong, in short words', async () => {
    const path = `${await newWebsite()}/${collection}`;
    const pictures = Array.from({ length: 300 }, () => ({ mediaId: 'none' }));
    const { status, body } = await put(`${path}/site`, null, { [`k${'x'.repeat(100_000)}`]: pictures });
    const { details } = body as { details: readonly { field: string }[] };
    expect([status, details.length, Math.max(...details.map(({ field }) => field.length))]).toEqual([400, 100, 200]);
  });

  test('are at most two hundred', async () => {
    const path = `${await newWebsite()}/${collection}`;
    const answers = await Promise.all(Array.from({ length: 200 }, (_, one) => put(`${path}/d${String(one)}`, null, {})));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    expect(await put(`${path}/more`, null, {})).toMatchObject({ status: 400, body: { code: 'too_many_content_documents' } });
    expect(await put(`${path}/d7`, answers[7] === undefined ? '' : (answers[7].body as Document).hash, [])).toMatchObject({
      status: 200,
    });
  });

  test('have at most 10 MB together, but for small ones', async () => {
    const path = `${await newWebsite()}/${collection}`;
    const text = (length: number) => ({ text: 'x'.repeat(length) });
    for (let one = 0; one < 11; one += 1) {
      expect((await put(`${path}/d${String(one)}`, null, text(890_000))).status).toBe(200);
    }
    const full = { status: 400, body: { code: 'content_limit_reached' } };
    expect(await put(`${path}/more`, null, text(300_000))).toMatchObject(full);
    for (const one of ['e', 'f', 'g', 'h', 'i']) {
      expect((await put(`${path}/${one}`, null, text(45_000))).status).toBe(200);
    }

    // There is more than may be, and it can be made less.
    const { hash } = await read(`${path}/d1`);
    expect(await put(`${path}/d1`, hash, text(891_000))).toMatchObject(full);
    const less = (await put(`${path}/d1`, hash, text(885_000))).body as Document;
    const least = (await put(`${path}/d1`, less.hash, text(100_000))).body as Document;
    expect(await put(`${path}/more`, null, text(300_000))).toMatchObject({ status: 200 });
    const restoration = { hash: less.hash, baseHash: least.hash };
    expect(await api.call('POST', `${path}/d1/restore`, { token: editor, body: restoration })).toMatchObject(full);
    expect(await read(`${path}/d1`)).toEqual(least);
  });

  test('that are large are listed in pages of at most 4 MB, with one at least', async () => {
    const path = `${await newWebsite()}/${collection}`;
    const lengths: Readonly<Record<string, number>> = { a: 1, b: 890_000, c: 890_000, d: 890_000, e: 890_000, f: 890_000, g: 1 };
    for (const [id, length] of Object.entries(lengths)) await put(`${path}/${id}`, null, { text: 'x'.repeat(length) });
    const pages: string[] = [];
    for (let next: string | undefined = `${path}?limit=200&count=true`; next !== undefined;) {
      const { body, headers }: ApiAnswer = await get(next, viewer);
      pages.push((body as readonly Document[]).map(({ id }) => id).join(''));
      expect(headers.get('total-count')).toBe('7');
      next = /<[^>]*\/v1(\/[^>]+)>; rel="next"/.exec(headers.get('link') ?? '')?.[1];
    }
    expect(pages).toEqual(['abcde', 'fg']);
    expect((await get(`${path}?ids=f,a,b,c,g`)).body).toMatchObject([
      { id: 'f' },
      { id: 'a' },
      { id: 'b' },
      { id: 'c' },
      { id: 'g' },
    ]);
    expect(await get(`${path}?ids=b,c,d,e,f`)).toMatchObject({
      status: 400,
      body: { error: 'Invalid query — ids: name fewer at once: these have more than 4 MB' },
    });
  });

  test('that are large are saved one after the other, so that they stay within it', async () => {
    const path = `${await newWebsite()}/${collection}`;
    const body = { text: 'x'.repeat(890_000) };
    const answers = await Promise.all(Array.from({ length: 13 }, (_, one) => put(`${path}/d${String(one)}`, null, body)));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([...Array<number>(11).fill(200), 400, 400]);
  });

  test('need their feature', async () => {
    const path = await newWebsite({ features: [] });
    expect(await get(`${path}/${collection}`)).toMatchObject({
      status: 403,
      body: { error: `Website does not have the ${collection} feature enabled` },
    });
  });

  test('of an archived website are read and not saved', async () => {
    const website = await newWebsite();
    const path = `${website}/${collection}/site`;
    await put(path, null, headline('One'));
    await api.call('POST', `${website}/archive`, { token: admin });
    expect((await get(path)).status).toBe(200);
    expect(await put(path, null, headline('Two'))).toMatchObject({ status: 400, body: { code: 'website_archived' } });
  });
});

describe('what a template declares', () => {
  const companyOf = async (): Promise<Record<string, unknown>> => {
    const templates = (await get('/templates')).body as readonly {
      readonly id: string;
      readonly editable: { readonly properties: Readonly<Record<string, { readonly default: Record<string, unknown> }>> };
    }[];
    const company = templates.find(({ id }) => id === 'business')?.editable.properties.company?.default;
    if (company === undefined) throw new Error('the template declares no company');
    return company;
  };

  test('is what its websites are held to', async () => {
    const path = `${await newWebsite()}/content/company`;
    const company = await companyOf();
    expect(
      await put(path, null, { ...company, email: 'nobody', colour: 'red', hours: [{ days: 'Monday' }] }, editor),
    ).toMatchObject({
      status: 400,
      body: {
        error: expect.stringMatching(/^Invalid request body — body\./),
        details: expect.arrayContaining([
          { field: 'body.email', issue: 'must be an e-mail address, as in ada@example.com; got 6 characters' },
          { field: 'body.colour', issue: 'is not a known field' },
          { field: 'body.hours.0.times', issue: 'is required' },
        ]),
      },
    });
    expect(await put(path, null, { ...company, tagline: 'Bread' }, editor)).toMatchObject({ status: 200 });
    expect(await put(path.replace('company', 'other'), null, { anything: true })).toMatchObject({ status: 200 });
  });

  test('is what every template shows, and nothing that it refuses', async () => {
    const path = `${await newWebsite()}/content`;
    const templates = (await get('/templates')).body as readonly {
      readonly id: string;
      readonly editable: { readonly properties: Readonly<Record<string, { readonly default: unknown }>> };
    }[];
    expect(templates.map(({ id }) => id)).toEqual(['business', 'landing']);
    for (const { id, editable } of templates) {
      const website = `${await newWebsite({ templateId: id })}/content`;
      for (const [documentId, { default: shown }] of Object.entries(editable.properties)) {
        expect([id, documentId, (await put(`${website}/${documentId}`, null, shown)).status]).toEqual([id, documentId, 200]);
      }
    }
    expect((await get(path)).body).toEqual([]);
  });
});

test('a website that was not provisioned has nothing to publish to, and shows nothing that nobody has saved', async () => {
  const path = await newWebsite();
  expect(await api.call('POST', `${path}/content/publish`, { token: editor })).toMatchObject({
    status: 400,
    body: { code: 'website_not_deployed' },
  });
  expect((await get(`${path}/content/company`)).status).toBe(404);
});

test('a viewer publishes nothing', async () => {
  const answer = await api.call('POST', `${await newWebsite()}/content/publish`, { token: viewer });
  expect(answer).toMatchObject({ status: 401, body: { error: 'Editor role required' } });
});
