import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { json as answering, startScripted } from '../sdk/scriptedServer.js';
import { makeHome, runCli, startCli, type Home, type Ran } from '../support/cli.js';
import { eventually } from '../support/eventually.js';
import { createApi, mintToken, startServer } from '../support/server.js';
import { temporaryFolder } from '../support/temporary.js';

let home: Home;
let dataDir: string;

const cli = (...args: readonly string[]): Promise<Ran> => runCli(home, args);
const json = async (...args: readonly string[]): Promise<unknown> => JSON.parse((await cli(...args, '--json')).stdout) as unknown;
const file = (name: string): string => join(home.folder, name);

beforeAll(async () => {
  dataDir = temporaryFolder();
  const { address } = await startServer(dataDir);
  const token = await mintToken(dataDir);
  home = makeHome({ DOORSTEP_URL: address, DOORSTEP_TOKEN: token, TZ: 'UTC' });
  await createApi(address, token).post('/clients', { email: 'nell@example.com', name: 'Nell' });
  const { stdout, code } = await cli('websites', 'create', 'Corner Bakery', '--slug', 'corner-bakery', '--watch');
  expect({ code, lines: stdout.trimEnd().split('\n') }).toEqual({
    code: 0,
    lines: [
      expect.stringMatching(/^Repository from the template {4}corner-bakery {21}\d+\.\d s$/),
      expect.stringMatching(/^Collaborators {19}none to invite {20}\d+\.\d s$/),
      expect.stringMatching(/^Hosting project {17}corner-bakery {21}\d+\.\d s$/),
      expect.stringMatching(/^Variables {23}3 set {29}\d+\.\d s$/),
      expect.stringMatching(/^First deployment {16}commit [0-9a-f]{7} {20}\d+\.\d s$/),
      expect.stringMatching(/^Last check {22}the site answers {18}\d+\.\d s$/),
    ],
  });
});

