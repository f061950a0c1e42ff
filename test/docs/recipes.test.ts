import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { check, resolveConfig } from 'prettier';
import { changed, cook, filesOf, recipes, root } from './recipes.js';

/** The recipes of CONTRIBUTING.md fit the sources; `recipes.gate.ts` compiles and tests them. */

let copy: string;

beforeAll(() => {
  copy = cook();
});

describe.each(recipes)('$heading', ({ blocks, maxFiles }) => {
  test(`touches at most ${String(maxFiles)} source and test files`, () => {
    const files = filesOf(blocks);
    expect(files.length).toBeGreaterThan(5);
    expect(files.length).toBeLessThanOrEqual(maxFiles);
    for (const file of files) expect(file).toMatch(/^(?:src|test)\//);
  });
});

test('both are written as prettier writes them', async () => {
  for (const path of changed) {
    const options = { ...(await resolveConfig(join(root, path))), filepath: path };
    expect([path, await check(readFileSync(join(copy, path), 'utf8'), options)]).toEqual([path, true]);
  }
});
