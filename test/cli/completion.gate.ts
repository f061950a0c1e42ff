import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { makeHome, openTerminal, runCli, type Home, type Terminal } from '../support/cli.js';
import { createApi, mintToken, startServer } from '../support/server.js';
import { temporaryFolder } from '../support/temporary.js';

let home: Home;
let dataDir: string;
let address: string;

beforeAll(async () => {
  dataDir = temporaryFolder();
  ({ address } = await startServer(dataDir));
  const token = await mintToken(dataDir);
  home = makeHome({ DOORSTEP_URL: address, DOORSTEP_TOKEN: token });
  const api = createApi(address, token);
  await api.post('/websites', { name: 'Corner Bakery', slug: 'corner-bakery' });
  await api.post('/websites', { name: 'Tab\tand \u001b[31mred', slug: 'tokyo' });
  writeFileSync(join(home.folder, 'delivery plan.json'), '{}');
});

const candidates = async (at: Home, ...words: readonly string[]): Promise<string[]> => {
  const { code, stdout, stderr } = await runCli(at, ['__complete', ...words]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return stdout.split('\n').slice(0, -1);
};

describe('what is offered', () => {
  const offers: readonly [string, readonly string[], readonly string[]][] = [
    ['groups and commands', ['vers'], ['version\tPrint the version of this program']],
    ['commands of a group', ['websites', 'lis'], ['list\tList websites']],
    ['commands after help', ['help', 'vers'], ['version\tPrint the version of this program']],
    ['commands of a group after help', ['help', 'websites', 'lis'], ['list\tList websites']],
    ['nothing more after help with a command', ['help', 'open', ''], []],
    ['options', ['websites', 'list', '--stat'], ['--status\tOnly those of this status']],
    ['values of an option', ['websites', 'list', '--status', 'a'], ['active']],
    ['values after =', ['websites', 'list', '--status=a'], ['--status=active']],
    ['values of an argument', ['completion', 'z'], ['zsh']],
    ['files', ['api', 'POST', '/websites', '--input', ''], [':files']],
    ['commands after an option with a value', ['--profile', 'work', 'vers'], ['version\tPrint the version of this program']],
    ['slugs', ['open', 'c'], ['corner-bakery\tCorner Bakery']],
    ['slugs without what a terminal would act on', ['open', 'tok'], ['tokyo\tTab and \u{FFFD}[31mred']],
  ];

  it.each(offers)('%s', async (_what, words, expected) => {
    expect(await candidates(home, ...words)).toEqual(expected);
  });

  it("a client's websites", async () => {
    const admin = createApi(address, home.environment.DOORSTEP_TOKEN ?? '');
    const [{ id }] = (await admin.get('/websites?q=tokyo')).body as [{ id: string }];
    await admin.post('/clients', { email: 'anna@example.com', name: 'Anna' });
    expect((await admin.post(`/websites/${id}/clients`, { email: 'anna@example.com', role: 'viewer' })).status).toBe(201);
    const token = await mintToken(dataDir, 'client', 'anna@example.com');
    const hers = makeHome({ DOORSTEP_URL: address, DOORSTEP_TOKEN: token });
    expect(await candidates(hers, 'open', '')).toEqual([expect.stringMatching(/^tokyo\t/)]);
  });

  it('nothing, and no word of it, without a token or without the service', async () => {
    expect(await candidates(makeHome(), 'open', '')).toEqual([]);
    expect(await candidates(makeHome({ DOORSTEP_URL: 'http://127.0.0.1:9', DOORSTEP_TOKEN: 'x' }), 'open', '')).toEqual([]);
  });

  it('slugs of a moment ago without asking again', async () => {
    const cache = makeHome(home.environment);
    const at = { ...cache, environment: { ...home.environment, XDG_CACHE_HOME: join(cache.folder, 'cache') } };
    expect(await candidates(at, 'open', 'c')).toEqual(['corner-bakery\tCorner Bakery']);
    const token = home.environment.DOORSTEP_TOKEN ?? '';
    const { body } = await createApi(address, token).get('/websites?q=corner-bakery');
    const [{ id }] = body as [{ id: string }];
    await createApi(address, token).patch(`/websites/${id}`, { slug: 'corner-shop' });
    expect(await candidates(at, 'open', 'c')).toEqual(['corner-bakery\tCorner Bakery']);
    await createApi(address, token).patch(`/websites/${id}`, { slug: 'corner-bakery' });
  });
});

describe.each([
  ['bash', 'bash --norc --noprofile', 'source <(doorstep completion bash)'],
  ['zsh', 'zsh -f', 'autoload -U compinit; compinit -u -D; source <(doorstep completion zsh)'],
  ['fish', 'fish --no-config', 'doorstep completion fish | source'],
])('in %s', (shell, command, setUp) => {
  let terminal: Terminal;

  beforeAll(async () => {
    if (!existsSync(`/usr/bin/${shell}`) && process.env.CI === undefined) return;
    terminal = await openTerminal(home, { columns: 120, shell: command });
    await terminal.enter(`${setUp}; clear; echo ready`);
    await terminal.shows(/^ready/m);
  }, 120_000);

  const completes = async (typed: string, line: string): Promise<void> => {
    if (!existsSync(`/usr/bin/${shell}`) && process.env.CI === undefined) return;
    await terminal.press('C-u');
    await terminal.type(typed);
    await terminal.press('Tab');
    await terminal.shows(line);
    await terminal.type('#');
    await terminal.shows(`${line} #`);
  };

  it('a command', () => completes('doorstep vers', 'doorstep version'));
  it('an option', () => completes('doorstep websites list --stat', 'doorstep websites list --status'));
  it('a value', () => completes('doorstep websites list --status act', 'doorstep websites list --status active'));
  it('a value after =', () => completes('doorstep websites list --status=act', 'doorstep websites list --status=active'));
  it('a command after a value with a colon', () =>
    completes('doorstep --url http://127.0.0.1:1 vers', 'doorstep --url http://127.0.0.1:1 version'));
  it('a slug', () => completes('doorstep open corn', 'doorstep open corner-bakery'));
  it('a file with a blank in its name', () =>
    completes('doorstep api POST /x --input deliv', 'doorstep api POST /x --input delivery\\ plan.json'));
  it('a file after =', () =>
    completes('doorstep api POST /x --input=deliv', 'doorstep api POST /x --input=delivery\\ plan.json'));
});
