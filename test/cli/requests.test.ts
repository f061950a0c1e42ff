import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { json, startScripted, type ScriptedServer, type Step } from '../sdk/scriptedServer.js';
import { makeHome, runCli, type Ran } from '../support/cli.js';

const token = 'svc_pat_0123456789abcdefghijklmnopqrstuvwxyz01234567';

/** Runs the program at a service that answers in this way. */
const runAt = async (steps: readonly Step[], ...args: readonly string[]): Promise<Ran & Pick<ScriptedServer, 'asked'>> => {
  const { url, asked } = await startScripted(...steps);
  return { ...(await runCli(makeHome({ DOORSTEP_URL: url, DOORSTEP_TOKEN: token }), args)), asked };
};

const urlsOf = ({ asked }: Pick<ScriptedServer, 'asked'>): string[] => asked.map(({ url }) => url);

describe('a call of a path', () => {
  it('sends its query as it is, and that of the next page', async () => {
    const next = { link: '</v1/websites?tag=a&tag=b&cursor=c1>; rel="next"' };
    const ran = await runAt([json(200, [1], next), json(200, [2])], 'api', 'GET', '/websites?tag=a&tag=b', '--paginate');
    expect(JSON.parse(ran.stdout)).toEqual([1, 2]);
    expect(urlsOf(ran)).toEqual(['/v1/websites?tag=a&tag=b', '/v1/websites?tag=a&tag=b&cursor=c1']);
  });
});

it.each([
  ['says that the service asks to wait, beside its data', [], 'Too many requests. The service asks to wait for 1 s…\n'],
  ['is silent meanwhile with --json', ['--json'], ''],
])('a call %s', async (_what, option, stderr) => {
  const busy = json(429, { error: 'Too many requests' }, { 'retry-after': '1' });
  const ran = await runAt([busy, json(200, [{ id: 'w1', slug: 'bakery' }])], 'websites', 'list', ...option);
  expect({ code: ran.code, stderr: ran.stderr }).toEqual({ code: 0, stderr });
  expect(ran.stdout).toContain('bakery');
});

describe('what stands on one page of several', () => {
  const bakery = { id: 'w1', slug: 'bakery', name: 'Bakery' };
  const next = { link: '</v1/websites?cursor=c1>; rel="next"' };
  const many = <T>(count: number, one: T): T[] => Array.from({ length: count }, () => one);
  const invoice = { id: 'i', status: 'paid', total: 1, currency: 'eur', createdAt: '2026-11-22T12:00:00Z' };
  const bills = { subscription: null, invoices: many(500, invoice) };

  it.each<[string, readonly Step[], readonly string[], string]>([
    ['a call of a path', [json(200, [1], next)], ['api', 'GET', '/websites'], 'Add --paginate for all of them.'],
    [
      'a search, as JSON',
      [json(200, { websites: many(20, bakery) })],
      ['search', 'bakery', '--json'],
      'There may be more: at most 20 websites and 20 clients are found. Search for more of the name.',
    ],
    [
      'the bills of a website',
      [json(200, { websites: [bakery] }), json(200, bills)],
      ['billing', 'show', 'bakery'],
      'All of them: doorstep invoices list --website bakery --all',
    ],
    [
      'the bills of a website, to its owner',
      [json(200, { websites: [{ ...bakery, via: 'owner' }] }), json(200, bills)],
      ['billing', 'show', 'bakery'],
      'These are the last 500.\n',
    ],
  ])('%s says so', async (_what, steps, args, said) => {
    const { code, stderr } = await runAt(steps, ...args);
    expect({ code, stderr }).toEqual({ code: 0, stderr: expect.stringContaining(said) });
  });
});

it.each([
  ['get', ['--version'], 3],
  ['restore', [], 4],
])('content %s takes the beginning of a hash, as lists show it', async (verb, option, requests) => {
  const found = json(200, { websites: [{ id: 'w1', slug: 'bakery', name: 'Bakery' }] });
  const hash = 'b5b18be8371c'.padEnd(64, '0');
  const document = json(200, { id: 'texts', hash, body: {} });
  const versions = json(200, [{ hash: 'f'.repeat(64) }, { hash }]);
  const steps = verb === 'get' ? [found, versions, document] : [found, document, versions, document];
  const ran = await runAt(steps, 'content', verb, 'bakery', 'texts', ...option, 'b5b18be8371c');
  expect({ code: ran.code, stderr: ran.stderr }).toEqual({ code: 0, stderr: verb === 'get' ? '' : 'texts is as it was.\n' });
  expect(ran.asked).toHaveLength(requests);
  expect(`${ran.asked.at(-1)?.url ?? ''} ${ran.asked.at(-1)?.body ?? ''}`).toContain(hash);
});

