import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, test } from '@jest/globals';

const root = fileURLToPath(new URL('../..', import.meta.url));

const bench = (...options: string[]): Promise<{ stdout: string; stderr: string }> =>
  promisify(execFile)(process.execPath, ['bench/bench.mjs', ...options], { cwd: root });

interface Report {
  readonly quick: boolean;
  readonly figures: readonly {
    readonly name: string;
    readonly value: number;
    readonly meetsAim: boolean | null;
    readonly baseline: number | null;
  }[];
}

describe('npm run bench', () => {
  test('measures in little, and says which aims are met; `bench.gate.ts` measures everything', async () => {
    const { stdout } = await bench('--quick', '--json', '--only', 'coldStart,memory');

    const { quick, figures } = JSON.parse(stdout) as Report;
    expect(quick).toBe(true);
    const about = (start: string) => figures.filter(({ name }) => name.startsWith(start));
    for (const start of ['cold start', 'memory']) expect(about(start).length).toBeGreaterThan(0);
    for (const { value } of figures) expect(value).toBeGreaterThan(0);
    expect(about('cold start').map(({ meetsAim }) => typeof meetsAim)).toContain('boolean');
    expect(about('memory').map(({ baseline }) => typeof baseline)).toEqual(['number', 'number', 'number']);
  }, 180_000);

  test('a measure that fails is named, and the figures of the others are printed', async () => {
    const inFile = join(root, 'package.json', 'installations');
    const run = bench('--quick', '--json', '--only', 'coldStart,growth.lists', '--installations', inFile);
    await expect(run).rejects.toMatchObject({
      code: 1,
      stderr: expect.stringContaining('failed: growth'),
      stdout: expect.stringContaining('cold start'),
    });
  }, 180_000);

  test('refuses to write figures of a run in little down as the baseline', async () => {
    await expect(bench('--quick', '--write-baseline')).rejects.toMatchObject({ code: 2 });
  });

  test('refuses a measure that there is not, naming those that there are', async () => {
    await expect(bench('--only', 'speed')).rejects.toMatchObject({ code: 2, stderr: expect.stringContaining('rebuild') });
  });
});
