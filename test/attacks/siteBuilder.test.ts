import { fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { constants, getPriority, type setPriority } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { afterEach, expect, test } from '@jest/globals';
import { createSiteBuilder, type SiteBuilder } from '../../src/integrations/hosting/site/builder.js';
import { systemClock, type Clock } from '../../src/platform/clock.js';
import { git, repositoryOf } from '../contracts/hostingSites.js';
import { eventually } from '../support/eventually.js';
import { collectLogs } from '../support/logs.js';
import { buildProgram } from '../support/siteBuilder.js';
import { temporaryFolder } from '../support/temporary.js';
import { createTestClock } from '../support/testClock.js';

/**
 * One call of a filter that takes a minute: four thousand texts of half a million characters are
 * sorted, and put into lower case for each comparison. No limit of the template engine looks at it.
 */
const endless = [
  "{% assign s = 'XYXYXYXY' %}{% for i in (1..16) %}{% assign s = s | append: s %}{% endfor %}",
  "{% assign a = 'x' | split: ',' | push: s %}{% for i in (1..12) %}{% assign a = a | concat: a %}{% endfor %}",
  '{% assign b = a | sort_natural %}',
].join('');

const requestFor = (page: string) => {
  const gitdir = fileURLToPath(repositoryOf({ 'index.html.liquid': page }).cloneUrl);
  const [folder, compressedFolder] = [temporaryFolder(), temporaryFolder()];
  return { gitdir, commit: git(gitdir, ['rev-parse', 'main']), variables: {}, folder, compressedFolder };
};

const { logger, lines } = collectLogs();
const builders: SiteBuilder[] = [];
afterEach(async () => {
  for (const builder of builders.splice(0)) builder.close();
  await eventually('their end', () => (childrenOf(process.pid).length === 0 ? true : undefined));
});
const openBuilder = (
  options: { maxBuildMs?: number; idleMs?: number; clock?: Clock; setPriority?: typeof setPriority } = {},
): SiteBuilder => {
  const builder = createSiteBuilder({ program: buildProgram, clock: systemClock, logger, ...options });
  builders.push(builder);
  return builder;
};
/** The processes that a process has started. */
const childrenOf = (pid: number): string[] =>
  readdirSync(`/proc/${String(pid)}/task`)
    .flatMap((thread) => readFileSync(`/proc/${String(pid)}/task/${thread}/children`, 'utf8').split(' '))
    .filter((child) => child !== '' && readFileSync(`/proc/${child}/cmdline`, 'utf8').includes('buildProgram'));

test('a build that does not end is ended, and this process is free all the while', async () => {
  const builder = openBuilder({ maxBuildMs: 1_000 });
  const request = requestFor(endless);
  // Processor time, unlike delays, is the same however busy the machine is.
  const before = process.cpuUsage();
  expect(await builder.build(request)).toEqual({ failure: 'The build takes longer than 1 s' });
  const { user, system } = process.cpuUsage(before);
  expect((user + system) / 1_000).toBeLessThan(500);
  expect(await builder.build(requestFor('Home'))).toMatchObject({ files: { 'index.html': expect.stringMatching(/^\w{16}$/) } });
});

/** A build in a process that gets nothing of the processor. */
const starvedBuild = async () => {
  const clock = createTestClock();
  const building = openBuilder({ clock }).build(requestFor('Home'));
  const [builder = ''] = await eventually('its process', () => {
    const children = childrenOf(process.pid);
    return children.length === 1 ? children : undefined;
  });
  process.kill(Number(builder), 'SIGSTOP');
  return { clock, building, goOn: () => process.kill(Number(builder), 'SIGCONT') };
};

test('a build that has to wait for the processor is not ended for that', async () => {
  const { clock, building, goOn } = await starvedBuild();
  await clock.advance(119_000);
  goOn();
  expect(await building).toHaveProperty('files');
});

test('a build that waits for the processor too long is interrupted, to be tried again', async () => {
  const { clock, building } = await starvedBuild();
  const ended = expect(building).rejects.toMatchObject({ transient: true, message: 'The build was interrupted' });
  await clock.advance(121_000);
  await ended;
});

test('at most two sites are built at once, and the others wait for their turn', async () => {
  const builder = openBuilder();
  const built = { files: { 'index.html': expect.anything() } };
  const pages = ['One', 'Two', 'Three', 'Four', 'Five'];
  expect(await Promise.all(pages.map((page) => builder.build(requestFor(page))))).toMatchObject(pages.map(() => built));
  expect(childrenOf(process.pid)).toHaveLength(2);
});

test('a process that builds has a lower priority than this one', async () => {
  await openBuilder().build(requestFor('Home'));
  const [builder] = childrenOf(process.pid);
  expect(getPriority(Number(builder))).toBe(Math.max(getPriority(), constants.priority.PRIORITY_BELOW_NORMAL));
});

test('a process that builds knows nothing of the environment, is used again, and ends when it is idle', async () => {
  const builder = openBuilder({ idleMs: 500 });
  const [one, two, three] = [requestFor('One'), requestFor('Two'), requestFor('Three')];
  await builder.build(one);
  const [first = ''] = childrenOf(process.pid);
  expect(readFileSync(`/proc/${first}/environ`, 'utf8')).not.toMatch(/PATH|HOME|NODE_OPTIONS/);
  await builder.build(two);
  expect(childrenOf(process.pid)).toEqual([first]);
  await eventually('its end', () => (childrenOf(process.pid).length === 0 ? true : undefined));
  expect(await builder.build(three)).toHaveProperty('files');
});

test('where nobody may set the priority of a process websites are built all the same, and no process is left', async () => {
  const builder = openBuilder({
    idleMs: 200,
    setPriority: () => {
      throw new Error('EPERM');
    },
  });
  expect(await builder.build(requestFor('One'))).toHaveProperty('files');
  await eventually('its end', () => (childrenOf(process.pid).length === 0 ? true : undefined));
  expect(await builder.build(requestFor('Two'))).toHaveProperty('files');
  expect(lines().filter((line) => line.includes('priority of requests'))).toHaveLength(1);
  builder.close();
  await eventually('no process', () => (childrenOf(process.pid).length === 0 ? true : undefined));
});

test('a build of a service that is killed ends with it', async () => {
  const builderUrl = pathToFileURL(join(buildProgram, '../builder.js')).href;
  const clockUrl = pathToFileURL(join(buildProgram, '../../../../platform/clock.js')).href;
  const script = `
    import { createSiteBuilder } from '${builderUrl}';
    import { systemClock as clock } from '${clockUrl}';
    const builder = createSiteBuilder({ program: ${JSON.stringify(buildProgram)}, clock, logger: {} });
    const building = builder.build(${JSON.stringify(requestFor(endless))});
    console.log('building');
    await building;`;
  const service = spawn(process.execPath, ['--input-type=module', '--eval', script], { stdio: ['ignore', 'pipe', 'inherit'] });
  await once(createInterface({ input: service.stdout }), 'line');
  const builder = await eventually('the start', () => childrenOf(service.pid ?? 0)[0]);
  // It has read the repository and renders.
  await eventually('some work', () =>
    Number(readFileSync(`/proc/${builder}/stat`, 'utf8').split(' ')[13]) > 30 ? true : undefined,
  );
  service.kill('SIGKILL');
  await eventually('its end', () => (existsSync(`/proc/${builder}`) ? undefined : true));
});

test('a builder whose service is killed while it starts ends too', async () => {
  const builder = fork(buildProgram, { stdio: 'ignore' });
  const ended = once(builder, 'exit');
  await once(builder, 'spawn');
  builder.disconnect();
  expect(await ended).toEqual([null, 'SIGKILL']);
});
