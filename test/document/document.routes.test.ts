import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { startEverybody, type Everybody, type Person } from '../support/everybody.js';
import type { ApiAnswer, CallOptions } from '../support/http.js';
import { pdf, png, rawForm, upload, type SentForm } from '../support/upload.js';

interface Document {
  readonly id: string;
  readonly name: string;
  readonly contentType: string;
  readonly size: number;
}

let everybody: Everybody;
let path: string;
beforeAll(async () => {
  everybody = await startEverybody();
  path = `/websites/${everybody.websiteId}/documents`;
});

const tokenOf = (person: Person): string => everybody.credentials[person].token;
const send = (form: Omit<SentForm, 'token'>, at = path, person: Person = 'admin'): Promise<ApiAnswer> =>
  upload(everybody.api, at, { token: tokenOf(person), ...form });
const call = (method: string, at: string, options: CallOptions & { as?: Person } = {}): Promise<ApiAnswer> =>
  everybody.api.call(method, at, { token: tokenOf(options.as ?? 'admin'), ...options });
const sent = async (form: Partial<SentForm> = {}, at = path): Promise<Document> => {
  const answer = await send({ content: pdf, ...form }, at);
  expect([answer.status, answer.text]).toEqual([201, expect.anything()]);
  return answer.body as Document;
};
const error = ({ status, body }: ApiAnswer): unknown => [status, (body as { error: unknown }).error];

const filesStored = async (): Promise<string[]> => {
  const entries = await readdir(join(everybody.api.folder, 'files'), { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name));
};

const newWebsite = async (slug: string): Promise<string> => {
  const { body } = await call('POST', '/websites', { body: { name: slug, slug } });
  return `/websites/${(body as { id: string }).id}/documents`;
};

const addressOf = async (id: string, disposition?: string, as: Person = 'admin'): Promise<string> => {
  const query = disposition === undefined ? '' : `?disposition=${disposition}`;
  const answer = await call('GET', `${path}/${id}/url${query}`, { as });
  expect(answer.status).toBe(200);
  const { url, expiresAt } = answer.body as { url: string; expiresAt: string };
  const leftMs = Date.parse(expiresAt) - Date.now();
  expect(leftMs).toBeGreaterThan(280_000);
  expect(leftMs).toBeLessThanOrEqual(300_000);
  return url;
};

