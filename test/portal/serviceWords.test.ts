import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, jest, test } from '@jest/globals';
import { translated, type ServiceWords } from '../../portal/src/i18n/serviceWords.js';
import { refusalKinds } from '../../src/commands/refusal.js';
import { httpRefusalKinds, statusOfRefusal } from '../../src/http/errors.js';
import { faultStatus } from '../../src/http/faults.js';
import type { Route } from '../../src/http/route.js';
import { createRoutes } from '../../src/http/routes/index.js';
import { bodyValidator, closed } from '../../src/http/validation.js';
import { rules } from '../../src/workers/seo/audit.js';
import { startApi } from '../support/http.js';
import { refusedInputs } from '../support/refusedInputs.js';

const folder = fileURLToPath(new URL('../../portal/src/i18n/service', import.meta.url));
const languages = readdirSync(folder).map((name) => name.replace('.json', ''));
const textsOf = (language: string): ServiceWords =>
  JSON.parse(readFileSync(join(folder, `${language}.json`), 'utf8')) as ServiceWords;

/** What only programs are answered: Git, assistants, the command line, shops, and keys that only read. */
const forPrograms = [
  'repository_full',
  'insufficient_scope',
  'invalid_signature',
  'other_shop',
  'device_grant_exchanged',
  'read_only_token',
  'read_only_token_for_mails',
];

const statuses: Readonly<Record<string, number>> = {
  ...Object.fromEntries(
    Object.entries({ ...refusalKinds, ...httpRefusalKinds }).map(([code, kind]) => [code, statusOfRefusal[kind]]),
  ),
  ...faultStatus,
};

/** Of the faults of the service itself the portal has words of its own (`refusalIn`, `Asked`). */
const shown = Object.entries(statuses)
  .filter(([code, status]) => (status < 500 || code.startsWith('provider_')) && !forPrograms.includes(code))
  .map(([code]) => code);

const root = fileURLToPath(new URL('../..', import.meta.url));
const textsIn = (part: string, isMeant: RegExp): readonly string[] =>
  readdirSync(join(root, part), { recursive: true, encoding: 'utf8' })
    .filter((name) => isMeant.test(name))
    .map((name) => readFileSync(join(root, part, name), 'utf8'));

/** What the service's own templates say of themselves and of what can be edited. */
const templates = textsIn('templates', /(template|_content\.schema)\.json$/);
const source = [...textsIn('src', /\.ts$/).map((text) => text.replaceAll(/' \+\s+'/g, '')), ...templates].join('\n');

/** What is said of the fields of all bodies. */
const issues = new Set<string>();

beforeAll(async () => {
  let routes: readonly Route[] = [];
  await startApi({ routes: (parts) => (routes = createRoutes(parts)), projector: false });
  for (const { body } of routes) {
    if (body === undefined) continue;
    const validate = bodyValidator(body);
    for (const { input } of refusedInputs(closed(body), 'body')) {
      for (const { issue } of validate(input)) issues.add(issue);
    }
  }
});

describe.each(languages)('what the service says, in %s', (language) => {
  const texts = textsOf(language);
  const say = (words: string, code?: string): string => translated(texts, words, code);

  test('has a sentence for each code that a reader may meet, and for no other', () => {
    expect(Object.keys(texts.codes).sort()).toEqual(shown.toSorted());
  });

  test('names no part that the service does not name', () => {
    const placesIn = (text: string): readonly string[] => text.match(/\{\w+\}/g) ?? [];
    const own = Object.entries(texts.sentences).map(([theirs, ours]) =>
      placesIn(ours).filter((part) => !placesIn(theirs).includes(part)),
    );
    const ofCodes = Object.values(texts.codes).map((text) => placesIn(text ?? '').filter((part) => part !== '{words}'));
    expect([...own, ...ofCodes].flat()).toEqual([]);
  });

  test('leaves no whole sentence in English that a body is refused with', () => {
    const left = [...issues].filter((issue) => say(issue) === issue || say(issue).includes('; got '));
    expect(left).toEqual([]);
  });

  test('leaves nothing in English that is said of a site in search', () => {
    const said = rules.flatMap(({ message, advice }) => [message, advice]);
    expect(said.filter((sentence) => say(sentence) === sentence)).toEqual([]);
  });

  test('leaves nothing in English that the templates of the service say', () => {
    const said = templates.join('\n').matchAll(/"(?:title|description)": "(.+?)"/g);
    expect([...said].map(([, words = '']) => words).filter((words) => !(words in texts.sentences))).toEqual([]);
  });

  test('knows no sentence that the service does not say', () => {
    const isSaid = (sentence: string): boolean =>
      sentence
        .split(/\{\w+\}|; got|[.:] /)
        .map((part) => part.trim())
        .every((part) => source.includes(part)) || [...issues].some((issue) => issue.startsWith(sentence));
    expect(Object.keys(texts.sentences).filter((sentence) => !isSaid(sentence))).toEqual([]);
  });
});

describe('a text of the service', () => {
  const texts: ServiceWords = {
    codes: { slug_taken: 'Vergeben: {words}' },
    sentences: { '{provider} refused: {reason}': '{provider} lehnt ab: {reason}', 'No home page': 'Keine Startseite' },
  };

  test.each([
    { name: 'fits no sentence', words: 'Something else', said: 'Something else' },
    { name: 'is a name that every object has', words: 'constructor', said: 'constructor' },
    { name: 'is such a name with such a code', words: '__proto__', code: 'toString', said: '__proto__' },
    { name: 'has a code alone', words: 'Something else', code: 'slug_taken', said: 'Vergeben: Something else' },
    {
      name: 'is a reason within a reason',
      words: 'A refused: B refused: No home page',
      said: 'A lehnt ab: B lehnt ab: Keine Startseite',
    },
  ])('that $name', ({ words, code, said }) => {
    expect(translated(texts, words, code)).toBe(said);
  });

  test('stays in English where reasons are nested without end', () => {
    const rest = 'A refused: '.repeat(700);
    expect(translated(texts, `${rest}No home page`)).toMatch(/^(A lehnt ab: ){6}(A refused: ){694}No home page$/);
  });

  test('has its patterns compiled once for a language', () => {
    const of = { ...texts, sentences: { ...texts.sentences } };
    const before = translated(of, 'A refused: B');
    const compiled = jest.spyOn(globalThis, 'RegExp');
    expect([translated(of, 'A refused: B'), translated(of, 'Something else')]).toEqual([before, 'Something else']);
    expect(compiled).not.toHaveBeenCalled();
    compiled.mockRestore();
  });
});
