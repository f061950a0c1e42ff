import { execFile } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { createReadStream, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { BadRequestError, Doorstep, NotFoundError, PermissionError, type ChangeEvent, type Progress } from '@doorstep/sdk';
import { eventually } from '../support/eventually.js';
import { audience, startTestIssuer, type TestIssuer } from '../support/oidcIssuer.js';
import { mintToken, startServer, type ServerProcess } from '../support/server.js';
import { createTcpProxy, type TcpProxy } from '../support/tcpProxy.js';
import { temporaryFolder } from '../support/temporary.js';
import { json, startScripted } from './scriptedServer.js';

const root = fileURLToPath(new URL('../..', import.meta.url));

let issuer: TestIssuer;
let server: ServerProcess;
let proxy: TcpProxy;
let token: string;
let doorstep: Doorstep;
/** By way of the proxy. */
let proxied: Doorstep;

beforeAll(async () => {
  issuer = await startTestIssuer();
  const folder = temporaryFolder();
  server = await startServer(folder, { AUTH_ISSUER: issuer.url, AUTH_AUDIENCE: audience });
  token = await mintToken(folder);
  const { hostname, port } = new URL(server.address);
  proxy = await createTcpProxy({ host: hostname, port: Number(port) });
  doorstep = new Doorstep({ baseUrl: server.address, token });
  proxied = new Doorstep({ baseUrl: `http://${proxy.address}`, token });
});

afterAll(async () => {
  await proxy.close();
  await server.kill('SIGTERM');
  await issuer.stop();
});

let made = 0;
const createWebsite = () => {
  made += 1;
  return doorstep.websites.create({ name: `Website ${String(made)}`, slug: `website-${String(made)}` });
};

describe('the README', () => {
  test('does the main job in a dozen lines', async () => {
    const readme = readFileSync(join(root, 'sdk/README.md'), 'utf8');
    const program = /^```ts\n(import \{ Doorstep \}.*?)^```/ms.exec(readme)?.[1] ?? '';
    expect(program.split('\n').filter((line) => line !== '').length).toBeLessThanOrEqual(12);
    const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', program], {
      cwd: root,
      env: { DOORSTEP_URL: server.address, DOORSTEP_TOKEN: token },
    });
    expect(stdout).toMatch(/succeeded 6 of 6\nReady by \d{4}-\d\d-\d\dT\S+Z\n$/);
    const website = await doorstep.websites.find('corner-bakery');
    expect(website.status).toBe('active');
    const { invitations } = await doorstep.websites.clients.list(website.id);
    expect(invitations).toMatchObject([{ email: 'ada@example.com', role: 'viewer', status: 'pending' }]);
    const { checkpoints } = await doorstep.websites.delivery.get(website.id);
    expect(checkpoints.map(({ id, status }) => [id, status]).slice(0, 2)).toEqual([
      ['kickoff', 'done'],
      ['design-approved', 'pending'],
    ]);
  });
});

describe('a write whose answer was lost', () => {
  test('has one effect, and the first answer', async () => {
    proxy.cutAfter('POST /v1/clients');
    const { data, response } = await proxied.clients.create({ email: 'lost@example.com', name: 'Lost' }).withResponse();
    expect(response.status).toBe(201);
    expect(response.headers.get('idempotent-replayed')).toBe('true');
    expect(await doorstep.clients.list({ q: 'lost@example.com' })).toMatchObject([{ id: data.id }]);
  });

  test('is no 404 when it deleted', async () => {
    const website = await createWebsite();
    const { id } = await doorstep.websites.documents.upload(website.id, { file: new Blob(['text']) });
    proxy.cutAfter(`DELETE /v1/websites/${website.id}/documents/${id}`);
    await proxied.websites.documents.delete(website.id, id);
    expect(await doorstep.websites.documents.list(website.id)).toEqual([]);
  });
});

