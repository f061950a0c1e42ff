import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from '@jest/globals';
import { createMetrics, noWork } from '../../src/http/metrics.js';

const root = fileURLToPath(new URL('../..', import.meta.url));
const pages = ['operations.md', 'servers.md'];
const manual = (await Promise.all(pages.map((page) => readFile(join(root, 'docs', page), 'utf8')))).join('\n');

test('the operations manual explains every metric of the service', async () => {
  const text = await createMetrics().text([], noWork);
  const names = [...text.matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name ?? '');
  const own = names.filter((name) => !/^(process|nodejs)_/.test(name));
  expect(own.length).toBeGreaterThan(4);
  expect(own.filter((name) => !manual.includes(`\`${name}\``))).toEqual([]);
});

test('every log line in it is written by the code', async () => {
  const explained = [...manual.matchAll(/^\| (?:error|warn) +\| `([^`]+)`/gm)].map(([, message]) => message ?? '');
  expect(explained.length).toBeGreaterThan(10);
  const files = (await readdir(join(root, 'src'), { recursive: true })).filter((name) => name.endsWith('.ts'));
  const code = (await Promise.all(files.map((name) => readFile(join(root, 'src', name), 'utf8')))).join('\n');
  const written = (message: string): boolean => code.includes(/^the <name> (.*) …$/.exec(message)?.[1] ?? message);
  expect(explained.filter((message) => !written(message))).toEqual([]);
});

test('a dump of MongoDB in it has what cannot be made again, and no read model: it is of no single moment', () => {
  const dumps = [...manual.matchAll(/`mongodump ([^`]+)`/g)].map(([, options = '']) => options);
  expect(dumps.map((options) => /--collection=(\S+)/.exec(options)?.[1])).toEqual(['records', 'vault']);
});

test('every command in it exists', async () => {
  const { scripts } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as { scripts: Record<string, string> };
  const commands = [...manual.matchAll(/npm run (?:--silent )?([a-z:]+)/g)].map(([, name]) => name ?? '');
  expect(commands.filter((name) => !(name in scripts))).toEqual([]);
  const operations = await readdir(join(root, 'src/operations'));
  const programs = [
    'mintToken',
    'projectionStatus',
    'workersStatus',
    'rebuildProjection',
    'auditDelivery',
    'rotateVault',
    'endSessions',
    'backup',
    'restoreFiles',
    'move',
  ];
  for (const program of programs) {
    expect(manual).toContain(`\`${program}\``);
    expect(operations).toContain(`${program}.ts`);
  }
});