describe('uploading', () => {
  test('answers with the document, where it is, and what its content says that it is', async () => {
    const answer = await send({ name: 'Site plan.pdf', content: pdf, type: 'text/html' });
    expect(answer.status).toBe(201);
    const { id } = answer.body as Document;
    expect(answer.body).toEqual({
      id,
      websiteId: everybody.websiteId,
      name: 'Site plan.pdf',
      contentType: 'application/pdf',
      size: pdf.length,
      sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
      previewable: true,
      createdAt: expect.any(String),
      updatedAt: expect.any(String),
    });
    expect(answer.headers.get('location')).toBe(`/v1${path}/${id}`);
    expect((await call('GET', `${path}/${id}`, { as: 'viewer' })).body).toEqual(answer.body);
  });

  test('takes another name than the file has', async () => {
    expect((await sent({ name: 'x.pdf', fields: { name: 'Offer.pdf' } })).name).toBe('Offer.pdf');
  });

  test.each([
    ['../../etc/passwd', 'passwd'],
    ['C:\\Users\\ada\\plan.pdf', 'plan.pdf'],
    ['invoice\u202efdp.exe', 'invoicefdp.exe'],
    ['.htaccess', 'htaccess'],
    ['con.txt', '_con.txt'],
    ['what?<is>|this*.pdf', 'what__is__this_.pdf'],
    ['Übersicht – año 2026.pdf', 'Übersicht – año 2026.pdf'],
    ['   ', 'file'],
    ['..', 'file'],
    [`${'ä'.repeat(5_000)}.pdf`, `${'ä'.repeat(98)}.pdf`],
  ])('cleans the name %j', async (name, cleaned) => {
    expect((await sent({ name })).name).toBe(cleaned);
  });

  test.each<[string, string | Uint8Array, string, string]>([
    ['a PDF', pdf, 'x.txt', 'application/pdf'],
    ['a picture', png, 'x.pdf', 'image/png'],
    ['a page', '<!doctype html><script>alert(1)</script>', 'x.png', 'text/html'],
    ['an SVG', '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>', 'x.png', 'image/svg+xml'],
    ['an SVG behind a prolog', '<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg"/>', 'x.png', 'image/svg+xml'],
    ['XML', '<?xml version="1.0"?><a/>', 'x.png', 'application/xml'],
    ['text', 'Grüße', 'x.png', 'text/plain'],
    ['a table', 'a;b\n1;2\n', 'x.csv', 'text/csv'],
    ['text with an extension that every object has', 'Grüße', 'x.constructor', 'text/plain'],
    ['bytes', Buffer.from([0, 1, 2, 3, 250, 251]), 'x.png', 'application/octet-stream'],
    ['a program', Buffer.from('MZ\x90\0\x03\0\0\0\x04\0\0\0', 'latin1'), 'x.pdf', 'application/x-msdownload'],
  ])('finds what it is by its content: %s', async (_, content, name, contentType) => {
    const document = await sent({ content, name, type: 'image/png' });
    expect(document.contentType).toBe(contentType);
    const shown = ['application/pdf', 'image/png'].includes(contentType);
    expect(document).toMatchObject({ previewable: shown });
    const inline = await call('GET', `${path}/${document.id}/url?disposition=inline`);
    expect(inline.status).toBe(shown ? 200 : 400);
  });

  const part = '--|\ncontent-disposition: form-data; name="file"; filename="x.pdf"\n\n%PDF-1.7\n';
  test.each([
    ['no file', '--|\ncontent-disposition: form-data; name="name"\n\nx\n--|--\n', 'file: is required'],
    ['no parts', '--|--\n', 'file: is required'],
    ['two files', `${part}${part}--|--\n`, 'file: must be there once'],
    ['a file under another name', `${part.replace('"file"', '"document"')}--|--\n`, 'document: is not a known field'],
    ['a text for the file', '--|\ncontent-disposition: form-data; name="file"\n\nx\n--|--\n', 'file: must be a file'],
    ['an empty file', `${part.replace('%PDF-1.7', '')}--|--\n`, 'file: must not be empty'],
    ['no end', part, 'body: ends in the middle of a part, or is not multipart/form-data'],
    ['half a head', '--|\ncontent-dispo', 'body: ends in the middle of a part, or is not multipart/form-data'],
    ['a head that is none', '--|\nx\n\n1\n--|--\n', 'body: ends in the middle of a part, or is not multipart/form-data'],
    [
      'a head that is none, behind a file',
      `${part}--|\nx\n\n1\n--|--\n`,
      'body: ends in the middle of a part, or is not multipart/form-data',
    ],
    ['NUL in a head', part.replace('x.pdf', '\0'), 'body: ends in the middle of a part, or is not multipart/form-data'],
    [
      'a head that is none, and much behind it',
      `--|\nx\n\n${'1'.repeat(2_000_000)}\n--|--\n`,
      'body: ends in the middle of a part, or is not multipart/form-data',
    ],
    [
      'a field that there is not',
      `--|\ncontent-disposition: form-data; name="x"\n\n1\n${part}--|--\n`,
      'x: is not a known field',
    ],
    [
      'a name that is too long',
      `--|\ncontent-disposition: form-data; name="name"\n\n${'x'.repeat(5_000)}\n${part}--|--\n`,
      'name: is too long',
    ],
    [
      'a name twice',
      `${'--|\ncontent-disposition: form-data; name="name"\n\na\n'.repeat(2)}${part}--|--\n`,
      'name: must be there once',
    ],
    [
      'many fields',
      `${Array.from({ length: 50 }, (_, index) => `--|\ncontent-disposition: form-data; name="f${String(index)}"\n\na\n`).join('')}${part}--|--\n`,
      'body: has too many parts',
    ],
    [
      'a name of dots',
      `--|\ncontent-disposition: form-data; name="name"\n\n..\n${part}--|--\n`,
      'name: must be the name of a file',
    ],
    [
      '__proto__',
      `--|\ncontent-disposition: form-data; name="__proto__"\n\na\n${part}--|--\n`,
      '__proto__: is not a known field',
    ],
  ])('refuses %s, and keeps nothing', async (_, text, issue) => {
    const before = await filesStored();
    expect(error(await call('POST', path, rawForm(text)))).toEqual([400, `Invalid request body — ${issue}`]);
    expect(await filesStored()).toEqual(before);
  });

  test('takes the name before and after the file', async () => {
    const name = '--|\ncontent-disposition: form-data; name="name"\n\nafter.pdf\n';
    const { status, body } = await call('POST', path, rawForm(`${part}${name}--|--\n`));
    expect([status, (body as Document).name]).toEqual([201, 'after.pdf']);
  });

  test.each([
    ['JSON', { 'content-type': 'application/json' }, 'body: must be sent as multipart/form-data'],
    [
      'a form without files',
      { 'content-type': 'application/x-www-form-urlencoded' },
      'body: must be sent as multipart/form-data',
    ],
    ['no boundary', { 'content-type': 'multipart/form-data' }, 'body: must be sent as multipart/form-data'],
    ['an empty boundary', { 'content-type': 'multipart/form-data; x=y' }, 'body: must be multipart/form-data with a boundary'],
  ])('refuses %s', async (_, headers, issue) => {
    expect(error(await call('POST', path, { raw: '{}', headers }))).toEqual([400, `Invalid request body — ${issue}`]);
  });

  test('refuses a form that is compressed', async () => {
    const { raw, headers } = rawForm(`${part}--|--\n`);
    const answer = await call('POST', path, { raw: gzipSync(raw), headers: { ...headers, 'content-encoding': 'gzip' } });
    expect(error(answer)).toEqual([415, 'Content-Encoding is not supported: send the body as it is']);
  });

  test('needs a body', async () => {
    expect(error(await call('POST', path))).toEqual([400, 'Body required']);
  });

  test('takes 100 MB, and one byte more is too large', async () => {
    const before = await filesStored();
    const content = Buffer.alloc(100 * 1024 * 1024, 'x');
    const whole = await sent({ content, name: 'large.txt' });
    expect(whole.size).toBe(content.length);
    const more = await send({ content: Buffer.alloc(content.length + 1, 'x') });
    expect(error(more)).toEqual([413, 'Request body too large']);
    expect((await filesStored()).length).toBe(before.length + 1);
    expect((await call('DELETE', `${path}/${whole.id}`)).status).toBe(204);
  });

  test('as a dry run reads the file and keeps nothing', async () => {
    const before = await filesStored();
    const answer = await send({ content: pdf, name: 'plan.pdf' }, `${path}?dryRun=1`);
    expect(answer.status).toBe(200);
    const [event] = (answer.body as { events: readonly { type: string; data: object }[] }).events;
    expect(event).toMatchObject({
      type: 'DocumentUploaded',
      data: { name: 'plan.pdf', contentType: 'application/pdf', file: '' },
    });
    expect(await filesStored()).toEqual(before);
    expect((await send({ content: '' }, `${path}?dryRun=1`)).status).toBe(400);
  });

  test('repeated with its Idempotency-Key makes one document and keeps one file', async () => {
    const headers = { 'idempotency-key': 'upload-1' };
    const first = await send({ content: pdf, headers });
    const stored = await filesStored();
    const again = await send({ content: pdf, headers });
    expect([again.status, again.body]).toEqual([201, first.body]);
    expect(again.headers.get('idempotent-replayed')).toBe('true');
    expect(await filesStored()).toEqual(stored);
    expect(error(await send({ content: `${pdf} `, headers }))).toEqual([
      400,
      'Idempotency-Key was used with a different request',
    ]);
    expect(await filesStored()).toEqual(stored);
  });

  test.each<[Person, number]>([
    ['owner', 403],
    ['editor', 403],
    ['viewer', 403],
    ['stranger', 403],
  ])('is not for a client: %s', async (person, status) => {
    const before = await filesStored();
    expect((await send({ content: pdf }, path, person)).status).toBe(status);
    expect(await filesStored()).toEqual(before);
  });

  test('to an archived website, or one without the feature, is refused', async () => {
    const archived = await newWebsite('archived');
    await call('POST', archived.replace('documents', 'archive'));
    expect((await send({ content: pdf }, archived)).status).toBe(400);
    const without = await newWebsite('without');
    await call('PATCH', without.replace('/documents', ''), { body: { features: ['content'] } });
    expect(error(await send({ content: pdf }, without))).toEqual([403, 'Website does not have the documents feature enabled']);
  });
});