describe('a list', () => {
  const emails = ['a', 'b', 'c', 'd', 'e'].map((name) => `${name}@paging.example`);
  const query = { q: 'paging.example', limit: 2 } as const;

  beforeAll(async () => {
    for (const email of emails) await doorstep.clients.create({ email });
  });

  test('is a promise of its first page, which knows of the others', async () => {
    const page = await doorstep.clients.list({ ...query, count: true });
    expect(page.map(({ email }) => email)).toEqual(emails.slice(3).reverse());
    expect(page).toMatchObject({ hasMore: true, total: 5 });
    const next = await doorstep.clients.list({ ...query, cursor: page.nextCursor ?? '' });
    expect(next.map(({ email }) => email)).toEqual(emails.slice(1, 3).reverse());
    expect(next.total).toBeUndefined();
  });

  test('goes through all pages, and asks for each when it comes to it', async () => {
    const asked: string[] = [];
    const noting = new Doorstep({
      baseUrl: `http://${proxy.address}`,
      token,
      fetch: (request, init) => {
        asked.push(new URL(request.url).search);
        return fetch(request, init);
      },
    });
    const found: string[] = [];
    for await (const client of noting.clients.list(query)) found.push(client.email);
    expect(found).toEqual([...emails].reverse());
    expect(asked).toHaveLength(3);
    for await (const client of noting.clients.list(query)) {
      found.push(client.email);
      break;
    }
    expect(asked).toHaveLength(4);
  });

  test('comes page by page', async () => {
    const pages: string[][] = [];
    for await (const page of doorstep.clients.list(query).pages()) pages.push(page.map(({ email }) => email));
    expect(pages.map(({ length }) => length)).toEqual([2, 2, 1]);
  });

  test('of another form comes page by page too', async () => {
    const website = await createWebsite();
    for (const email of emails) await doorstep.websites.clients.add(website.id, { email, role: 'viewer' });
    const pages: string[][] = [];
    for await (const { owner, links } of doorstep.websites.clients.list(website.id, { limit: 2 }).pages()) {
      expect(owner).toBeNull();
      pages.push(links.map(({ email }) => email));
    }
    expect(pages.map(({ length }) => length)).toEqual([2, 2, 1]);
    expect(pages.flat().sort()).toEqual(emails);
  });
});

describe('what changes', () => {
  test('is followed through a cut, and nothing is missed', async () => {
    const website = await createWebsite();
    await doorstep.websites.delivery.replace(website.id, {});
    const seen: ChangeEvent[] = [];
    const controller = new AbortController();
    const follow = async (): Promise<void> => {
      for await (const change of proxied.websites.watch(website.id, { signal: controller.signal })) seen.push(change);
    };
    const following = follow();
    await eventually('the start', () => seen.find(({ event }) => event === 'ready'));
    proxy.cut();
    await doorstep.websites.delivery.setCheckpointStatus(website.id, 'qa', 'done');
    proxy.restore();
    await eventually('what changed meanwhile', () => seen.find(({ event }) => event === 'delivery'));
    controller.abort();
    await expect(following).rejects.toMatchObject({ name: 'AbortError' });
  });

  test('is refused to whoever may not know it', async () => {
    const watching = doorstep.websites.watch('01m82p722cpb5y378a8ct43511');
    await expect(watching.next()).rejects.toBeInstanceOf(NotFoundError);
  });
});

