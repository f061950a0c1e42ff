import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { commands } from '../../cli/src/commands/index.js';
import { openCore } from '../../src/compose/stores.js';
import { createLogger } from '../../src/platform/logger.js';
import { loadSettings } from '../../src/platform/settings/settings.js';
import { makeHome, runCli, type Home, type Ran } from '../support/cli.js';
import { eventually } from '../support/eventually.js';
import { expireInvitation } from '../support/expiredInvitation.js';
import { picture } from '../support/mediaFiles.js';
import { processOn } from '../support/process.js';
import { createApi, mintToken, startServer, type Api } from '../support/server.js';
import { temporaryFolder } from '../support/temporary.js';

/** Every command that asks the service, really called: first the dry runs, then the reads, then for real. */

interface Person {
  readonly home: Home;
  /** How many changes the audit of their installation has of them. */
  readonly changes: () => Promise<number>;
}

const people: Record<string, Person> = {};
/** Ids and hashes of what the installation holds. */
const made: Record<string, string> = {};

interface Line {
  /** Without the name of the command. */
  readonly args: readonly string[];
  /** Default: the operator. */
  readonly as?: string;
  /** What the audit does not hold: it stands with the payment provider. */
  readonly unrecorded?: true;
}

const line = (...args: readonly string[]): Line => ({ args });

/** The call of each command that writes. Each finds its own things, so that the order is only that of the list. */
const writes: Readonly<Record<string, () => Line>> = {
  'websites create': () => line('Bookshop', '--slug', 'bookshop', '--tier', 'growth', '--client', 'nell@example.com'),
  'websites update': () => line('bakery', '--name', 'The Bakery', '--brand-color', '#aa3300', '--redeploy'),
  'websites archive': () => line('tailor'),
  'websites restore': () => line('older'),
  'websites delete': () => line('old', '--confirm', 'old', '--keep', 'repository'),
  'websites remove-owner': () => line('cafe'),
  'websites redeploy': () => line('florist'),
  'clients add': () => line('bakery', 'someone@example.com', '--role', 'viewer'),
  'clients set-role': () => line('bakery', 'nell@example.com', 'viewer'),
  'clients remove': () => line('bakery', 'leaving@example.com'),
  'clients undo-remove': () => line('bakery', 'left@example.com'),
  'clients create': () => line('fresh@example.com', '--name', 'Fresh'),
  'clients update': () => line('nell@example.com', '--name', 'Nell Byrne', '--email', 'nell.byrne@example.com'),
  'clients erase': () => line('gone@example.com', '--confirm', 'gone@example.com'),
  'invitations claim': () => ({ as: 'invited', ...line(made.claimed ?? '') }),
  'invitations renew': () => ({ as: 'late', ...line(made.expired ?? '') }),
  'invitations resend': () => line('bakery', 'waiting@example.com'),
  'invitations revoke': () => line('bakery', 'unwanted@example.com'),
  'transfers offer': () => line('florist', 'heir@example.com', '--send-email'),
  'transfers cancel': () => line('bakery', 'heir@example.com'),
  'delivery set': () => line('bakery', '--ready-by', '22 Dec 2099', '--reason', 'The photos come a week later.'),
  'delivery checkpoint': () => line('bakery', 'qa', 'done'),
  'delivery undo': () => line('bakery', '1'),
  'delivery seen': () => line('bakery'),
  'provisioning retry': () => ({ as: 'away', ...line('broken') }),
  'provisioning clean-up': () => ({ as: 'away', ...line('wrecked') }),
  'documents upload': () => line('bakery', 'text.txt', '--name', 'second.txt'),
  'documents rename': () => line('bakery', 'contract.txt', 'agreement.txt'),
  'documents delete': () => line('bakery', 'unwanted.txt'),
  'documents undo-delete': () => line('bakery', made.deletedDocument ?? ''),
  'media upload': () => line('bakery', 'large.png', '--alt', 'Bread in the oven'),
  'media describe': () => line('bakery', 'oven.png', 'Bread in the oven'),
  'media delete': () => line('bakery', 'unwanted.png'),
  'media undo-delete': () => line('bakery', made.deletedMedia ?? ''),
  'content edit': () => line('bakery', 'texts'),
  'content save': () => line('bakery', 'texts', '--file', 'large.json'),
  'content restore': () => line('bakery', 'texts', made.textsHash ?? ''),
  'content preview': () => line('bakery'),
  'content publish': () => line('bakery'),
  'marketing edit': () => line('bakery', 'newsletter'),
  'marketing save': () => line('bakery', 'newsletter', '--file', 'large.json'),
  'marketing restore': () => line('bakery', 'newsletter', made.newsletterHash ?? ''),
  'domains add': () => line('bakery', 'www.bakery.example'),
  'domains verify': () => line('bakery', 'bakery.example'),
  'domains remove': () => line('bakery', 'unwanted.example'),
  'bookings add': () =>
    line('bakery', 'Tasting', '--start', '2099-12-02T10:00', '--end', '2099-12-02T11:00', '--location', 'Here'),
  'bookings cancel': () => line('bakery', made.booking ?? ''),
  'services detach': () => line('bakery', made.service ?? ''),
  'services attach': () => line('bakery', 'analytics', '--site-id', 'second.example'),
  'seo scan': () => line('bakery'),
  'blueprint set': () => line('bakery', '--file', 'blueprint.json'),
  'billing portal': () => ({ as: 'owner', unrecorded: true, ...line('bakery') }),
  'invoices create': () =>
    line('bakery', '--total', '4900', '--currency', 'eur', '--description', 'December', '--due', 'in 30 days'),
  'invoices pay': () => line('bakery', made.paidInvoice ?? ''),
  'invoices void': () => line('bakery', made.voidedInvoice ?? ''),
  'keys create': () => line('Report', '--scope', 'read', '--expires', 'in 90 days'),
  'keys revoke': () => line(made.key ?? ''),
  api: () => line('POST', '/clients', '--field', 'email=raw@example.com'),
};