describe('websites', () => {
  it('are created without a word of progress in the data', async () => {
    const { stdout, stderr } = await cli(
      'websites',
      'create',
      'Florist',
      '--slug',
      'florist',
      '--watch',
      '--json',
      'slug,status',
    );
    expect(JSON.parse(stdout)).toEqual({ slug: 'florist', status: 'active' });
    expect(stderr).toMatch(/Last check/);
  });

  it('are named by slug and by id, and a near slug is proposed', async () => {
    const { id } = (await json('websites', 'get', 'corner-bakery')) as { id: string };
    expect(await json('websites', 'get', id)).toMatchObject({ slug: 'corner-bakery' });
    expect(await cli('websites', 'get', 'corner-bakry')).toEqual({
      code: 1,
      stdout: '',
      stderr: 'doorstep: Website corner-bakry not found. Did you mean corner-bakery?\n',
    });
  });

  it('are listed in as many requests as it takes', async () => {
    expect((await json('websites', 'list', '--all', '--sort', 'slug')) as { slug: string }[]).toMatchObject([
      { slug: 'corner-bakery' },
      { slug: 'florist' },
    ]);
    expect((await cli('websites', 'list', '--limit', '1', '--sort', '-slug')).stdout).toMatch(/^florist\tFlorist\t/);
  });

  it('are deleted only with their slug, without a terminal', async () => {
    await cli('websites', 'archive', 'florist');
    expect((await cli('provisioning', 'watch', 'florist')).stderr).toBe('Florist is archived.\n');
    const refused = await cli('websites', 'delete', 'florist');
    expect(refused).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('--confirm') as unknown });
    expect(await cli('websites', 'delete', 'florist', '--yes')).toEqual({
      code: 1,
      stdout: '',
      stderr: 'doorstep: --yes is not enough here: add --confirm "florist".\n',
    });
    expect(await cli('websites', 'delete', 'florist', '--confirm', 'flower')).toMatchObject({ code: 1, stdout: '' });
    const deleted = await cli('websites', 'delete', 'florist', '--confirm', 'florist');
    expect(deleted).toMatchObject({
      code: 0,
      stderr: expect.stringMatching(/^Florist will be deleted on \d+ \w+( \d+)?\. To keep the website: /) as unknown,
    });
    expect(await json('websites', 'restore', 'florist')).not.toHaveProperty('purgeAt');
  });

  it('say what stays at the providers when they are deleted, and take another choice while they wait', async () => {
    await cli('websites', 'archive', 'florist');
    const deletion = ['websites', 'delete', 'florist', '--confirm', 'florist'];
    expect((await cli(...deletion, '--keep', 'repository,hosting')).stderr).toMatch(
      /^Florist will be deleted on [^;]+; its repository and hosting project stay\. /,
    );
    expect((await cli(...deletion, '--keep', 'hosting')).stderr).toMatch(/; its hosting project stays\. /);
    expect((await cli('websites', 'get', 'florist')).stdout).toContain('\nstays\thosting\n');
    expect((await cli(...deletion, '--keep', '')).stderr).not.toContain('stay');
    expect((await cli(...deletion, '--keep', 'domain')).stderr).toContain('name repository, hosting, or both');
    await cli('websites', 'restore', 'florist');
  });

  it('say why their build failed, with exit code 1', async () => {
    const folder = temporaryFolder();
    // A source host that knows none of GitHub's paths: this service.
    const GITHUB_API_URL = home.environment.DOORSTEP_URL ?? '';
    const { address } = await startServer(folder, {
      GITHUB_TOKEN: 'token',
      GITHUB_OWNER: 'agency',
      GITHUB_TEMPLATE: 'agency/template',
      VERCEL_TOKEN: 'token',
      GITHUB_API_URL,
    });
    const away = makeHome({ DOORSTEP_URL: address, DOORSTEP_TOKEN: await mintToken(folder) });
    const { code, stdout, stderr } = await runCli(away, ['websites', 'create', 'Bookshop', '--slug', 'bookshop', '--watch']);
    expect(code).toBe(1);
    expect(stdout).toMatch(/^Repository from the template {4}failed {28}\d+\.\d s\n {2}\S.*\n$/);
    expect(stderr).toMatch(
      /\ndoorstep: .*github_create_repo.* To go on from the failed step: doorstep provisioning retry bookshop\n$/,
    );
    const retried = await runCli(away, ['provisioning', 'retry', 'bookshop', '--watch', '--json', 'status']);
    expect({ code: retried.code, job: JSON.parse(retried.stdout) as unknown }).toEqual({ code: 1, job: { status: 'failed' } });
  });
});

describe('a deployment that was asked for', () => {
  it.each([
    ['building', { code: 0, stdout: 'd1\n', stderr: 'Bakery is being built. How it goes: doorstep deployments bakery\n' }],
    ['ready', { code: 0, stdout: 'd1\n', stderr: 'The site of Bakery is up to date.\n' }],
    ['failed', { code: 1, stdout: '', stderr: 'doorstep: Bakery could not be built: No index.html\n' }],
  ])('is told as it stands: %s', async (status, ran) => {
    const { url } = await startScripted((response, request) =>
      request.url?.startsWith('/v1/search')
        ? answering(200, { websites: [{ id: 'w1', slug: 'bakery', name: 'Bakery' }] })(response, request)
        : answering(200, { id: 'd1', status, ...(status === 'failed' && { error: 'No index.html' }) })(response, request),
    );
    const scripted = { ...home, environment: { ...home.environment, DOORSTEP_URL: url } };
    expect(await runCli(scripted, ['websites', 'redeploy', 'bakery'])).toEqual(ran);
    expect(await runCli(scripted, ['content', 'publish', 'bakery'])).toEqual(ran);
  });
});