describe('an upload', () => {
  const content = randomBytes(3 * 1024 * 1024 + 17);
  const sha256 = createHash('sha256').update(content).digest('hex');
  let file: string;
  let websiteId: string;

  beforeAll(async () => {
    file = join(temporaryFolder(), 'plan "final" für 🥐.bin');
    writeFileSync(file, content);
    websiteId = (await createWebsite()).id;
  });

  test.each([
    ['a path', () => ({ file }), true],
    ['a Blob', () => ({ file: new Blob([content]), fileName: 'plan.bin' }), true],
    ['a File', () => ({ file: new File([content], 'plan.bin') }), true],
    ['a Buffer', () => ({ file: content, fileName: 'plan.bin' }), true],
    ['an ArrayBuffer', () => ({ file: new Uint8Array(content).buffer, fileName: 'plan.bin' }), true],
    ['a stream of Node.js', () => ({ file: createReadStream(file), fileName: 'plan.bin' }), false],
    ['a stream of the web', () => ({ file: Readable.toWeb(createReadStream(file)) as ReadableStream<Uint8Array> }), false],
  ])('of %s says how far it is', async (_, input, isKnown) => {
    const steps: Progress[] = [];
    const document = await doorstep.websites.documents.upload(websiteId, input(), { onProgress: (step) => steps.push(step) });
    expect(document).toMatchObject({ size: content.length, sha256 });
    expect(steps.length).toBeGreaterThan(3);
    expect(steps.map(({ sent }) => sent)).toEqual(steps.map(({ sent }) => sent).sort((one, other) => one - other));
    expect(steps.at(-1)).toEqual({ sent: content.length, total: isKnown ? content.length : undefined });
  });

  test('names the file as it is called, or as the caller says', async () => {
    const upload = (name?: string) =>
      doorstep.websites.documents.upload(websiteId, { file, ...(name !== undefined && { name }) });
    expect((await upload()).name).toBe('plan _final_ für 🥐.bin');
    expect((await upload('Übersicht.bin')).name).toBe('Übersicht.bin');
  });

  test('has one effect when its answer is lost', async () => {
    const { id } = await createWebsite();
    proxy.cutAfter('doorstep-', '--\r\n');
    const steps: number[] = [];
    const document = await proxied.websites.documents.upload(id, { file }, { onProgress: ({ sent }) => steps.push(sent) });
    expect(steps.filter((sent) => sent === content.length)).toHaveLength(2);
    expect(await doorstep.websites.documents.list(id)).toMatchObject([{ id: document.id }]);
  });

  test('from a page sends a form, and says when it begins and ends', async () => {
    const program = `
      globalThis.document = {};
      const { Doorstep } = await import('@doorstep/sdk');
      const doorstep = new Doorstep({ baseUrl: process.env.DOORSTEP_URL, token: process.env.DOORSTEP_TOKEN });
      const steps = [];
      const onProgress = (step) => steps.push(step);
      for (const file of [new Blob(['text']), new Blob(['text']).stream()])
        await doorstep.websites.documents.upload(process.env.WEBSITE, { file, fileName: 'page.txt' }, { onProgress });
      console.log(JSON.stringify(steps));`;
    const { id } = await createWebsite();
    const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', program], {
      cwd: root,
      env: { DOORSTEP_URL: server.address, DOORSTEP_TOKEN: token, WEBSITE: id },
    });
    const steps = [
      { sent: 0, total: 4 },
      { sent: 4, total: 4 },
    ];
    expect(JSON.parse(stdout)).toEqual([...steps, ...steps]);
    const documents = await doorstep.websites.documents.list(id);
    expect(documents.map(({ name, size }) => [name, size])).toEqual([
      ['page.txt', 4],
      ['page.txt', 4],
    ]);
  });

  test('is not repeated when it is a stream', async () => {
    proxy.cutAfter('doorstep-', '--\r\n');
    const upload = proxied.websites.documents.upload(websiteId, { file: createReadStream(file) });
    await expect(upload).rejects.toMatchObject({ name: 'ConnectionError' });
  });

  test('that is refused says why, however large it is', async () => {
    const large = new Blob([new Uint8Array(40 * 1024 * 1024)]);
    const upload = doorstep.websites.documents.upload('01m82p722cpb5y378a8ct43511', { file: large });
    await expect(upload).rejects.toBeInstanceOf(NotFoundError);
  });

  test('of text instead of bytes is refused', async () => {
    const texts = createReadStream(file, 'utf8') as AsyncIterable<unknown> as AsyncIterable<Uint8Array>;
    await expect(doorstep.websites.documents.upload(websiteId, { file: texts })).rejects.toThrow('`file` gives no bytes');
  });

  test('of no file is refused before anything is sent', async () => {
    await expect(doorstep.websites.documents.upload(websiteId, { file: `${file}.not` })).rejects.toMatchObject({
      code: 'ENOENT',
    });
    await expect(doorstep.websites.documents.upload(websiteId, { file: root })).rejects.toThrow('is not a file');
  });

  test('may be tried', async () => {
    const { events } = await doorstep.websites.documents.upload(websiteId, { file }, { dryRun: true });
    expect(events.map(({ type }) => type)).toEqual(['DocumentUploaded']);
  });
});

