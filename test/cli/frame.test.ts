import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { makeHome, openTerminal, runCli, startCli, type Home } from '../support/cli.js';
import { createApi, mintToken, startServer } from '../support/server.js';
import { temporaryFolder } from '../support/temporary.js';

let home: Home;
let token: string;
let address: string;
let dataDir: string;

beforeAll(async () => {
  dataDir = temporaryFolder();
  ({ address } = await startServer(dataDir));
  token = await mintToken(dataDir);
  home = makeHome({ DOORSTEP_URL: address, DOORSTEP_TOKEN: token });
  const api = createApi(address, token);
  for (const [name, slug] of [
    ['Corner Bakery', 'corner-bakery'],
    ['Café 東京の角のパン屋さん', 'tokyo-bakery'],
  ])
    await api.post('/websites', { name, slug });
});

describe('in a pipe', () => {
  it('prints a list as tab-separated values without headings', async () => {
    const { code, stdout, stderr } = await runCli(home, ['websites', 'list', '--query', 'corner-bakery']);
    expect(stdout).toMatch(/^corner-bakery\tCorner Bakery\t\w+\t.*\n$/);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  });

  it('prints the resource alone with --json, and the fields that are named', async () => {
    const whole = await runCli(home, ['websites', 'list', '--json', '--limit', '1']);
    expect(JSON.parse(whole.stdout)).toEqual([expect.objectContaining({ slug: 'tokyo-bakery', tier: 'starter' })]);
    const fields = await runCli(home, ['websites', 'list', '--json', 'slug,archivedAt']);
    expect(JSON.parse(fields.stdout)).toEqual([
      { slug: 'tokyo-bakery', archivedAt: null },
      { slug: 'corner-bakery', archivedAt: null },
    ]);
  });

  it('filters with --jq, and prints strings as they are', async () => {
    expect((await runCli(home, ['websites', 'list', '--jq', '.[].slug'])).stdout).toBe('tokyo-bakery\ncorner-bakery\n');
  });

  it("reports jq's fault with jq's words", async () => {
    const { code, stdout, stderr } = await runCli(home, ['websites', 'list', '--jq', '.slug']);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(/^doorstep: jq: error .*Cannot index array with string "slug"\n$/);
  });

  it('ends quietly when the reader leaves', async () => {
    const child = startCli(home, ['help']);
    child.stdout.destroy();
    let stderr = '';
    child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
    const code = await new Promise((resolve) => child.on('close', resolve));
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  });
});

(existsSync('/dev/full') ? it : it.skip)('says that the disk is full, with exit code 1', async () => {
  const child = spawn('sh', ['-c', 'doorstep help > /dev/full'], { env: home.environment, stdio: 'pipe' });
  const [stderr, [code]] = await Promise.all([text(child.stderr), once(child, 'close') as Promise<[number]>]);
  expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringMatching(/^doorstep: ENOSPC: no space left on device.*\n$/) });
});