describe('a search', () => {
  it.each([
    [19, ''],
    [20, 'There may be more: at most 20 websites and 20 clients are found. Search for more of the name.\n'],
  ])('that finds %d websites', async (count, note) => {
    const websites = [...Array(count).keys()].map((number) => ({ id: `w${String(number)}`, slug: 'bakery', name: 'Bakery' }));
    const { url } = await startScripted(answering(200, { websites }));
    const scripted = { ...home, environment: { ...home.environment, DOORSTEP_URL: url } };
    expect(await runCli(scripted, ['search', 'bakery'])).toMatchObject({ code: 0, stderr: note });
  });
});

describe('a delivery', () => {
  beforeAll(async () => {
    await cli('delivery', 'set', 'corner-bakery', '--ready-by', '2099-12-15');
  });

  it('is shown as a sentence and its checkpoints', async () => {
    await cli('delivery', 'checkpoint', 'corner-bakery', 'kickoff', 'done');
    const { stdout } = await cli('delivery', 'corner-bakery');
    expect(stdout).toMatch(
      /^Corner Bakery: ready by 15 December 2099 \(in [\d,]+ days\)\. 1 of 6 done; next: Design approved\.\n {2}done {9}Kickoff {3}/,
    );
  });

  it('says what would change, and changes nothing', async () => {
    const before = await json('delivery', 'corner-bakery');
    const change = ['delivery', 'set', 'corner-bakery', '--ready-by', '22 Dec 2099', '--reason', 'The photos come a week later.'];
    expect(await cli(...change, '--dry-run')).toEqual({
      code: 0,
      stdout:
        'Would change 1 thing at corner-bakery (revision 1):\n  ready by   15 December 2099 → 22 December 2099   (clients read the reason)\n',
      stderr: '',
    });
    expect(await json('delivery', 'corner-bakery')).toEqual(before);
    expect(await cli(...change)).toMatchObject({ code: 0, stderr: 'Changed 1 thing at corner-bakery (revision 2):\n' });
    expect(await cli(...change, '--dry-run')).toMatchObject({ stdout: expect.stringMatching(/^Would change/) as unknown });
    expect(await json('delivery', 'corner-bakery')).toMatchObject({
      estimatedCompletionAt: '2099-12-22T12:00:00.000Z',
      revision: 2,
    });
  });

  it('says what an undo would change', async () => {
    expect(await cli('delivery', 'undo', 'corner-bakery', '2', '--dry-run')).toEqual({
      code: 0,
      stdout: 'Would change 1 thing at corner-bakery (revision 2):\n  ready by   22 December 2099 → 15 December 2099\n',
      stderr: '',
    });
  });

  it('takes a status as it is written on a command line, and names the checkpoints that there are', async () => {
    await cli('websites', 'create', 'Second', '--slug', 'second');
    expect(await cli('delivery', 'second')).toEqual({
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(
        /^doorstep: Delivery for .* is not set up\nTo set it up: doorstep delivery set <website> --ready-by <date>\n$/,
      ) as unknown,
    });
    await cli('delivery', 'set', 'second');
    expect(await cli('delivery', 'checkpoint', 'second', 'qa', 'in-progress')).toMatchObject({ code: 0 });
    expect(await json('delivery', 'second')).toMatchObject({
      checkpoints: expect.arrayContaining([expect.objectContaining({ id: 'qa', status: 'in_progress' })]) as unknown,
    });
    expect(await cli('delivery', 'checkpoint', 'second', 'kickof', 'done')).toEqual({
      code: 1,
      stdout: '',
      stderr:
        'doorstep: Checkpoint kickof not found. Did you mean kickoff? There are: kickoff, design-approved, initial-deploy, content-loaded, qa, launch.\n',
    });
  });

  it('asks before an undo that takes later changes back too', async () => {
    for (const id of ['kickoff', 'design-approved']) await cli('delivery', 'checkpoint', 'second', id, 'done');
    const before = await json('delivery', 'second');
    const undo = ['delivery', 'undo', 'second', '1'];
    expect(await cli(...undo)).toEqual({
      code: 1,
      stdout: '',
      stderr: 'doorstep: There is no terminal to ask at: add --yes to confirm.\n',
    });
    expect(await json('delivery', 'second')).toEqual(before);

    const undone = 'Took back the change of revision 1 and the 2 changes after it (now revision 4).\n';
    expect(await cli(...undo, '--yes')).toEqual({ code: 0, stdout: '', stderr: undone });
    const after = (await json('delivery', 'second')) as { checkpoints: { status: string }[] };
    expect(after.checkpoints.filter(({ status }) => status !== 'pending')).toEqual([]);
    const again = { code: 0, stdout: '', stderr: 'Changed nothing at second (revision 4).\n' };
    expect(await cli(...undo, '--yes')).toEqual(again);

    // Of the newest change nothing else is taken back, so that there is nothing to ask.
    expect((await cli('delivery', 'undo', 'second', '4')).stderr).toBe('Took back the change of revision 4 (now revision 5).\n');
  });

  it('sends an undo for the delivery that it has read', async () => {
    const server = await startScripted(
      answering(200, { websites: [{ id: 'w1', slug: 'bakery', name: 'Bakery' }] }),
      answering(200, { revision: 7, checkpoints: [] }, { etag: '"7-0a1b"' }),
      answering(200, { revision: 8, checkpoints: [] }),
    );
    const scripted = { ...home, environment: { ...home.environment, DOORSTEP_URL: server.url } };
    expect(await runCli(scripted, ['delivery', 'undo', 'bakery', '7'])).toMatchObject({ code: 0 });
    expect(server.asked.map(({ method, headers }) => [method, headers['if-match']])).toEqual([
      ['GET', undefined],
      ['GET', undefined],
      ['POST', '"7-0a1b"'],
    ]);
  });

  it('has a history, and can be seen as it was', async () => {
    const history = await cli('delivery', 'history', 'corner-bakery');
    expect(history.stdout).toMatch(
      /^2\t.*\testimatedCompletionAt\t2099-12-15T12:00:00.000Z\t2099-12-22T12:00:00.000Z\tThe photos come a week later\.$/m,
    );
    const [, { at }] = (await json('delivery', 'history', 'corner-bakery')) as [unknown, { at: string }];
    expect((await cli('delivery', 'history', 'corner-bakery', '--at', at)).stdout).toMatch(/ready by 15 December 2099/);
  });

  it('gives nothing but a reason, once', async () => {
    const change = ['delivery', 'set', 'corner-bakery', '--reason', 'The baker was ill.', '--private'];
    const line = '  “The baker was ill.”   (clients do not read the reason)\n';
    expect((await cli(...change, '--dry-run')).stdout).toBe(`Would give a reason at corner-bakery (revision 2):\n${line}`);
    const given = { code: 0, stdout: line, stderr: 'Gave a reason at corner-bakery (revision 3):\n' };
    expect(await cli(...change)).toEqual(given);
    expect(await cli(...change)).toEqual({ code: 0, stdout: '', stderr: 'Changed nothing at corner-bakery (revision 3).\n' });
    expect((await cli('delivery', 'history', 'corner-bakery')).stdout).toMatch(/^3\t[^\t]*\t[^\t]*\t\t\t\tThe baker was ill\.$/m);
  });

  it('refuses checkpoints of a file beside changes of checkpoints', async () => {
    writeFileSync(file('checkpoints.json'), '[]');
    const set = ['delivery', 'set', 'corner-bakery', '--checkpoints', 'checkpoints.json'];
    expect(await cli(...set, '--due', 'qa=22 Dec 2099')).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(/^doorstep: --checkpoints excludes --due, --needed, --label, --add and --remove/) as unknown,
    });
  });

  it('refuses a date that is none, and a checkpoint that is not there, with what there is', async () => {
    expect((await cli('delivery', 'set', 'corner-bakery', '--ready-by', 'soon')).stderr).toMatch(
      /^doorstep: "soon" is not a date\. Write it like "22 Dec"/,
    );
    expect((await cli('delivery', 'set', 'corner-bakery', '--remove', 'qaa')).stderr).toMatch(/There are: kickoff, .*launch/);
  });

  it('does not let what clients wrote act on a terminal', async () => {
    await cli('delivery', 'set', 'corner-bakery', '--needed', 'qa=red \u001b[31mtext\u0007');
    expect((await cli('delivery', 'corner-bakery')).stdout).toMatch(/needed: red \ufffd\[31mtext\ufffd/);
    expect((await cli('delivery', 'corner-bakery', '--jq', '.checkpoints[4].neededFromClient')).stdout).toBe(
      'red \u001b[31mtext\u0007\n',
    );
  });
});