describe('the list', () => {
  test('has the newest first, can be sorted, counted and read by ids, and has pages', async () => {
    const at = await newWebsite('listed');
    const names = ['b.txt', 'C.txt', 'a.txt'];
    const documents: Document[] = [];
    for (const [index, name] of names.entries()) documents.push(await sent({ name, content: 'x'.repeat(10 ** (3 - index)) }, at));
    const namesOf = async (query: string): Promise<string[]> =>
      ((await call('GET', `${at}${query}`)).body as readonly Document[]).map(({ name }) => name);

    expect(await namesOf('')).toEqual(['a.txt', 'C.txt', 'b.txt']);
    expect(await namesOf('?sort=name')).toEqual(['a.txt', 'b.txt', 'C.txt']);
    expect(await namesOf('?sort=-size')).toEqual(['b.txt', 'C.txt', 'a.txt']);
    expect(await namesOf('?sort=createdAt')).toEqual(names);
    expect(await namesOf(`?ids=${documents[0]?.id ?? ''},nobody,${documents[2]?.id ?? ''}`)).toEqual(['b.txt', 'a.txt']);
    const page = await call('GET', `${at}?sort=size&limit=2&count=true`);
    expect((page.body as readonly Document[]).map(({ name }) => name)).toEqual(['a.txt', 'C.txt']);
    expect(page.headers.get('total-count')).toBe('3');
    const next = /<[^>]*\/v1(\/[^>]+)>/.exec(page.headers.get('link') ?? '')?.[1] ?? '';
    expect(((await call('GET', next)).body as readonly Document[]).map(({ name }) => name)).toEqual(['b.txt']);
    expect((await call('GET', `${at}?sort=sizeOrder`)).status).toBe(400);
    // Documents of other websites are not found by their ids.
    expect(await namesOf(`?ids=${(await sent()).id}`)).toEqual([]);
  });
});