describe('options of a call', () => {
  test('`ifMatch` refuses a change that is meant for something older', async () => {
    const { id } = await createWebsite();
    const { response } = await doorstep.websites.get(id).withResponse();
    const ifMatch = response.headers.get('etag') ?? '';
    await doorstep.websites.update(id, { name: 'New' }, { ifMatch });
    const late = doorstep.websites.update(id, { name: 'Newer' }, { ifMatch });
    await expect(late).rejects.toMatchObject({ status: 400, message: 'Someone else saved while you were editing' });
    await expect(late).rejects.toBeInstanceOf(BadRequestError);
  });

  test('`ifNoneMatch` gives nothing while nothing has changed', async () => {
    const { id } = await createWebsite();
    await doorstep.websites.delivery.replace(id, {});
    const first = await doorstep.websites.delivery.get(id).withResponse();
    const ifNoneMatch = first.response.headers.get('etag') ?? '';
    const second = await doorstep.websites.delivery.get(id, {}, { ifNoneMatch }).withResponse();
    expect([second.response.status, second.data]).toEqual([304, undefined]);
    await doorstep.websites.delivery.setCheckpointStatus(id, 'qa', 'done');
    expect(await doorstep.websites.delivery.get(id, {}, { ifNoneMatch })).toMatchObject({ revision: 1 });
  });

  test('`ifNoneMatch` gives nothing for a list, and no pages, while nothing has changed', async () => {
    const list = (ifNoneMatch?: string) => doorstep.clients.list({ email: 'listed@example.com' }, { ifNoneMatch });
    await doorstep.clients.create({ email: 'listed@example.com' });
    const ifNoneMatch = (await list().withResponse()).response.headers.get('etag') ?? '';
    const { data, response } = await list(ifNoneMatch).withResponse();
    expect([response.status, data]).toEqual([304, undefined]);
    const found: unknown[] = [];
    for await (const client of list(ifNoneMatch)) found.push(client);
    for await (const page of list(ifNoneMatch).pages()) found.push(page);
    expect(found).toEqual([]);
  });

  test('`dryRun` writes nothing', async () => {
    const { events } = await doorstep.websites.create({ name: 'Never', slug: 'never' }, { dryRun: true });
    expect(events.map(({ type }) => type)).toContain('WebsiteCreated');
    await expect(doorstep.websites.find('never')).rejects.toBeInstanceOf(NotFoundError);
  });

  test('`as` answers as somebody else would be answered, refusals included', async () => {
    const { id } = await createWebsite();
    await doorstep.clients.create({ email: 'viewer@example.com' });
    await expect(doorstep.websites.get(id, { as: 'viewer@example.com' })).rejects.toBeInstanceOf(PermissionError);
    await doorstep.websites.clients.add(id, { email: 'viewer@example.com', role: 'viewer' });
    expect(await doorstep.websites.get(id, { as: 'viewer@example.com' })).toMatchObject({ via: 'link', role: 'viewer' });
  });

  test('`.withResponse()` names the request as the service’s log does', async () => {
    const { data, response, requestId } = await doorstep.me.get({ headers: { 'x-request-id': 'mine-1' } }).withResponse();
    expect(data.role).toBe('admin');
    expect([response.status, requestId]).toEqual([200, 'mine-1']);
    await expect(doorstep.websites.get('nowhere', { headers: { 'x-request-id': 'mine-2' } })).rejects.toMatchObject({
      requestId: 'mine-2',
      code: 'website_not_found',
    });
  });
});