describe('bookings', () => {
  it.each(['UTC', 'Pacific/Auckland', 'America/Los_Angeles'])('of a day are all of that day in %s', async (TZ) => {
    await cli('websites', 'update', 'corner-bakery', '--tier', 'scale');
    const there = { ...home, environment: { ...home.environment, TZ } };
    const year = String(2090 + TZ.length);
    const add = (title: string, start: string, end: string): Promise<Ran> =>
      runCli(there, ['bookings', 'add', 'corner-bakery', title, '--start', `${year}-12-${start}`, '--end', `${year}-12-${end}`]);
    for (const [title, start, end] of [
      ['Before', '01T23:00', '01T23:30'],
      ['Breakfast', '02T00:00', '02T09:00'],
      ['Supper', '02T20:00', '02T23:30'],
      ['After', '03T00:00', '03T00:30'],
    ] as const)
      expect(await add(title, start, end)).toMatchObject({ code: 0 });

    const day = `${year}-12-02`;
    const list = (...range: readonly string[]): Promise<Ran> =>
      runCli(there, ['bookings', 'list', 'corner-bakery', ...range, '--jq', '.[].title']);
    expect((await list('--from', day, '--to', `2 Dec ${year}`)).stdout).toBe('Breakfast\nSupper\n');
    expect((await list('--from', `${day}T10:00:00Z`, '--to', `${day}T10:00:00Z`)).stdout).toBe('');
  });
});