const reads: Readonly<Record<string, () => Line>> = {
  whoami: () => line(),
  'websites list': () => line('--all', '--sort', 'slug'),
  'websites get': () => line('bakery'),
  'clients list': () => line('--query', 'nell'),
  'clients get': () => line('nell@example.com'),
  'clients export': () => line('nell@example.com'),
  'access list': () => line('bakery'),
  'access get': () => line('bakery', 'nell@example.com'),
  'access explain': () => line('bakery', 'nell@example.com', '--operations'),
  'invitations get': () => ({ as: 'invited', ...line(made.claimed ?? '') }),
  'transfers list': () => line('bakery'),
  'transfers get': () => line('bakery', 'heir@example.com'),
  'transfers ledger': () => line('bakery', 'heir@example.com'),
  delivery: () => line('bakery'),
  'delivery history': () => line('bakery'),
  'delivery changes': () => line('bakery', '--since', '0'),
  'delivery readers': () => line('bakery'),
  'delivery forecast': () => line('bakery'),
  'provisioning show': () => line('bakery'),
  'provisioning watch': () => line('bakery'),
  'provisioning receipts': () => line('bakery'),
  'documents list': () => line('bakery', '--sort', 'name'),
  'documents get': () => line('bakery', 'contract.txt'),
  'documents url': () => line('bakery', 'contract.txt'),
  'media list': () => line('bakery', '--kind', 'image'),
  'media get': () => line('bakery', 'oven.png'),
  'content list': () => line('bakery'),
  'content get': () => line('bakery', 'texts'),
  'content versions': () => line('bakery', 'texts'),
  'marketing list': () => line('bakery'),
  'marketing get': () => line('bakery', 'newsletter', '--version', made.newsletterHash ?? ''),
  'marketing versions': () => line('bakery', 'newsletter'),
  'domains list': () => line('bakery'),
  'domains get': () => line('bakery', 'bakery.example'),
  'bookings list': () => line('bakery', '--from', 'today', '--to', '31 Dec 2099'),
  'bookings get': () => line('bakery', made.booking ?? ''),
  'services list': () => line('bakery'),
  'services get': () => line('bakery', made.service ?? ''),
  commits: () => line('bakery'),
  deployments: () => line('bakery'),
  analytics: () => line('bakery'),
  seo: () => line('bakery'),
  blueprint: () => line('bakery'),
  'billing show': () => line('bakery'),
  'invoices list': () => line('--website', 'bakery', '--sort', '-dueAt'),
  'invoices get': () => line('bakery', made.paidInvoice ?? ''),
  'keys list': () => line(),
  'keys get': () => line(made.key ?? ''),
  'audit list': () => line('--website', 'bakery', '--from', 'today'),
  templates: () => line(),
  features: () => line(),
  search: () => line('bak'),
  outbox: () => line(),
  status: () => line(),
};

