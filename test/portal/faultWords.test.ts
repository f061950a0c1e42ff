import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from '@jest/globals';
import ts from 'typescript';
import { translated, type ServiceWords } from '../../portal/src/i18n/serviceWords.js';

/**
 * The words of a fault are recorded as the reason of a failed step, scan or publication, and the portal shows them.
 * This finds them in the source, because most faults need a broken provider.
 */
const root = fileURLToPath(new URL('../..', import.meta.url));
const rooms = ['src/integrations', 'src/workers', 'src/http/routes'];

/** Of what class or function the arguments are such words. */
const saying = [
  ...['ProviderFault', 'TemplateFault', 'BuildFailure', 'UnreadableRepository', 'UnreadableMedia', 'ForbiddenAddress'],
  ...['permanentFault', 'permanent', 'transient', 'fault', 'failed'],
];
/** In what property or variable such words stand, or what function returns them. */
const holding = ['message', 'error', 'failure', 'reason', 'limits', 'lost', 'refusalOf'];

/** What no reader of the portal meets. */
const neverShown: Readonly<Record<string, readonly string[]>> = {
  'only the log says it of a task': [
    'a compensation failed',
    'a notice could not be mailed',
    'a site could not be brought up to date',
    'a step of provisioning failed',
    'a transfer could not be carried out, or a subscription not be ended',
    'a website could not be scanned',
    'an invitation mail could not be sent',
    'content could not be published',
    'what a deleted website has left could not be removed',
  ],
  'no page shows why a mail was not sent': ['It was no longer so', 'The invitation was no longer pending'],
  'a mistake of our own code': [
    'A mail must have exactly one recipient address',
    'The id of a mail must begin with its time and be usable as a file name',
  ],
  'only Git is answered so': [
    'The caller has gone',
    'There is no repository "…"',
    'git could not be started',
    'git gave no answer',
  ],
  'the message of a commit': ['Start … from the … template'],
};

const returnedBy = (node: ts.Node): readonly string[] =>
  ts.isReturnStatement(node) && node.expression !== undefined ? textsOf(node.expression) : node.getChildren().flatMap(returnedBy);

/** The texts that an expression may come to, with `…` for each part that is filled in. */
const textsOf = (node: ts.Node): readonly string[] => {
  if (ts.isStringLiteralLike(node)) return [node.text];
  if (ts.isTemplateExpression(node)) {
    return [node.head.text + node.templateSpans.map(({ literal }) => `…${literal.text}`).join('')];
  }
  if (ts.isConditionalExpression(node)) return [node.whenTrue, node.whenFalse].flatMap(textsOf);
  if (ts.isBinaryExpression(node)) return [node.left, node.right].flatMap(textsOf);
  if (ts.isArrowFunction(node)) return ts.isBlock(node.body) ? returnedBy(node.body) : textsOf(node.body);
  return [];
};

const wordsIn = (node: ts.Node): readonly string[] => {
  const own =
    (ts.isCallExpression(node) || ts.isNewExpression(node)) && saying.includes(node.expression.getText())
      ? (node.arguments ?? []).flatMap(textsOf)
      : (ts.isPropertyAssignment(node) || ts.isVariableDeclaration(node)) &&
          holding.includes(node.name.getText()) &&
          node.initializer !== undefined
        ? textsOf(node.initializer)
        : [];
  return [...own, ...node.getChildren().flatMap(wordsIn)];
};

const found = rooms
  .flatMap((room) =>
    readdirSync(join(root, room), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts'))
      .map((name) => ts.createSourceFile(name, readFileSync(join(root, room, name), 'utf8'), ts.ScriptTarget.Latest, true))
      .flatMap(wordsIn),
  )
  .map((words) => words.trim())
  // Others are codes, or are put together of parts that are said by themselves.
  .filter((words) => words.includes(' ') && /[a-z]{2}/.test(words));

/** What is put together where it is answered or thrown. */
const composed = [
  ...['A template cannot be used: …', 'A template cannot be used. Ask the agency to look into it.'],
  ...['… refused: …', '… cannot be asked right now', '… did not answer in time'],
  ...['An object is damaged', 'A difference is damaged', 'Object … is damaged', 'The reference … is damaged', '… is damaged'],
  ...['Website … is archived', 'Website … has not been provisioned yet', 'Client … does not exist', 'Pending transfer not found'],
  ...['The build failed: no reason given', 'The provider did not answer in time', 'The mail server refused: …'],
];

const folder = join(root, 'portal/src/i18n/service');

describe.each(readdirSync(folder))('the words of faults, in %s', (file) => {
  const texts = JSON.parse(readFileSync(join(folder, file), 'utf8')) as ServiceWords;

  /** Whether a part of two words or more is still there: a sentence for other words may have fitted. */
  const isLeft = (words: string): boolean => {
    const ours = translated(texts, words.replaceAll('…', 'X'));
    return words.split('…').some((part) => part.trim().includes(' ') && ours.includes(part.trim())) || ours === words;
  };

  test('are all translated, or named as what nobody meets', () => {
    const exceptions = Object.values(neverShown).flat();
    const meant = new Set([...found, ...composed].filter((words) => !exceptions.includes(words)));
    expect([...meant].filter(isLeft)).toEqual([]);
  });
});

test('what is named as never shown is still said', () => {
  expect(
    Object.values(neverShown)
      .flat()
      .filter((words) => !found.includes(words)),
  ).toEqual([]);
});

test('the words of faults are found, those that a function returns too', () => {
  expect(found).toEqual(
    expect.arrayContaining(['An unexpected error occurred', 'the shop is frozen', '… did not answer within … s']),
  );
});