describe('clients', () => {
  it('are given access, with another role, and lose it', async () => {
    expect((await cli('clients', 'add', 'corner-bakery', 'nell@example.com', '--role', 'viewer')).stderr).toBe(
      'nell@example.com has access to Corner Bakery as viewer.\n',
    );
    expect((await cli('clients', 'add', 'corner-bakery', 'new@example.com', '--role', 'editor')).stderr).toMatch(
      /is invited to Corner Bakery as editor/,
    );
    await cli('clients', 'set-role', 'corner-bakery', 'nell@example.com', 'editor');
    expect((await cli('access', 'list', 'corner-bakery')).stdout).toMatch(
      /^nell@example.com\tNell\teditor\t\w+\nnew@example.com\t\tinvited as editor\t/,
    );
    expect(await cli('clients', 'remove', 'corner-bakery', 'nell@example.com')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('--yes') as unknown,
    });
    await cli('clients', 'remove', 'corner-bakery', 'nell@example.com', '--yes');
    await cli('clients', 'undo-remove', 'corner-bakery', 'nell@example.com');
    expect((await cli('access', 'explain', 'corner-bakery', 'nell@example.com')).stdout).toMatch(
      /^Websites\tgetWebsite\ttrue\tlink\t/,
    );
  });

  it('are erased only with their address', async () => {
    await cli('clients', 'create', 'gone@example.com');
    expect(await cli('clients', 'erase', 'gone@example.com')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('--confirm') as unknown,
    });
    expect(await cli('clients', 'erase', 'gone@example.com', '-y')).toMatchObject({
      code: 1,
      stderr: 'doorstep: --yes is not enough here: add --confirm "gone@example.com".\n',
    });
    expect(await cli('clients', 'erase', 'gone@example.com', '--confirm', 'gone@example.com')).toMatchObject({ code: 0 });
    expect(await cli('clients', 'get', 'gone@example.com')).toMatchObject({
      code: 1,
      stderr: 'doorstep: No client has the address gone@example.com.\n',
    });
  });
});