/** Commands that print no resource: what they leave at their end. */
const files: Readonly<Record<string, () => Line>> = {
  'documents download': () => line('bakery', 'contract.txt', '-o', '-'),
  'media download': () => line('bakery', 'oven.png', '-o', '-'),
  'templates picture': () => line('business', '-o', '-'),
  'audit export': () => line('--format', 'csv', '--website', 'bakery'),
};

/** Not tried here, and why. */
const elsewhere: Readonly<Record<string, string>> = {
  login: 'test/cli/signIn.gate.ts',
  logout: 'test/cli/signIn.gate.ts',
  'websites watch': 'follows until Ctrl-C, as `events`: test/cli/commands.gate.ts',
  events: 'test/cli/commands.gate.ts',
  products: 'needs a shop; here it is refused in words',
};

interface Operation {
  readonly operationId?: string;
  readonly responses: Readonly<Record<string, { readonly content?: object }>>;
}

const openapi = JSON.parse(readFileSync(fileURLToPath(new URL('../../build/openapi/openapi.json', import.meta.url)), 'utf8')) as {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
};
/** Writes that answer with nothing. */
const silent = new Set(
  Object.values(openapi.paths)
    .flatMap(({ get: _, ...methods }) => Object.values(methods))
    .flatMap(({ operationId, responses }) => (operationId !== undefined && '204' in responses ? [operationId] : [])),
);