describe('a document', () => {
  test('is renamed, at the state that was seen', async () => {
    const { id } = await sent();
    const seen = await call('GET', `${path}/${id}`);
    const headers = { 'if-match': seen.headers.get('etag') ?? '' };
    const renamed = await call('PATCH', `${path}/${id}`, { body: { name: 'a/b/New.pdf' }, headers });
    expect([renamed.status, (renamed.body as Document).name]).toEqual([200, 'New.pdf']);
    expect(error(await call('PATCH', `${path}/${id}`, { body: { name: 'x' }, headers }))).toEqual([
      400,
      'Someone else saved while you were editing',
    ]);
    expect((await call('PATCH', `${path}/${id}`, { body: { name: '//' } })).status).toBe(400);
  });

  test('is deleted, not twice, and restored', async () => {
    const { id } = await sent();
    const url = await addressOf(id);
    expect((await call('DELETE', `${path}/${id}`)).status).toBe(204);
    expect(error(await call('DELETE', `${path}/${id}`))).toEqual([404, `Document ${id} not found`]);
    expect((await call('GET', `${path}/${id}`)).status).toBe(404);
    expect((await call('GET', `${path}/${id}/url`)).status).toBe(404);
    expect((await call('GET', `${path}?ids=${id}`)).body).toEqual([]);
    expect((await fetch(url)).status).toBe(404);
    const restored = await call('POST', `${path}/${id}/undo`);
    expect([restored.status, (restored.body as Document).id]).toEqual([200, id]);
    expect((await fetch(url)).status).toBe(200);
  });

  test('that is not there is not found, whatever If-Match says', async () => {
    const { id } = await sent();
    const tag = (await call('GET', `${path}/${id}`)).headers.get('etag') ?? '';
    expect((await call('DELETE', `${path}/${id}`, { headers: { 'if-match': tag } })).status).toBe(204);
    for (const [gone, ifMatch] of [
      [id, tag],
      [id, '"nonsense"'],
      ['nope', '"5-x"'],
      ['nope', '*'],
    ] as const) {
      const headers = { 'if-match': ifMatch };
      const missing = [404, `Document ${gone} not found`];
      expect(error(await call('DELETE', `${path}/${gone}`, { headers }))).toEqual(missing);
      expect(error(await call('DELETE', `${path}/${gone}?dryRun=1`, { headers }))).toEqual(missing);
      expect(error(await call('PATCH', `${path}/${gone}`, { body: { name: 'x' }, headers }))).toEqual(missing);
    }
  });

  test('of another website is not found', async () => {
    const { id } = await sent();
    const other = await newWebsite('another');
    const missing = [404, `Document ${id} not found`];
    expect(error(await call('GET', `${other}/${id}`))).toEqual(missing);
    expect(error(await call('GET', `${other}/${id}/url`))).toEqual(missing);
    expect(error(await call('PATCH', `${other}/${id}`, { body: { name: 'x' } }))).toEqual(missing);
    expect(error(await call('DELETE', `${other}/${id}`))).toEqual(missing);
    expect(error(await call('POST', `${other}/${id}/undo`))).toEqual(missing);
  });
});

