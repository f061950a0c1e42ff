import { truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { json, startScripted } from '../sdk/scriptedServer.js';
import { makeHome, openTerminal, runCli, type Home, type Terminal } from '../support/cli.js';
import { createApi, mintToken, startServer } from '../support/server.js';
import { temporaryFolder } from '../support/temporary.js';

let home: Home;
let terminal: Terminal;

beforeAll(async () => {
  const dataDir = temporaryFolder();
  const { address } = await startServer(dataDir);
  const token = await mintToken(dataDir);
  home = makeHome({ DOORSTEP_URL: address, DOORSTEP_TOKEN: token });
  await createApi(address, token).post('/websites', { name: 'Florist', slug: 'florist' });
  await runCli(home, ['provisioning', 'watch', 'florist']);
  terminal = await openTerminal(home, { columns: 100, rows: 30 });
});

describe('create --watch', () => {
  it('redraws the six steps in place, until the website is active', async () => {
    await terminal.enter('doorstep websites create "Corner Bakery" --slug corner-bakery --watch; echo "code $?"');
    const screen = await terminal.shows('code 0');
    // A step may be under way for too short a time to be seen.
    expect(terminal.written()).toMatch(/◐/u);
    const steps = screen.split('\n').filter((line) => /^[✓◐○✗] .* s$/.test(line));
    expect(steps.map((line) => line.replace(/\d+\.\d s$/, ''))).toEqual([
      '✓ Repository from the template    corner-bakery                     ',
      '✓ Collaborators                   none to invite                    ',
      '✓ Hosting project                 corner-bakery                     ',
      '✓ Variables                       3 set                             ',
      expect.stringMatching(/^✓ First deployment {16}commit [0-9a-f]{7} {20}$/),
      '✓ Last check                      the site answers                  ',
    ]);
    expect(screen).not.toMatch(/[◐○]/u);
    expect(screen).toMatch(/✓ Corner Bakery is active: http/);
  });

  it('prints each step that has ended where the terminal says no size', async () => {
    const other = await openTerminal(home, { columns: 100, rows: 30 });
    await other.enter('stty rows 0 columns 0; doorstep websites create Tailor --slug tailor --watch; echo "code $?"');
    const screen = await other.shows('code 0');
    expect(screen.match(/^✓ .* s$/gm)).toHaveLength(6);
    expect(screen).not.toMatch(/[◐○]/u);
  });

  it('shows when a step is tried again, leaves the build going on at Ctrl-C, and says how to watch it again', async () => {
    const dataDir = temporaryFolder();
    // Nobody listens there.
    const { address } = await startServer(dataDir, {
      GITHUB_TOKEN: 'token',
      GITHUB_OWNER: 'agency',
      GITHUB_TEMPLATE: 'agency/template',
      VERCEL_TOKEN: 'token',
      GITHUB_API_URL: 'http://127.0.0.1:9',
    });
    const away = makeHome({ DOORSTEP_URL: address, DOORSTEP_TOKEN: await mintToken(dataDir) });
    const other = await openTerminal(away, { columns: 100, rows: 30 });
    await other.enter('doorstep websites create Bookshop --slug bookshop --watch; echo "code $?"');
    await other.shows(/◐ Repository from the template {4}attempt 2 in \d+ s/);
    await other.press('C-c');
    const screen = await other.shows('code 130');
    expect(screen).toMatch(/To watch it again: doorstep provisioning watch bookshop/);
    const { stdout } = await runCli(away, ['provisioning', 'show', 'bookshop', '--json', 'status']);
    expect(JSON.parse(stdout)).toEqual({ status: 'running' });
  });
});

describe('a delivery', () => {
  it('has marks, colours and days', async () => {
    await runCli(home, ['delivery', 'set', 'florist', '--ready-by', '2099-12-22', '--needed', 'content-loaded=three photos']);
    await runCli(home, ['delivery', 'checkpoint', 'florist', 'content-loaded', 'in_progress']);
    await terminal.enter('clear; doorstep delivery florist');
    const screen = await terminal.shows('Launch');
    expect(screen).toMatch(/Florist: ready by 22 December 2099 \(in [\d,]+ days\)\. 0 of 6 done; now: Content loaded\./);
    expect(screen).toMatch(
      / {2}○ Kickoff\n {2}○ Design approved\n {2}○ Initial deploy\n {2}◐ Content loaded +needed: three photos\n/,
    );
    expect(await terminal.screen(true)).toContain('\u001b[33m◐');
  });
});

describe('an upload', () => {
  it('shows how far it is on one line, and leaves none of it', async () => {
    writeFileSync(join(home.folder, 'film.bin'), '');
    truncateSync(join(home.folder, 'film.bin'), 60_000_000);
    await terminal.enter('clear; doorstep documents upload florist film.bin; echo "code $?"');
    await terminal.shows(/^film\.bin {2}█*░+ +\d+% {2}[\d.]+ \wB of 60\.0 MB$/m);
    const screen = await terminal.shows('code 0');
    expect(screen).toMatch(/✓ film\.bin is uploaded to Florist\./);
    expect(screen).not.toMatch(/░|█/);
  });

  it('says in the place of that line that the service asks to wait', async () => {
    const { url } = await startScripted(
      json(200, { websites: [{ id: 'w1', slug: 'florist', name: 'Florist' }] }),
      json(503, { error: 'Storage is full' }, { 'retry-after': '1' }),
      json(201, { id: 'd1', name: 'plan.bin' }),
    );
    writeFileSync(join(home.folder, 'plan.bin'), 'x'.repeat(200_000));
    await terminal.enter(`clear; DOORSTEP_URL=${url} doorstep documents upload florist plan.bin; echo "code $?"`);
    expect(await terminal.shows('code 0')).toMatch(
      /^Storage is full\. The service asks to wait for 1 s…\n✓ plan\.bin is uploaded to Florist\.$/m,
    );
  });
});

describe('a question', () => {
  it('is asked before what cannot be taken back, and the slug before a deletion', async () => {
    await terminal.enter('clear; doorstep documents delete florist film.bin; echo "code $?"');
    await terminal.shows('Delete film.bin? [y/N]');
    await terminal.enter('n');
    expect(await terminal.shows('code 1')).toMatch(/doorstep: Nothing was changed\./);
    await runCli(home, ['websites', 'archive', 'florist']);
    await terminal.enter('clear; doorstep websites delete florist; echo "code $?"');
    await terminal.shows('Type the slug of Florist to delete it:');
    await terminal.enter('florist');
    expect(await terminal.shows('code 0')).toMatch(/✓ Florist will be deleted on/);
  });

  it.each([
    ['before what cannot be taken back', 'doorstep documents delete corner-bakery plan.pdf', 'Delete plan.pdf? [y/N]'],
    ['with a default', 'env -u DOORSTEP_URL doorstep login --profile other', 'Address of the service [http'],
  ])('%s ends quietly at Ctrl-C', async (_what, line, question) => {
    writeFileSync(join(home.folder, 'plan.pdf'), 'plan');
    await runCli(home, ['documents', 'upload', 'corner-bakery', 'plan.pdf']);
    await terminal.enter(`clear; ${line}; echo "code $?"`);
    await terminal.shows(question);
    await terminal.press('C-c');
    const screen = await terminal.shows(/^code \d+$/m);
    expect(screen.slice(screen.lastIndexOf(question))).toMatch(/^.*\ncode 130\n/);
  });
});
