import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from '@jest/globals';

const source = fileURLToPath(new URL('../../portal/src', import.meta.url));

interface Texts {
  readonly [key: string]: string | Texts;
}

/** The texts of a language by their whole keys, as in `status.readyBy`. */
const textsOf = (language: string): ReadonlyMap<string, string> => {
  const flatten = (texts: Texts, path: string): [string, string][] =>
    Object.entries(texts).flatMap(([key, text]) =>
      typeof text === 'string' ? [[`${path}${key}`, text]] : flatten(text, `${path}${key}.`),
    );
  return new Map(flatten(JSON.parse(readFileSync(join(source, 'i18n', `${language}.json`), 'utf8')) as Texts, ''));
};

const english = textsOf('en');
const others = readdirSync(join(source, 'i18n'))
  .filter((name) => name.endsWith('.json') && name !== 'en.json')
  .map((name) => name.replace('.json', ''));

const placeholders = (text: string): readonly string[] =>
  [...text.matchAll(/\{\{\s*(\w+).*?\}\}/g)].map(([, name = '']) => name).sort();

const code = readdirSync(source, { recursive: true, encoding: 'utf8' })
  .filter((name) => /\.tsx?$/.test(name))
  .map((name) => readFileSync(join(source, name), 'utf8'))
  .join('\n');

/** A key may be written whole, without its plural form, or as a template with an open place or two. */
const isUsed = (key: string): boolean => {
  const plain = key.replace(/_(zero|one|two|few|many|other)$/, '');
  if (code.includes(`'${plain}'`) || code.includes(`\`${plain}\``) || code.includes(`"${plain}"`)) return true;
  return templates.some((template) => template.test(plain));
};

const templates = [...code.matchAll(/`([a-zA-Z]+\.[^`\s]*\$\{[^`]*|\$\{\w+\}\.[a-zA-Z.]+)`/g)].map(
  ([, template = '']) =>
    new RegExp(
      `^${template
        .split(/\$\{[^}]*\}/)
        .map((part) => part.replaceAll(/[.*+?^$()|[\]\\]/g, '\\$&'))
        .join('[^.]+')}$`,
    ),
);

describe('the texts of the portal', () => {
  test.each(others)('%s has the same keys as English', (language) => {
    expect([...textsOf(language).keys()].sort()).toEqual([...english.keys()].sort());
  });

  test.each(others)('%s names the same values in each text', (language) => {
    const found = [...textsOf(language)].map(([key, text]) => [key, ...placeholders(text)]);
    expect(Object.fromEntries(found.map(([key, ...names]) => [key, names]))).toEqual(
      Object.fromEntries([...english].map(([key, text]) => [key, placeholders(text)])),
    );
  });

  test.each(others)('%s leaves no sentence in English', (language) => {
    const same = [...textsOf(language)].filter(
      ([key, text]) => text === english.get(key) && /[a-z]{2,} [a-z]{2,} [a-z]{2,}/.test(text),
    );
    expect(same).toEqual([]);
  });

  test('each is used', () => {
    expect([...english.keys()].filter((key) => !isUsed(key))).toEqual([]);
  });
});

describe('what the portal keeps in the browser', () => {
  const page = readFileSync(new URL('../../docs/portal.md', import.meta.url), 'utf8');
  const keys = new Set([...code.matchAll(/(?<!BroadcastChannel\()[`'"]((?:doorstep|oidc)\.\w+)/g)].map(([, key = '']) => key));

  test.each([...keys])('names the key %s in its page', (key) => {
    expect(page).toMatch(new RegExp(`^\\| .*\`${key.replaceAll('.', '\\.')}[\`:.]`, 'm'));
  });
});