describe('a file', () => {
  const found = json(200, { websites: [{ id: 'w1', slug: 'bakery', name: 'Bakery' }] });
  const runWith = async (content: unknown, steps: readonly Step[], ...args: readonly string[]) => {
    const { url, asked } = await startScripted(...steps);
    const home = makeHome({ DOORSTEP_URL: url, DOORSTEP_TOKEN: token });
    const file = join(home.folder, 'given.json');
    writeFileSync(file, JSON.stringify(content));
    return { ...(await runCli(home, [...args, file])), asked };
  };

  it('as blueprint --json prints it is arranged by its places', async () => {
    const nodes = [
      { id: 'website', kind: 'website', label: 'bakery', state: 'ready', x: 0, y: 0 },
      { id: 'hosting', kind: 'hosting', label: 'bakery', state: 'ready', partOf: 'website', x: 240, y: 120 },
    ];
    const ran = await runWith({ nodes }, [found, json(200, { nodes })], 'blueprint', 'set', 'bakery', '--file');
    expect({ code: ran.code, stderr: ran.stderr }).toEqual({ code: 0, stderr: 'The blueprint of Bakery is arranged.\n' });
    expect(JSON.parse(ran.asked.at(-1)?.body ?? '')).toEqual({ nodes: nodes.map(({ id, x, y }) => ({ id, x, y })) });
  });

  it.each([[{ checkpoints: [] }], ['text'], [[null]]])(
    'of checkpoints that is %j is for the service to refuse',
    async (content) => {
      const block = { estimatedCompletionAt: '2026-12-22T12:00:00.000Z', showPreviewUrl: false, checkpoints: [], revision: 3 };
      const refusal = json(400, { error: 'Invalid request body — checkpoints: must be a list', details: null });
      const ran = await runWith(content, [found, json(200, block), refusal], 'delivery', 'set', 'bakery', '--checkpoints');
      expect(ran).toMatchObject({ code: 1, stderr: 'doorstep: Invalid request body — checkpoints: must be a list\n' });
    },
  );
});

describe('a day of the audit', () => {
  it.each(['Today', 'Tuesday', 'Thu', '22 Oct'])('is a whole one when it is called %s', async (day) => {
    const ran = await runAt([json(200, [])], 'audit', 'list', '--from', day, '--to', day);
    expect(urlsOf(ran)).toEqual([expect.stringMatching(/[?&]from=\d{4}-\d\d-\d\d&to=\d{4}-\d\d-\d\d(&|$)/)]);
  });

  it('is a time when it is one', async () => {
    const ran = await runAt([json(200, [])], 'audit', 'list', '--from', '2026-11-22T12:00:00Z');
    expect(urlsOf(ran)).toEqual([expect.stringContaining('from=2026-11-22T12%3A00%3A00.000Z')]);
  });
});

it('says that a delivery was not set up yet, rather than how to set it up', async () => {
  const found = json(200, { websites: [{ id: 'w1', slug: 'bakery', name: 'Bakery' }] });
  const refusal = json(404, { error: 'Website w1 has no delivery', code: 'delivery_not_set_up', details: null });
  const history = ['delivery', 'history', 'bakery', '--at', '2026-11-03'];
  const { code, stderr } = await runAt([found, refusal, json(200, {})], ...history);
  expect({ code, stderr }).toEqual({
    code: 1,
    stderr: 'doorstep: The delivery of bakery was not set up yet on Tuesday 3 November 2026, 12:00 UTC.\n',
  });
  expect((await runAt([found, refusal], ...history)).stderr).toContain('Website w1 has no delivery');
});

it.each([
  ['read', ['api', 'POST', '/websites', '--input', 'missing/body.json'], 'missing/body.json: there is no such file or folder.'],
  ['read', ['api', 'POST', '/websites', '--input', 'bin'], 'bin: this is a folder.'],
  ['read', ['blueprint', 'set', 'bakery', '--file', 'bin'], 'bin: this is a folder.'],
  ['written', ['audit', 'export', '-o', 'missing/audit.csv'], 'missing/audit.csv: there is no such file or folder.'],
  ['written', ['audit', 'export', '--force', '-o', 'bin'], 'bin: this is a folder.'],
])('names a file that cannot be %s as it was given: %j', async (_what, args, words) => {
  const { code, stdout, stderr } = await runAt([json(200, [], { 'content-type': 'text/csv' })], ...args);
  expect({ code, stdout, stderr }).toEqual({ code: 1, stdout: '', stderr: `doorstep: ${words}\n` });
});