describe('transfers', () => {
  it('are found by the address after they were accepted, the newest first, and cancelled while they are open', async () => {
    const offer = ['transfers', 'offer', 'corner-bakery', 'heir@example.com'];
    await cli(...offer);
    expect((await cli('transfers', 'cancel', 'corner-bakery', 'heir@example.com', '--yes')).code).toBe(0);
    const { id, claimUrl } = (await json(...offer)) as { id: string; claimUrl: string };
    const token = await mintToken(dataDir, 'client', 'heir@example.com');
    const claimed = await runCli({ ...home, environment: { ...home.environment, DOORSTEP_TOKEN: token } }, [
      'invitations',
      'claim',
      id,
    ]);
    expect(claimed).toMatchObject({ code: 0 });

    expect(await json('transfers', 'get', 'corner-bakery', 'Heir@example.com')).toMatchObject({
      id,
      claimUrl,
      status: 'accepted',
    });
    expect((await cli('transfers', 'ledger', 'corner-bakery', 'heir@example.com')).stdout).toMatch(/^moves\t/);
    expect(await cli('transfers', 'cancel', 'corner-bakery', 'heir@example.com', '--yes')).toEqual({
      code: 1,
      stdout: '',
      stderr: 'doorstep: No transfer to heir@example.com is open.\n',
    });
    expect(await cli('transfers', 'get', 'corner-bakery', 'nobody@example.com')).toEqual({
      code: 1,
      stdout: '',
      stderr: 'doorstep: Corner Bakery was never offered to nobody@example.com, or the offer was taken back.\n',
    });
  });
});

