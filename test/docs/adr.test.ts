import { readFileSync, readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from '@jest/globals';

const folder = fileURLToPath(new URL('../../docs/adr/', import.meta.url));

const records = readdirSync(folder)
  .filter((name) => name !== 'README.md')
  .toSorted()
  .map((name) => {
    const text = readFileSync(`${folder}${name}`, 'utf8');
    const [, number, title, status] = /^# (\d+)\. (.+)\n\nStatus: (.+)\n/.exec(text) ?? [];
    return { name, number, title, status };
  });

describe('architecture decision records', () => {
  test('are numbered without gaps, and each begins with its number, title and status', () => {
    expect(records.map(({ name, number }) => [Number(name.slice(0, 4)), number])).toEqual(
      records.map((_, index) => [index + 1, String(index + 1)]),
    );
    for (const { name, status } of records)
      expect([name, status]).toEqual([name, expect.stringMatching(/^(proposed|accepted|superseded)\b/)]);
  });

  test('are all listed in README.md, with the status that they have', () => {
    const rows = readFileSync(`${folder}README.md`, 'utf8')
      .split('\n')
      .filter((line) => /^\| \d/.test(line))
      .map((line) =>
        line
          .split('|')
          .slice(1, -1)
          .map((cell) => cell.trim()),
      );
    expect(rows).toEqual(records.map(({ name, number, title, status }) => [number, `[${title ?? ''}](${name})`, status]));
  });

  test('name each other when one supersedes another', () => {
    for (const { name, status = '' } of records) {
      for (const [, other = ''] of status.matchAll(/\]\(([^)]+)\)/g)) {
        expect([other, records.find((record) => record.name === other)?.status]).toEqual([
          other,
          expect.stringContaining(`](${name})`),
        ]);
      }
    }
  });
});
