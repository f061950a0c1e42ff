import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, test } from '@jest/globals';

const root = fileURLToPath(new URL('../..', import.meta.url));

const bench = (...options: string[]): Promise<{ stdout: string; stderr: string }> =>
  promisify(execFile)(process.execPath, ['bench/bench.mjs', ...options], { cwd: root });

interface Report {
  readonly quick: boolean;
  readonly figures: readonly { readonly name: string; readonly value: number; readonly meetsAim: boolean | null }[];
}

describe('npm run bench', () => {
  test('measures everything in little, and says which aims are met', async () => {
    const { stdout } = await bench(
      '--quick',
      '--json',
      '--only',
      'writes,reads,appends,rebuild,catchUp,activation,webhooks,coldStart,memory,processes,scale,manyWebsites,routes,upload',
    );

    const { quick, figures } = JSON.parse(stdout) as Report;
    expect(quick).toBe(true);
    const about = (start: string) => figures.filter(({ name }) => name.startsWith(start));
    for (const start of [
      'writes / echo',
      'reads / echo',
      'appends',
      'rebuild',
      'catching up',
      'POST to active',
      'webhooks at 500 a second',
      'cold start',
      'memory',
      'setting',
      'creating',
      'list',
      'audit',
      'forecast',
      'export',
      'upload',
    ]) {
      expect(about(start).length).toBeGreaterThan(0);
    }
    expect(figures.filter(({ value }) => !(value > 0)).map(({ name }) => name)).toEqual([]);
    expect(about('writes / echo').map(({ meetsAim }) => typeof meetsAim)).toEqual(['boolean']);
  }, 720_000);
});
