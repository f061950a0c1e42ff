import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { constants, deflateRawSync } from 'node:zlib';
import { beforeAll, expect, test } from '@jest/globals';
import type { Repository } from '../../src/integrations/sourceHost/port.js';
import { commitTo, git, treeEntry as entry, writeCommit, writeObject } from '../contracts/hostingSites.js';
import { eventually } from '../support/eventually.js';
import { createApi, mintToken, startServer, type Api, type ServerProcess } from '../support/server.js';
import { inStorm } from '../support/storm.js';
import { temporaryFolder } from '../support/temporary.js';
import { repositoryIn } from '../support/folders.js';

/**
 * An editor pushes what is meant to stop the service, and has it built: each build ends with a clear
 * failure, the other requests stay fast, memory stays bounded, and the previous site stays served.
 */

let server: ServerProcess;
let api: Api;
let websiteId = '';
let gitdir = '';
let repository: Repository;
let home = '';
let good = '';

beforeAll(async () => {
  const dataDir = temporaryFolder();
  server = await startServer(dataDir);
  api = createApi(server.address, await mintToken(dataDir));
  const website = (await api.post('/websites', { name: 'Bakery', slug: 'bakery', tier: 'growth' })).body as { id: string };
  websiteId = website.id;
  await eventually('the activation', async () => {
    const { status } = (await api.get(`/websites/${websiteId}`)).body as { status: string };
    return status === 'active' ? true : undefined;
  });
  gitdir = repositoryIn(dataDir, 'bakery');
  repository = { id: 'bakery', name: 'bakery', defaultBranch: 'main', cloneUrl: `file://${gitdir}` };
  home = await textOf('/sites/bakery/');
  good = git(gitdir, ['rev-parse', 'main']);
});

const textOf = async (path: string): Promise<string> => {
  const answer = await fetch(`${server.address}${path}`);
  expect(answer.status).toBe(200);
  return answer.text();
};

const pushTree = (tree: string): void => {
  git(gitdir, ['update-ref', 'refs/heads/main', writeCommit(gitdir, tree)]);
};
const write = (kind: 'tree' | 'blob', content: string | Uint8Array): string => writeObject(gitdir, kind, content);
const numbered = (count: number, each: (name: string) => Buffer): string =>
  write('tree', Buffer.concat(Array.from({ length: count }, (_, index) => each(String(index).padStart(6, '0')))));

/** 120 characters that ask for nine million evaluations of an expression. */
const expressions =
  '{% assign a = (1..3000) %}{% assign e = \'a | where_exp: "y", "y == 0" | size\' %}{{ a | where_exp: \'x\', e | size }}';

/**
 * Stores a file that says how long it is, and is, without computing what git would: a megabyte of
 * zeros, deflated once, is repeated.
 */
const writeZeros = (megabytes: number): string => {
  const id = 'ab'.repeat(20);
  const header = deflateRawSync(`blob ${String(megabytes * 1_000_000)}\0`, { finishFlush: constants.Z_FULL_FLUSH });
  const part = deflateRawSync(Buffer.alloc(1_000_000), { finishFlush: constants.Z_FULL_FLUSH });
  const parts = Array.from({ length: megabytes }, () => part);
  mkdirSync(join(gitdir, 'objects', 'ab'), { recursive: true });
  writeFileSync(join(gitdir, 'objects', 'ab', id.slice(2)), Buffer.concat([Buffer.from([0x78, 0x9c]), header, ...parts]));
  return id;
};