describe('files', () => {
  it('are uploaded and downloaded, and none is replaced unasked', async () => {
    writeFileSync(file('contract.txt'), 'by hand and seal');
    const uploaded = await cli(
      'documents',
      'upload',
      'corner-bakery',
      'contract.txt',
      '--name',
      '../../../contract of today.txt',
    );
    expect(uploaded).toMatchObject({ code: 0, stdout: expect.stringMatching(/^\w{26}\n$/) as unknown });
    const id = uploaded.stdout.trim();
    expect(await cli('documents', 'download', 'corner-bakery', id)).toMatchObject({ code: 0 });
    expect(readFileSync(file('contract of today.txt'), 'utf8')).toBe('by hand and seal');
    expect(await cli('documents', 'download', 'corner-bakery', id)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('--force') as unknown,
    });
    expect((await cli('documents', 'download', 'corner-bakery', id, '-o', '-')).stdout).toBe('by hand and seal');
  });

  it('export the audit to standard output and to a file', async () => {
    const { stdout } = await cli('audit', 'export');
    expect(stdout).toMatch(/^id,at,type,websiteId,.*\r?\n\w+,/);
    expect(await cli('audit', 'export', '-o', 'audit.ndjson', '--website', 'corner-bakery')).toMatchObject({
      code: 0,
      stdout: '',
    });
    const entries = readFileSync(file('audit.ndjson'), 'utf8')
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as { type: string });
    expect(entries.at(-1)).toMatchObject({ type: 'WebsiteCreated' });
  });

  it('are edited in the editor, saved over what was read, and kept when they are not JSON', async () => {
    writeFileSync(file('editor'), '#!/bin/sh\nsed -i "s/A small team/A large team/" "$1"\n', { mode: 0o755 });
    const edit = (editor: string): Promise<Ran> =>
      runCli({ ...home, environment: { ...home.environment, VISUAL: '', EDITOR: editor, TMPDIR: home.folder } }, [
        'content',
        'edit',
        'corner-bakery',
        'texts',
      ]);
    expect(await edit(file('editor'))).toMatchObject({ code: 0, stderr: 'texts is saved.\n' });
    expect(await json('content', 'get', 'corner-bakery', 'texts')).toMatchObject({
      body: { aboutTitle: 'A large team that stays with its work.' },
    });
    expect(await edit('true')).toMatchObject({ code: 0, stderr: 'Nothing was changed.\n' });
    writeFileSync(file('spoiler'), '#!/bin/sh\necho "{" > "$1"\n', { mode: 0o755 });
    const spoilt = await edit(file('spoiler'));
    expect(spoilt).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^What you wrote is in (\S+)\ndoorstep: It is not JSON/) as unknown,
    });
    expect(readFileSync(/in (\S+)/.exec(spoilt.stderr)?.[1] ?? '', 'utf8')).toBe('{\n');
    writeFileSync(file('fallen'), '#!/bin/sh\necho "{}" > "$1"\nexit 3\n', { mode: 0o755 });
    const fallen = await edit(file('fallen'));
    expect(fallen).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(
        /^What you wrote is in (\S+)\ndoorstep: The editor ended with 3\. Nothing was changed\.\n$/,
      ) as unknown,
    });
    expect(readFileSync(/in (\S+)/.exec(fallen.stderr)?.[1] ?? '', 'utf8')).toBe('{}\n');
    expect(await edit('false')).toMatchObject({ code: 1, stderr: 'doorstep: The editor ended with 1. Nothing was changed.\n' });
  });

  it('are kept when they were edited, and Ctrl-C ends the program while they are saved', async () => {
    writeFileSync(file('editor'), '#!/bin/sh\necho "{}" > "$1"\n', { mode: 0o755 });
    const { url, asked } = await startScripted(
      answering(200, { websites: [{ id: 'w1', slug: 'bakery', name: 'Bakery' }] }),
      answering(200, { id: 'texts', hash: 'h1', body: { title: 'Bread' } }),
      () => undefined,
    );
    const environment = { ...home.environment, EDITOR: file('editor'), TMPDIR: home.folder, DOORSTEP_URL: url };
    const child = startCli({ ...home, environment }, ['content', 'edit', 'bakery', 'texts']);
    let errors = '';
    child.stderr.on('data', (chunk: Buffer) => (errors += chunk.toString()));
    await eventually('the request that saves', () => asked[2]);
    child.kill('SIGINT');
    const [code] = (await once(child, 'close')) as [number | null];
    expect({ code, errors }).toEqual({ code: 130, errors: expect.stringMatching(/^What you wrote is in \S+\n$/) as unknown });
    expect(readFileSync(/in (\S+)/.exec(errors)?.[1] ?? '', 'utf8')).toBe('{}\n');
  });

  it('are kept when they were edited for a dry run', async () => {
    writeFileSync(file('editor'), '#!/bin/sh\nsed -i "s/A [a-z]* team/A dry team/" "$1"\n', { mode: 0o755 });
    const environment = { ...home.environment, EDITOR: file('editor'), TMPDIR: home.folder };
    const { code, stdout, stderr } = await runCli({ ...home, environment }, [
      'content',
      'edit',
      'corner-bakery',
      'texts',
      '--dry-run',
    ]);
    expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringContaining('Would change 1 thing') as unknown });
    const [, kept = ''] = /^What you wrote is in (\S+)\n$/.exec(stderr) ?? [];
    expect(JSON.parse(readFileSync(kept, 'utf8'))).toMatchObject({ aboutTitle: 'A dry team that stays with its work.' });
    // It is what `content save --file` takes.
    expect(await cli('content', 'save', 'corner-bakery', 'texts', '--file', kept)).toMatchObject({ code: 0 });
  });
});