describe('a field that nothing has', () => {
  const page = json(200, [
    { id: 'd1', slug: 'a' },
    { id: 'd2', slug: 'b', archivedAt: null },
  ]);

  it('is null, and named with those that there are', async () => {
    const { code, stdout, stderr } = await runAt([page], 'api', 'GET', '/websites', '--json', 'slug,sulg');
    expect(JSON.parse(stdout)).toEqual([
      { slug: 'a', sulg: null },
      { slug: 'b', sulg: null },
    ]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: 'Nothing here has a field sulg. There are: id, slug, archivedAt.\n' });
  });

  it('is named once, with the others where nothing has any of them', async () => {
    const next = { link: '</v1/me?cursor=c1>; rel="next"' };
    const steps = [json(200, { event: 'a' }, next), json(200, { event: 'b' })];
    const { stderr } = await runAt(steps, 'api', 'GET', '/me', '--paginate', '--json', 'type,at');
    expect(stderr).toBe('Nothing here has a field type, at. There are: event.\n');
  });

  it('is passed over where it is left out beside those that there are', async () => {
    expect((await runAt([page], 'api', 'GET', '/websites', '--json', 'slug,deletion')).stderr).toBe('');
    expect((await runAt([json(200, ['a'])], 'api', 'GET', '/websites', '--json', 'slug')).stderr).toBe('');
  });

  it('is passed over where something has it, or there is nothing', async () => {
    expect((await runAt([page], 'api', 'GET', '/websites', '--json', 'slug,archivedAt')).stderr).toBe('');
    expect((await runAt([json(200, [])], 'api', 'GET', '/websites', '--json', 'sulg')).stderr).toBe('');
  });
});

it.each(['null', '[]', '"ops"'])('names the file of settings that holds %s', async (text) => {
  const home = makeHome();
  const folder = join(home.folder, '.config/doorstep');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'config.json'), text);
  const { code, stderr } = await runCli(home, ['websites', 'list']);
  expect({ code, stderr }).toEqual({
    code: 1,
    stderr: `doorstep: ${folder}/config.json is not a JSON object. Correct it, or remove it and sign in again.\n`,
  });
});

describe('the token in use', () => {
  const key = { kind: 'token', scope: 'write', id: 'k1', name: 'This one', prefix: token.slice(0, 12) };
  const me = json(200, { subject: 'ada', role: 'admin', credential: key, websites: [], invitations: [] });

  it('is named by the service, of several that begin alike', async () => {
    const ran = await runAt([me], 'whoami', '--json');
    expect(JSON.parse(ran.stdout)).toMatchObject({ token: { id: 'k1', name: 'This one' } });
    expect(urlsOf(ran)).toEqual(['/v1/me']);
  });

  it('is kept and shown where an older service says nothing of it', async () => {
    const { url } = await startScripted(json(200, { subject: 'ada', role: 'admin' }));
    const home = makeHome({ DBUS_SESSION_BUS_ADDRESS: 'unix:path=/nowhere' });
    expect((await runCli(home, ['login', '--with-token', '--url', url], token)).code).toBe(0);
    const { code, stdout } = await runCli(home, ['whoami']);
    expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringContaining('\nexpires\t\n') });
    expect((await runCli(home, ['logout'])).stderr).toMatch(/does not say which token this is/);
  });

  it('is not called revoked where the service does not name it', async () => {
    const credential = { kind: 'token', scope: 'write' };
    const { url, asked } = await startScripted(json(200, { subject: 'ada', role: 'admin', credential }));
    const home = makeHome({ DBUS_SESSION_BUS_ADDRESS: 'unix:path=/nowhere' });
    expect((await runCli(home, ['login', '--with-token', '--url', url], token)).code).toBe(0);
    const { code, stderr } = await runCli(home, ['logout']);
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: expect.stringMatching(/does not say which token this is\n.*logout --force/),
    });
    expect(asked.map(({ method }) => method)).toEqual(['GET', 'GET']);
    expect((await runCli(home, ['logout', '--force'])).stderr).toMatch(/is still valid/);
  });
});
