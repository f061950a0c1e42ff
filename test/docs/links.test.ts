import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from '@jest/globals';

const root = fileURLToPath(new URL('../..', import.meta.url));

const pagesIn = (folder: string, recursive: boolean): string[] =>
  readdirSync(join(root, folder), { recursive, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => join(root, folder, name));

const pages = [
  ...['.', 'cli', 'mcp', 'sdk'].flatMap((folder) => pagesIn(folder, false)),
  ...['docs', 'sdk/docs'].flatMap((folder) => pagesIn(folder, true)),
];

const proseOf = (file: string): string => readFileSync(file, 'utf8').replace(/^( *)```[^]*?^\1```/gm, '');

/** The anchors of a page's headings, as GitHub names them: a heading that recurs gets a number. */
const anchorsOf = (file: string): ReadonlySet<string> => {
  const seen = new Map<string, number>();
  return new Set(
    [...proseOf(file).matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) => {
      const text = heading
        .trim()
        .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
        .toLowerCase();
      const anchor = text.replace(/[^\p{L}\p{N}\s_-]/gu, '').replace(/\s/g, '-');
      const times = seen.get(anchor) ?? 0;
      seen.set(anchor, times + 1);
      return times === 0 ? anchor : `${anchor}-${String(times)}`;
    }),
  );
};

const linksOf = (file: string): string[] =>
  [
    ...proseOf(file)
      .replace(/`[^`\n]*`/g, '')
      .matchAll(/\]\(([^)\s]+)\)/g),
  ]
    .map(([, link = '']) => link)
    .filter((link) => !/^[a-z]+:/.test(link));

test('every link between pages leads to a file that is there, and to a heading in it', () => {
  const broken = pages.flatMap((page) =>
    linksOf(page)
      .filter((link) => {
        const [path = '', anchor] = link.split('#');
        const target = path === '' ? page : resolve(dirname(page), path);
        return !existsSync(target) || (anchor !== undefined && target.endsWith('.md') && !anchorsOf(target).has(anchor));
      })
      .map((link) => `${relative(root, page)}: ${link}`),
  );
  expect(broken).toEqual([]);
});