const attacks: Readonly<Record<string, readonly [push: () => void, error: RegExp]>> = {
  'an expression for each entry of a list': [
    () => commitTo(repository, { 'index.html.liquid': expressions }),
    /^index\.html\.liquid cannot be rendered: .*where_exp/,
  ],
  'a list that does not fit into the memory': [
    () => commitTo(repository, { 'index.html.liquid': '{% assign a = (1..19999999) %}' }),
    /^The build takes more memory/,
  ],
  'a file of 600 MB of zeros': [
    () => {
      pushTree(write('tree', entry('100644', 'zeros.bin', writeZeros(600))));
    },
    /^zeros\.bin is too large/,
  ],
  'eleven thousand folders': [
    () => {
      const leaf = write('tree', entry('100644', 'a.txt', write('blob', 'a')));
      pushTree(numbered(11_111, (name) => entry('40000', name, leaf)));
    },
    /^The repository is too large: .* 5,000 folders/,
  ],
  'one folder in ten thousand places': [
    () => {
      const blob = write('blob', 'a');
      let tree = numbered(100, (name) => entry('100644', name, blob));
      for (let level = 0; level < 3; level += 1) {
        const inner = tree;
        tree = numbered(100, (name) => entry('40000', name, inner));
      }
      pushTree(tree);
    },
    /too large/,
  ],
};

/** The highest resident memory of a process so far, in MB; `undefined` when it has ended. */
const peakOf = (pid: number | string): number | undefined => {
  const [kilobytes] = readProc(pid, 'status', /VmHWM:\s+(\d+) kB/) ?? [];
  return kilobytes === undefined ? undefined : Number(kilobytes) / 1_024;
};
const readProc = (pid: number | string, file: string, pattern: RegExp): readonly string[] | undefined => {
  const path = `/proc/${String(pid)}/${file}`;
  return existsSync(path) ? pattern.exec(readFileSync(path, 'latin1'))?.slice(1) : undefined;
};
/** The highest memory of each process that builds. */
const builders = new Map<string, number>();
const watchBuilders = (): void => {
  const [children = ''] = readProc(server.pid, `task/${String(server.pid)}/children`, /(.*)/s) ?? [];
  for (const pid of children.trim().split(' ')) {
    const peak = pid === '' ? undefined : peakOf(pid);
    if (peak !== undefined) builders.set(pid, Math.max(builders.get(pid) ?? 0, peak));
  }
};

test.each(Object.entries(attacks))('%s', async (_, [push, error]) => {
  push();
  const peakBefore = peakOf(server.pid) ?? 0;
  const under = { way: true };
  const attack = api.post(`/websites/${websiteId}/redeploy`).finally(() => {
    under.way = false;
  });
  const latencies: number[] = [];
  const begunAt = performance.now();
  while (under.way) {
    const startedAt = performance.now();
    await textOf('/sites/bakery/');
    latencies.push(performance.now() - startedAt);
    watchBuilders();
    await pause(5);
  }
  const answer = await attack;
  const durationMs = performance.now() - begunAt;
  git(gitdir, ['update-ref', 'refs/heads/main', good]);
  expect(answer).toMatchObject({ status: 202, body: { status: 'failed', error: expect.stringMatching(error) } });
  const [latest] = (await api.get(`/websites/${websiteId}/deployments?limit=1`)).body as readonly unknown[];
  expect(latest).toEqual(answer.body);
  expect(await textOf('/sites/bakery/')).toBe(home);
  const latencyOf = (share: number): number =>
    latencies.toSorted((one, other) => one - other).at(Math.floor(latencies.length * share)) ?? Infinity;
  // Nobody waits for the build. How long exactly depends on what else the machine does, so that only the gate asks.
  expect(latencyOf(0.5)).toBeLessThan(durationMs / 4);
  expect(latencyOf(0.99)).toBeLessThan(inStorm({ short: Infinity, gate: 500, long: 500 }));
  expect((peakOf(server.pid) ?? 0) - peakBefore).toBeLessThan(50);
});

test('no build has taken more memory than a few hundred megabytes', () => {
  expect(builders.size).toBeGreaterThanOrEqual(Object.keys(attacks).length);
  expect(Math.max(...builders.values())).toBeLessThan(500);
});

test('the site is built again once it is repaired', async () => {
  commitTo(repository, { 'index.html.liquid': 'Repaired' });
  expect(await api.post(`/websites/${websiteId}/redeploy`)).toMatchObject({ status: 202, body: { status: 'ready' } });
  expect(await textOf('/sites/bakery/')).toBe('Repaired');
});