describe('a function that gives the token', () => {
  test('signs in to the portal’s paths', async () => {
    const portal = new Doorstep({
      baseUrl: server.address,
      token: () => issuer.sign({ sub: 'ada', email: 'ada@portal.example', email_verified: true, role: 'client' }),
    });
    expect(await portal.me.get()).toMatchObject({ subject: 'ada', role: 'client' });
    await expect(portal.websites.list()).rejects.toMatchObject({ status: 403, message: 'Admin role required' });
  });
});

describe('a website', () => {
  beforeAll(async () => {
    await doorstep.websites.create({ name: 'Anna’s Flowers', slug: 'annas-flowers' });
  });

  test.each(['annas-flowers', 'Annas-Flowers'])('is found by its slug: %s', async (slug) => {
    expect(await doorstep.websites.find(slug)).toMatchObject({ slug: 'annas-flowers' });
  });

  test('is found as `get` gives it, or as lists show it in one request', async () => {
    const asked: string[] = [];
    const counted = new Doorstep({
      baseUrl: server.address,
      token,
      fetch: (request, init) => {
        asked.push(new URL(request.url).pathname);
        return fetch(request, init);
      },
    });
    const { id } = await counted.websites.findListed('annas-flowers');
    expect(asked).toEqual(['/v1/search']);
    expect(await counted.websites.find('annas-flowers')).toEqual({ ...(await doorstep.websites.get(id)), billing: 'none' });
    expect(asked.slice(1)).toEqual(['/v1/search', `/v1/websites/${id}`]);
  });

  test('is found by its id, and when it is archived', async () => {
    const { id, slug } = await createWebsite();
    expect(await doorstep.websites.find(id)).toMatchObject({ id });
    await eventually('its activation', async () => ((await doorstep.websites.get(id)).status === 'active' ? true : undefined));
    await doorstep.websites.archive(id);
    expect(await doorstep.websites.find(slug)).toMatchObject({ id });
  });

  test('is looked for by its whole slug among the archived ones, of which there may be many', async () => {
    const archived = { id: 'w1', slug: 'bakery' };
    const scripted = await startScripted(json(200, { websites: [] }), json(200, [archived]));
    const { websites } = new Doorstep({ baseUrl: scripted.url, token: 'svc_pat_x' });
    expect(await websites.findListed('bakery')).toEqual(archived);
    expect(scripted.asked.map(({ url }) => url)).toEqual(['/v1/search?q=bakery', '/v1/websites?slug=bakery&archived=true']);
  });

  test.each(['Anna’s Flowers', '-', '', ' ', 'x'.repeat(201), 'x'.repeat(500)])(
    'is not found by what is no slug: %j',
    async (name) => {
      await expect(doorstep.websites.find(name)).rejects.toBeInstanceOf(NotFoundError);
    },
  );

  test.each(['anna-flowers', 'annas-flower', 'annas-flowrs', 'xnnas-flowers', 'annasflowers'])(
    'that was meant by %s is suggested',
    async (slip) => {
      const failure: unknown = await doorstep.websites.find(slip).catch((error: unknown) => error);
      expect(failure).toBeInstanceOf(NotFoundError);
      expect(failure).toMatchObject({ message: `Website ${slip} not found`, status: 404, suggestion: 'annas-flowers' });
    },
  );

  test('is not suggested when it is another one', async () => {
    await expect(doorstep.websites.find('flowers')).rejects.toMatchObject({ suggestion: undefined });
  });
});

describe('a request by its path', () => {
  test('is typed, has the token, and throws', async () => {
    const { id, slug } = await createWebsite();
    const website = await doorstep.request('GET', '/websites/{id}', { params: { path: { id } } });
    expect(website.slug).toBe(slug);
    const link = await doorstep.request('POST', '/websites/{id}/clients', {
      params: { path: { id } },
      body: { email: 'raw@example.com', role: 'viewer' },
    });
    expect(link.kind).toBe('invited');
    expect(await doorstep.request('GET', '/metrics')).toContain('# HELP');
    expect(await doorstep.request('GET', '/websites?limit=1')).toHaveLength(1);
    await expect(doorstep.request('GET', '/nowhere')).rejects.toMatchObject({ status: 404, message: 'Not found' });
  });
});