/** Escape sequences, and values that were printed without being looked at. */
const mishap = /[^\P{Cc}\n\t]|undefined|NaN|\[object/u;

const personOf = ({ as = 'operator' }: Line): Person => {
  const person = people[as];
  if (person === undefined) throw new Error(`there is no ${as}`);
  return person;
};

const call = async (name: string, asked: Line, ...options: readonly string[]): Promise<Ran> =>
  await runCli(personOf(asked).home, [...name.split(' '), ...asked.args, ...options]);

/** Arranges something by the operator; gives what `--jq` prints. */
const arrange = async (words: string, jq = '.id', as = 'operator'): Promise<string> => {
  const ran = await runCli(personOf({ args: [], as }).home, [...words.split(' '), '--jq', jq]);
  if (ran.code !== 0) throw new Error(`${words}: ${ran.stderr}`);
  return ran.stdout.trim();
};

const settle = async (as: string, ...slugs: readonly string[]): Promise<void> => {
  for (const slug of slugs)
    await eventually(`the build of ${slug} ends`, async () => {
      const status = await arrange(`provisioning show ${slug}`, '.status', as);
      return ['succeeded', 'failed'].includes(status) ? status : undefined;
    });
};

/** Gives somebody a token. @param operator - who reads the audit of that installation; without one they do */
const signIn = async (
  server: { readonly address: string; readonly dataDir: string },
  [subject, role]: readonly [subject: string, role: 'admin' | 'client'],
  operator?: Api,
): Promise<Person & { readonly api: Api }> => {
  const { address, dataDir } = server;
  const token = await mintToken(dataDir, role, subject);
  const editor = join(temporaryFolder(), 'editor');
  writeFileSync(editor, '#!/bin/sh\nsed -i "s/A small team/An edited team/" "$1"\n', { mode: 0o755 });
  const api = createApi(address, token);
  return {
    api,
    home: makeHome({ DOORSTEP_URL: address, DOORSTEP_TOKEN: token, EDITOR: editor }),
    changes: async () => {
      const path = `/audit?count=true&limit=1&actor=${encodeURIComponent(subject)}`;
      const { headers } = await (operator ?? api).get(path);
      return Number(headers.get('total-count'));
    },
  };
};

const invitationOf = (email: string): string => `.invitations[] | select(.email == "${email}") | .id`;

beforeAll(async () => {
  const dataDir = temporaryFolder();
  const { address } = await startServer(dataDir);
  const server = { address, dataDir };
  const operator = await signIn(server, ['ops@example.com', 'admin']);
  people.operator = operator;
  const { folder } = personOf(line()).home;
  const file = (name: string): string => join(folder, name);
  writeFileSync(file('text.txt'), 'by hand and seal');
  writeFileSync(file('contract.txt'), 'by hand and seal');
  writeFileSync(file('oven.png'), await picture(64, 48).png().toBuffer());
  writeFileSync(file('large.png'), await picture(640, 480).png().toBuffer());

  for (const person of ['nell', 'owner', 'leaving', 'left', 'gone', 'host'])
    await arrange(`clients create ${person}@example.com --name ${person}`);
  await arrange('websites create Bakery --slug bakery --tier scale --client owner@example.com');
  await arrange('websites create Cafe --slug cafe --client host@example.com');
  for (const slug of ['florist', 'tailor', 'old', 'older']) await arrange(`websites create ${slug} --slug ${slug}`);
  await settle('operator', 'bakery', 'cafe', 'florist', 'tailor', 'old', 'older');
  // Something to deploy again.
  await arrange('websites update florist --brand-color #aa3300');
  await arrange('websites archive old');
  await arrange('websites archive older');

  await arrange('delivery set bakery', '.revision');
  await arrange('delivery seen bakery', '.');
  await arrange('delivery checkpoint bakery kickoff done', '.revision');
  for (const person of ['nell', 'leaving', 'left']) await arrange(`clients add bakery ${person}@example.com --role editor`, '.');
  await arrange('clients remove bakery left@example.com --yes', '.');
  for (const person of ['invited', 'late', 'waiting', 'unwanted'])
    await arrange(`clients add bakery ${person}@example.com --role viewer`, '.');
  made.claimed = await arrange('access list bakery', invitationOf('invited@example.com'));
  made.expired = await arrange('access list bakery', invitationOf('late@example.com'));
  await arrange('transfers offer bakery heir@example.com');

  await arrange('documents upload bakery contract.txt');
  await arrange('documents upload bakery text.txt --name unwanted.txt');
  made.deletedDocument = await arrange('documents upload bakery text.txt --name gone.txt');
  await arrange('documents delete bakery gone.txt --yes', '.');
  await arrange('media upload bakery oven.png --alt Bread');
  const texts = JSON.parse(await arrange('content get bakery texts', '.body')) as object;
  for (const team of ['first', 'small', 'large'])
    writeFileSync(file(`${team}.json`), JSON.stringify({ ...texts, aboutTitle: `A ${team} team` }));
  made.textsHash = await arrange('content save bakery texts --file first.json', '.hash');
  made.newsletterHash = await arrange('marketing save bakery newsletter --file first.json', '.hash');
  for (const document of ['content save bakery texts', 'marketing save bakery newsletter'])
    await arrange(`${document} --file small.json`, '.hash');
  writeFileSync(file('unwanted.png'), await picture(32, 32).png().toBuffer());
  writeFileSync(file('gone.png'), await picture(16, 16).png().toBuffer());
  await arrange('media upload bakery unwanted.png --alt Bread');
  made.deletedMedia = await arrange('media upload bakery gone.png --alt Bread');
  await arrange('media delete bakery gone.png --yes', '.');

  for (const domain of ['bakery.example', 'unwanted.example']) await arrange(`domains add bakery ${domain}`, '.domain');
  made.booking = await arrange('bookings add bakery Tasting --start 2099-12-01T10:00 --end 2099-12-01T11:00');
  made.service = await arrange('services attach bakery analytics --site-id bakery.example');
  const invoice = 'invoices create bakery --total 100 --currency eur --description Hosting';
  made.paidInvoice = await arrange(invoice);
  made.voidedInvoice = await arrange(invoice);
  made.key = await arrange('keys create Spare');
  const node = await arrange('blueprint bakery', '.nodes[0].id');
  writeFileSync(file('blueprint.json'), JSON.stringify({ nodes: [{ id: node, x: 10, y: 20 }] }));

  const core = await openCore(loadSettings({ DATA_DIR: dataDir }), createLogger({ level: 'silent' }));
  await expireInvitation(processOn(core), made.expired);
  await core.close();
  for (const name of ['invited', 'late', 'owner'])
    people[name] = await signIn(server, [`${name}@example.com`, 'client'], operator.api);

  // A source host that knows none of GitHub's paths: the first service.
  const awayDir = temporaryFolder();
  const away = await startServer(awayDir, {
    GITHUB_TOKEN: 'token',
    GITHUB_OWNER: 'agency',
    GITHUB_TEMPLATE: 'agency/template',
    VERCEL_TOKEN: 'token',
    GITHUB_API_URL: address,
  });
  people.away = await signIn({ address: away.address, dataDir: awayDir }, ['ops@example.com', 'admin']);
  for (const slug of ['broken', 'wrecked']) await arrange(`websites create ${slug} --slug ${slug}`, '.id', 'away');
  await settle('away', 'broken', 'wrecked');
}, 720_000);

it('tries every command that asks the service', () => {
  const tried = [writes, reads, files].flatMap((table) => Object.keys(table));
  const asking = commands.filter(({ operations, write }) => operations.length > 0 || write === true).map(({ name }) => name);
  expect([...tried, ...Object.keys(elsewhere)].sort()).toEqual([...asking].sort());
  expect(Object.keys(writes).sort()).toEqual(
    commands
      .filter(({ write }) => write === true)
      .map(({ name }) => name)
      .sort(),
  );
});

describe('a dry run', () => {
  it.each(Object.entries(writes))('of %s says in words what would happen, and changes nothing', async (name, asked) => {
    const person = personOf(asked());
    const before = await person.changes();
    const ran = await call(name, asked(), '--dry-run');
    expect(ran).toEqual({
      code: 0,
      stdout: expect.stringMatching(name === 'api' ? /^\{/ : /^Would /),
      stderr: name.endsWith(' edit') ? expect.stringMatching(/^What you wrote is in \S+\n$/) : '',
    });
    expect(ran.stdout).not.toMatch(mishap);
    expect(ran.stdout).not.toMatch(/^Would change nothing/);
    expect(await person.changes()).toBe(before);
  });
});

describe('a read', () => {
  it.each(Object.entries(reads))('%s gives JSON, and lines without colours', async (name, asked) => {
    const [json, piped] = await Promise.all([call(name, asked(), '--json'), call(name, asked())]);
    expect({ ...json, stdout: typeof JSON.parse(json.stdout) }).toMatchObject({ code: 0, stdout: 'object' });
    expect(piped.code).toBe(0);
    expect(piped.stdout + piped.stderr).not.toMatch(mishap);
    const isEmpty = (JSON.parse(json.stdout) as { length?: number }).length === 0;
    // Nothing was scanned yet, which is nothing to work on in a pipe.
    if (!isEmpty) expect(name === 'seo' ? piped.stderr : piped.stdout).not.toBe('');
  });

  it('of products says that there is no shop yet', async () => {
    expect(await call('products', line('bakery'))).toEqual({
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(/^doorstep: Commerce for website \w+ is not set up\n$/),
    });
  });

  it.each(Object.entries(files))('%s writes to standard output', async (name, asked) => {
    expect(await call(name, asked())).toMatchObject({ code: 0, stdout: expect.stringMatching(/./) as unknown });
  });
});

describe('a write', () => {
  it.each(Object.entries(writes))('%s is carried out, and gives the resource alone', async (name, asked) => {
    const person = personOf(asked());
    const command = commands.find((one) => one.name === name);
    const before = await person.changes();
    const ran = await call(name, asked(), '--json', '--yes');
    expect(ran).toMatchObject({ code: 0, stderr: name === 'api' ? '' : (expect.stringMatching(/\S/) as unknown) });
    const answersNothing = command?.operations.some((id) => silent.has(id)) === true;
    if (answersNothing) expect(ran.stdout).toBe('');
    else expect(typeof JSON.parse(ran.stdout)).toBe('object');
    expect(ran.stderr).not.toMatch(mishap);
    if (asked().unrecorded !== true)
      await eventually(`the audit has what ${name} did`, async () => ((await person.changes()) > before ? true : undefined));
  });
});