describe('what is wrong', () => {
  const refused: readonly [string, readonly string[], string][] = [
    ['a command', ['webstes'], 'Unknown command "webstes". Did you mean websites?'],
    ['a command of a group', ['websites', 'lst'], 'Unknown command "lst". Did you mean list?'],
    [
      'a command of a group that is a command',
      ['delivery', 'checkpont', 'corner-bakery', 'qa', 'done'],
      'Unknown command "delivery checkpont". Did you mean delivery checkpoint?',
    ],
    [
      'such a command, called with an option',
      ['delivery', 'sett', 'corner-bakery', '--ready-by', '22 Dec'],
      'Unknown command "delivery sett". Did you mean delivery set?',
    ],
    ['swapped letters of such a command', ['seo', 'scna', 'corner-bakery'], 'Unknown command "seo scna". Did you mean seo scan?'],
    [
      'an argument that is like no command',
      ['delivery', 'corner-bakery', 'qa'],
      'Too many arguments for "delivery". Expected 1 argument but got 2.',
    ],
    ['an option', ['websites', 'list', '--jsn'], 'Unknown option "--jsn". Did you mean --json?'],
    ['a choice', ['websites', 'list', '--status', 'actve'], '--status: "actve" is none of provisioning, active.'],
    ['a number', ['websites', 'list', '--limit', 'ten'], '--limit: "ten" is not a whole number.'],
    ['a missing argument', ['api', 'GET'], 'Missing argument <path>.'],
    ['options that exclude each other', ['websites', 'list', '--all', '--limit', '2'], '--all and --limit exclude each other.'],
    ['a body of a GET', ['api', 'GET', '/me', '--input', '-'], '--input is the body of a write: a GET has none.'],
    ['an argument too many', ['version', 'x'], 'Too many arguments for "version". Expected 0 arguments but got 1.'],
  ];

  it.each(refused)('names %s, and where the help is', async (_what, args, message) => {
    const { code, stdout, stderr } = await runCli(home, args);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(`doorstep: ${message}\nRun "doorstep `);
    expect(stderr).toMatch(/ --help" for how it is used\.\n$/);
  });

  it('takes what stands after -- for an argument, also where it is the name of a command', async () => {
    for (const words of [
      ['delivery', '--', 'history'],
      ['delivery', '--json', '--', 'history'],
    ]) {
      const { code, stderr } = await runCli(home, words);
      expect({ code, stderr }).toEqual({ code: 1, stderr: 'doorstep: Website history not found\n' });
    }
    const { stdout } = await runCli(home, ['websites', 'get', '--json', 'slug', '--', 'corner-bakery']);
    expect(JSON.parse(stdout)).toEqual({ slug: 'corner-bakery' });
  });

  it("prints the API's message", async () => {
    const { code, stdout, stderr } = await runCli(home, ['api', 'GET', '/websites/nowhere']);
    expect({ code, stdout, stderr }).toEqual({ code: 1, stdout: '', stderr: 'doorstep: Website nowhere not found\n' });
  });

  it('says of a token that is not good where it may come from: whoami is refused, too', async () => {
    const { code, stderr } = await runCli(makeHome({ DOORSTEP_URL: address, DOORSTEP_TOKEN: 'svc_pat_revoked' }), ['whoami']);
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: 'doorstep: Invalid token\nRun "doorstep login" for another one, or correct DOORSTEP_TOKEN where that is set.\n',
    });
  });

  it('lists further violations below the message', async () => {
    const { stderr } = await runCli(home, ['api', 'POST', '/clients', '-F', 'email=1', '-F', 'nme=Anna']);
    const [message, ...others] = stderr.trimEnd().split('\n');
    expect(message).toMatch(/^doorstep: Invalid request body — \w+: /);
    expect(others).toEqual([expect.stringMatching(/^ {2}\w+: /)]);
  });

  it('takes the method of a call in any case', async () => {
    expect(JSON.parse((await runCli(home, ['api', 'get', '/me'])).stdout)).toMatchObject({ role: 'admin' });
  });

  it('says to a client which list is theirs', async () => {
    const client = await mintToken(dataDir, 'client', 'anna@example.com');
    const theirs = makeHome({ DOORSTEP_URL: address, DOORSTEP_TOKEN: client });
    expect(await runCli(theirs, ['websites', 'list'])).toEqual({
      code: 1,
      stdout: '',
      stderr: 'doorstep: Admin role required\nThose that you have access to: doorstep websites list --mine\n',
    });
  });

  it('offers the slug that is near', async () => {
    const { code, stderr } = await runCli(home, ['open', 'corner-bakry']);
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: 'doorstep: Website corner-bakry not found. Did you mean corner-bakery?\n',
    });
  });

  it('says how to sign in when there is no token', async () => {
    const { code, stderr } = await runCli(makeHome(), ['websites', 'list']);
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringMatching(/^doorstep: .*doorstep login.*\n$/) });
  });

  it.each(['', '1'])(
    'never prints a token nor, without DOORSTEP_DEBUG, where a fault came from (%j)',
    async (debug) => {
      const wrong = `${token.slice(0, -6)}000000`;
      for (const environment of [
        { DOORSTEP_URL: address, DOORSTEP_TOKEN: wrong },
        { DOORSTEP_URL: 'http://127.0.0.1:9', DOORSTEP_TOKEN: wrong },
        { DOORSTEP_URL: address, DOORSTEP_TOKEN: `${wrong}\u{1F511}` },
      ]) {
        const { code, stdout, stderr } = await runCli(makeHome({ ...environment, DOORSTEP_DEBUG: debug }), ['websites', 'list']);
        expect(code).toBe(1);
        expect(stdout + stderr).not.toContain(wrong.slice(8));
        expect(/^ +at /m.test(stderr)).toBe(debug === '1');
      }
    },
    30_000,
  );
});