describe('keys', () => {
  it('give the token alone on standard output, and are revoked', async () => {
    const { stdout } = await cli('keys', 'create', 'Weekly report', '--scope', 'read', '--expires', '90d');
    expect(stdout).toMatch(/^svc_pat_\w{46}\n$/);
    const [id] = ((await json('keys', 'list')) as { id: string; name: string }[]).filter(({ name }) => name === 'Weekly report');
    await cli('keys', 'revoke', id?.id ?? '', '--yes');
    const revoked = await runCli({ ...home, environment: { ...home.environment, DOORSTEP_TOKEN: stdout.trim() } }, [
      'websites',
      'list',
    ]);
    expect(revoked).toMatchObject({ code: 1, stderr: expect.stringMatching(/^doorstep: Invalid token\n/) as unknown });
  });
});

describe('a key is named', () => {
  it('by its name, or as lists show it', async () => {
    const created = (await json('keys', 'create', 'Nightly')) as { id: string; name: string; prefix: string };
    for (const named of ['Nightly', created.prefix, `${created.prefix}…`, created.id])
      expect(await json('keys', 'get', named)).toMatchObject({ id: created.id });
    expect(await cli('keys', 'revoke', 'Nightly', '--yes')).toMatchObject({ code: 0, stderr: 'The token is revoked.\n' });
  });

  it('but not by a name that several have, or none', async () => {
    const ids: string[] = [];
    for (let made = 0; made < 2; made += 1) ids.push(((await json('keys', 'create', 'Twin')) as { id: string }).id);
    const several = await cli('keys', 'revoke', 'Twin', '--yes');
    expect(several).toMatchObject({ code: 1, stderr: expect.stringMatching(/^doorstep: 2 are called Twin\./) as unknown });
    for (const id of ids) expect(several.stderr).toContain(id);
    expect(await cli('keys', 'revoke', 'Nobody', '--yes')).toMatchObject({
      code: 1,
      stderr: 'doorstep: There is no token Nobody.\n',
    });
  });
});

describe('the end of a key', () => {
  const minted = async (expires: string): Promise<{ createdAt: string; expiresAt?: string }> =>
    (await json('keys', 'create', 'Report', '--expires', expires)) as { createdAt: string; expiresAt?: string };

  it.each([
    ['12h', 12],
    ['90d', 90 * 24],
    ['2w', 14 * 24],
  ])('is given as to login, %s', async (expires, hours) => {
    const { createdAt, expiresAt } = await minted(expires);
    expect((Date.parse(expiresAt ?? '') - Date.parse(createdAt)) / 3_600_000).toBeCloseTo(hours, 1);
  });

  it('is that of a day, or never', async () => {
    expect(await minted('2099-12-22')).toMatchObject({ expiresAt: '2099-12-22T23:59:59.999Z' });
    expect(await minted('never')).not.toHaveProperty('expiresAt');
    expect(await cli('keys', 'create', 'Report', '--expires', 'soon')).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^doorstep: "soon" is no expiry: use 90d/) as unknown,
    });
  });
});

describe('changes', () => {
  it('are followed until Ctrl-C', async () => {
    const child = startCli(home, ['events', 'corner-bakery', '--json']);
    let said = '';
    let followed = '';
    const seen = new Promise<void>((resolve) => {
      child.stdout.on('data', (chunk: Buffer) => {
        followed += chunk.toString();
        if (followed.includes('DeliveryCheckpointStatusSet')) resolve();
      });
    });
    await new Promise<void>((resolve) => {
      child.stderr.on('data', (chunk: Buffer) => {
        said += chunk.toString();
        if (said.includes('Following what changes')) resolve();
      });
    });
    await cli('delivery', 'checkpoint', 'corner-bakery', 'launch', 'in_progress');
    await seen;
    const ended = new Promise((resolve) => child.on('close', resolve));
    child.kill('SIGINT');
    expect(await ended).toBe(130);
  });
});