describe('an address', () => {
  test('gives the file without a token, as it is to be shown, and nothing in it may run', async () => {
    const { id } = await sent({ content: png, name: 'Büro "1".png' });
    const shown = await fetch(await addressOf(id, 'inline', 'viewer'));
    expect(shown.status).toBe(200);
    expect(Buffer.from(await shown.arrayBuffer()).equals(png)).toBe(true);
    const { headers } = shown;
    expect(headers.get('content-type')).toBe('image/png');
    expect(headers.get('content-disposition')).toBe(`inline; filename="Buro _1_.png"; filename*=UTF-8''B%C3%BCro%20_1_.png`);
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(headers.get('cache-control')).toBe('no-store');
    expect(headers.get('content-security-policy')).toMatch(/default-src 'none'.*; sandbox$/);
    const saved = await fetch(await addressOf(id));
    expect(saved.headers.get('content-disposition')).toMatch(/^attachment; /);
    await saved.arrayBuffer();
  });

  test('of a page is for saving alone', async () => {
    const { id } = await sent({ content: '<!doctype html><script>alert(1)</script>', name: 'x.html' });
    const { headers, status } = await fetch(await addressOf(id, 'attachment'));
    expect(status).toBe(200);
    expect(headers.get('content-disposition')).toMatch(/^attachment; filename="x.html"/);
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(headers.get('content-security-policy')).toMatch(/; sandbox$/);
  });

  test.each([
    ['bytes=2-4', 206, '234', 'bytes 2-4/10'],
    ['bytes=7-', 206, '789', 'bytes 7-9/10'],
    ['bytes=-2', 206, '89', 'bytes 8-9/10'],
    ['bytes=0-99', 206, '0123456789', 'bytes 0-9/10'],
    ['bytes=-99', 206, '0123456789', 'bytes 0-9/10'],
    ['bytes=4-2', 200, '0123456789', null],
    ['bytes=0-1,3-4', 200, '0123456789', null],
    ['lines=1-2', 200, '0123456789', null],
  ])('gives a part of it: %s', async (range, status, text, contentRange) => {
    const { id } = await sent({ content: '0123456789', name: 'x.txt' });
    const answer = await fetch(await addressOf(id), { headers: { range } });
    expect([answer.status, await answer.text(), answer.headers.get('content-range')]).toEqual([status, text, contentRange]);
  });

  test.each(['bytes=10-', 'bytes=-0'])('has no such part: %s', async (range) => {
    const { id } = await sent({ content: '0123456789', name: 'x.txt' });
    const answer = await fetch(await addressOf(id), { headers: { range } });
    expect([answer.status, answer.headers.get('content-range'), await answer.json()]).toEqual([
      416,
      'bytes */10',
      { error: 'The file has only 10 bytes', code: 'range_not_satisfiable', details: null },
    ]);
  });

  test('gives the whole of it to whoever knows a part by a tag, since there is none', async () => {
    const { id } = await sent({ content: '0123456789', name: 'x.txt' });
    const answer = await fetch(await addressOf(id), { headers: { range: 'bytes=2-4', 'if-range': '"x"' } });
    expect([answer.status, await answer.text()]).toEqual([200, '0123456789']);
  });

  test('says with HEAD how large it is, whatever part is asked for', async () => {
    const { id } = await sent({ content: '0123456789', name: 'x.txt' });
    for (const headers of [{}, { range: 'bytes=2-4' }, { range: 'bytes=10-' }]) {
      const answer = await fetch(await addressOf(id), { method: 'HEAD', headers });
      expect([headers, answer.status, answer.headers.get('content-length')]).toEqual([headers, 200, '10']);
    }
  });

  test('is useless for another document, and when it is changed', async () => {
    const [one, other] = [await sent(), await sent()];
    const url = await addressOf(one.id);
    const changed = [
      url.replace(one.id, other.id),
      url.replace(/signature=.*/, 'signature=x'),
      url.replace(/signature=.*/, `signature=99999.${'A'.repeat(80)}`),
      `${url}AAAA`,
      url.replace(/signature=(\d+)/, 'signature=0'),
    ];
    for (const address of changed) {
      const answer = await fetch(address);
      expect([address, answer.status]).toEqual([address, 403]);
      await answer.text();
    }
    const without = await fetch(url.split('?')[0] ?? '');
    expect(without.status).toBe(400);
    await without.text();
  });

  test('is in no log', async () => {
    const { id } = await sent();
    const signature = new URL(await addressOf(id)).searchParams.get('signature') ?? '';
    await (await fetch(await addressOf(id))).text();
    expect(JSON.stringify(everybody.api.log)).not.toContain(signature.slice(5, 40));
  });

  test('is refused as soon as the member lost access', async () => {
    const { api, clientIds, websiteId } = everybody;
    const { id } = await sent();
    const clients = `/websites/${websiteId}/clients`;
    const email = 'leaver@example.com';
    await call('POST', '/clients', { body: { email } });
    const { body } = await call('POST', clients, { body: { email, role: 'viewer' } });
    const { clientId } = (body as { link: { clientId: string } }).link;
    const token = await api.mintToken({ role: 'client', subject: 'leaver', verifiedEmail: email });
    const { url } = (await api.call('GET', `${path}/${id}/url`, { token })).body as { url: string };
    const status = async (): Promise<number> => {
      const answer = await fetch(url);
      await answer.arrayBuffer();
      return answer.status;
    };
    expect(await status()).toBe(200);
    expect((await call('DELETE', `${clients}/${clientId}`)).status).toBe(204);
    expect(await status()).toBe(403);
    await call('POST', clients, { body: { email, role: 'editor' } });
    expect(await status()).toBe(200);
    expect(clientIds.editor).not.toBe(clientId);
  });

  test('is refused once the token that asked for it is revoked', async () => {
    const { api } = everybody;
    const { id } = await sent();
    const key = (await call('POST', '/api-keys', { body: { name: 'short' } })).body as { id: string; token: string };
    const { url } = (await api.call('GET', `${path}/${id}/url`, { token: key.token })).body as { url: string };
    expect((await fetch(url, { method: 'HEAD' })).status).toBe(200);
    await call('DELETE', `/api-keys/${key.id}`);
    expect((await fetch(url, { method: 'HEAD' })).status).toBe(403);
  });

  test('got as a member is refused once the token of the admin who asked is revoked', async () => {
    const { api } = everybody;
    const { id } = await sent();
    const key = (await call('POST', '/api-keys', { body: { name: 'short' } })).body as { id: string; token: string };
    const address = `${path}/${id}/url?as=viewer@example.com`;
    const { url } = (await api.call('GET', address, { token: key.token })).body as { url: string };
    expect((await fetch(url, { method: 'HEAD' })).status).toBe(200);
    await call('DELETE', `/api-keys/${key.id}`);
    expect((await fetch(url, { method: 'HEAD' })).status).toBe(403);
  });

  test('is refused while the feature is off', async () => {
    const { id } = await sent();
    const url = await addressOf(id);
    const website = `/websites/${everybody.websiteId}`;
    const { features } = (await call('GET', website)).body as { features: readonly string[] };
    await call('PATCH', website, { body: { features: features.filter((name) => name !== 'documents') } });
    expect((await fetch(url, { method: 'HEAD' })).status).toBe(403);
    await call('PATCH', website, { body: { features } });
    expect((await fetch(url, { method: 'HEAD' })).status).toBe(200);
  });
});