describe('on a terminal', () => {
  it('prints a table in colours, cut to its width', async () => {
    const terminal = await openTerminal(home, { columns: 44 });
    await terminal.enter('clear; doorstep websites list; echo done');
    const lines = (await terminal.shows(/^done$/m)).trimEnd().split('\n');
    expect(lines[0]).toMatch(/^SLUG +NAME +STATUS +READY BY$/);
    // Wide characters take two columns of the terminal.
    expect(lines[1]).toMatch(/^tokyo-bakery +Café 東京.*… +\w+$/);
    const columnOf = (line: string): number =>
      line.search(/ (provisioning|active)/) + (line.match(/[\u3000-\u9fff]/g) ?? []).length;
    expect(columnOf(lines[1] ?? '')).toBe(columnOf(lines[2] ?? ''));
    expect(await terminal.screen(true)).toContain('\u001b[1mSLUG');
  });

  it.each([
    ['NO_COLOR=1', false],
    ['TERM=dumb', false],
    ['FORCE_COLOR=1 TERM=dumb', true],
  ])('with %s', async (setting, isColoured) => {
    const terminal = await openTerminal(home);
    await terminal.enter(`clear; ${setting} doorstep websites list; echo done`);
    await terminal.shows(/^done$/m);
    expect((await terminal.screen(true)).includes('\u001b[1m')).toBe(isColoured);
  });

  it('takes one that says no size for 80 columns, and needs no pager there', async () => {
    const terminal = await openTerminal(home, { rows: 60 });
    await terminal.enter('clear; stty rows 0 columns 0; doorstep websites list; doorstep help delivery seen; echo done');
    const screen = await terminal.shows(/^done$/m);
    expect(screen).toMatch(/^SLUG +NAME +STATUS +TIER +READY BY\n/m);
    expect(screen).toMatch(/^corner-bakery +Corner Bakery +\w+ +starter/m);
    expect(screen).toMatch(/^Note that you have seen a delivery as it is, or up to a revision\.$/m);
  });

  it('shows what does not fit in a pager', async () => {
    const terminal = await openTerminal(home, { rows: 3 });
    await terminal.enter('clear; doorstep websites list; echo "ended $?"');
    await terminal.shows(/^(:|\(END\))/m);
    await terminal.press('q');
    await terminal.shows('ended 0');
    await terminal.enter('clear; DOORSTEP_PAGER="sed s/^/paged:/" doorstep websites list');
    await terminal.shows('paged:');
    await terminal.enter('clear; DOORSTEP_PAGER=no-such-pager doorstep websites list; echo "ended $?"');
    await terminal.shows('ended 0');
  });

  it('ends with 130 on Ctrl-C', async () => {
    const terminal = await openTerminal(home);
    await terminal.enter('clear; doorstep api GET /events');
    await terminal.shows(/^(retry|event|id|data|:)/m);
    await terminal.press('C-c');
    await terminal.enter('echo "ended $?"');
    await terminal.shows('ended 130');
  });
});

it('has a page of man for each first word of a command, and names it for npm', () => {
  const folder = new URL('../../cli/', import.meta.url);
  const { man } = JSON.parse(readFileSync(new URL('package.json', folder), 'utf8')) as { man: string[] };
  const pages = readdirSync(new URL('dist/man/', folder)).map((page) => `dist/man/${page}`);
  expect(pages).toContain('dist/man/doorstep-websites.1');
  // npm links the pages that package.json names, and no others.
  expect(man).toEqual(pages.sort());
});

it('has no word in a page of man that a line of a terminal cannot hold', () => {
  const folder = new URL('../../cli/dist/man/', import.meta.url);
  const words = readdirSync(folder).flatMap((page) => readFileSync(new URL(page, folder), 'utf8').split(/\\:|\s/));
  expect(words.filter((word) => word.replaceAll(/\\f[BR]|\\/g, '').length > 65)).toEqual([]);
});
