/** The page of all errors that the API answers with. */
import { table } from './markdown.mjs';

/**
 * @typedef {typeof import('../src/commands/refusal.js') & typeof import('../src/http/errors.js')
 *   & typeof import('../src/http/faults.js') & typeof import('../src/integrations/fault.js')} ErrorSources
 */

/** @typedef {import('../src/http/errors.js').ErrorAnswer} ErrorAnswer */

const part = { name: '<part>', problem: '<problem>' };
const violation = { field: '<field>', issue: '<issue>' };

/**
 * Arguments of the errors that are not made of texts alone: one list for each answer that they can
 * give.
 * @type {Readonly<Record<string, readonly (readonly unknown[])[]>>}
 */
const samples = {
  invalid: [
    ['path params', [violation]],
    ['headers', [violation]],
  ],
  notReady: [[[part]]],
};

/**
 * What is used of the OpenAPI document.
 * @typedef {object} ApiDocument
 * @property {Readonly<Record<string, Readonly<Record<string, Operation>>>>} paths
 */

/**
 * @typedef {object} Operation
 * @property {string} operationId
 * @property {Readonly<Record<string, readonly string[]>>} [x-error-codes]
 */

/** More operations than these are counted. */
const maxListed = 6;

/**
 * @param {ErrorSources} sources
 * @param {ApiDocument} document
 */
export const errorPage = (sources, document) => {
  const { refusals, httpErrors, refusalKinds, httpRefusalKinds, Refused, answerFor } = sources;
  const ofCommands = answersOf(refusals, (refusal) => answerFor(new Refused(refusal), ''));
  const ofHttp = answersOf(/** @type {Errors<Error>} */ (httpErrors), (error) => answerFor(error, ''));
  const missing = [...Object.keys(refusalKinds), ...Object.keys(httpRefusalKinds)].filter(
    (code) => ![...ofCommands, ...ofHttp].some((answer) => answer.code === code),
  );
  if (missing.length > 0)
    throw new Error(`nothing gives ${missing.join(', ')}: remove the codes, or add samples to scripts/errorDocs.mjs`);
  return [
    '# Errors',
    'Every error that the API answers with, `{error, code, details}`. This page is made from `src/` by `npm run docs`.',
    'Branch on the status, and on the code where needed: a code stays the same in every later version. Parts in angle brackets stand for what the request is about.',
    '## Refusals',
    'The request is understood, and what it asks for is refused.',
    errorTable(ofCommands, document),
    '## Requests',
    'The request itself is not as it should be, or cannot be taken now.',
    errorTable(ofHttp, document),
    '## Faults',
    'Something that the service needs is at fault, or the service is. Where `Retry-After` is given, a repetition makes sense after so many seconds.',
    errorTable(faultsOf(sources)),
  ].join('\n\n');
};

/**
 * @param {ErrorSources} sources
 * @returns {ErrorAnswer[]}
 */
const faultsOf = ({ faultAnswers, faultStatus, answerFor, ProviderFault, TemplateFault }) => {
  const late = new DOMException('late', 'TimeoutError');
  const ofProvider = { provider: '<provider>', message: '<reason>' };
  const own = [...faultAnswers.values()]
    .filter(({ code }) => code !== 'internal_error')
    .map(({ retryAfter, ...answer }) => ({
      ...answer,
      status: faultStatus[answer.code],
      details: null,
      headers: retryAfter === undefined ? {} : { 'retry-after': String(retryAfter) },
    }));
  return [
    ...own,
    answerFor(new ProviderFault({ ...ofProvider, transient: false }), '', 'admin'),
    answerFor(new ProviderFault({ ...ofProvider, transient: false }), ''),
    answerFor(new TemplateFault({ ...ofProvider, transient: false }), '', 'admin'),
    answerFor(new TemplateFault({ ...ofProvider, transient: false }), ''),
    answerFor(new ProviderFault({ ...ofProvider, transient: true }), ''),
    answerFor(new ProviderFault({ ...ofProvider, transient: true, cause: late }), ''),
    answerFor(new Error('unknown'), ''),
  ];
};

/**
 * What makes the errors, by name.
 * @template Made
 * @typedef {Readonly<Record<string, (...parts: never[]) => Made>>} Errors
 */

/**
 * @template Made
 * @param {Errors<Made>} errors
 * @param {(made: Made) => ErrorAnswer} toAnswer
 */
const answersOf = (errors, toAnswer) =>
  Object.entries(errors).flatMap(([name, make]) => {
    const answers = (samples[name] ?? [placeholdersOf(make)]).map((values) => toAnswer(make(.../** @type {never[]} */ (values))));
    if (answers.some(({ error }) => /undefined|\[object/.test(error)))
      throw new Error(`${name} is not made of texts alone: add samples of it to scripts/errorDocs.mjs`);
    return answers;
  });

/**
 * The parameters that have no default, by their names.
 * @param {(...parts: never[]) => unknown} make
 */
const placeholdersOf = (make) => {
  const [, names = ''] = /^\(([^)]*)\)\s*=>/.exec(String(make)) ?? [];
  return names
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '' && !name.includes('='))
    .map((name) => `<${name}>`);
};

/**
 * The operations that declare an error.
 * @param {ApiDocument} document
 * @param {ErrorAnswer} answer
 */
const operationsWith = ({ paths }, { code, status }) =>
  Object.values(paths)
    .flatMap((operations) => Object.values(operations))
    .filter((operation) => operation['x-error-codes']?.[String(status)]?.includes(code))
    .map(({ operationId }) => operationId);

/**
 * @param {readonly ErrorAnswer[]} answers
 * @param {ApiDocument} [document] - absent: any operation may give them
 */
const errorTable = (answers, document) => {
  const rows = answers.map((answer) => {
    const operations = document === undefined ? [] : operationsWith(document, answer);
    return [
      `\`${answer.code}\``,
      String(answer.status),
      answer.error.replaceAll(/<\w+>/g, (name) => `\`${name}\``),
      answer.headers['retry-after'] ?? '',
      operations.length > maxListed ? `${operations.length} operations` : operations.map((name) => `\`${name}\``).join(', '),
    ];
  });
  const head = ['Code', 'Status', 'Error', 'Retry-After', 'Given by'];
  // Columns that are empty throughout are left out.
  const used = head.map((_, column) => rows.some((cells) => cells[column] !== ''));
  const keep = (/** @type {readonly string[]} */ cells) => cells.filter((_, column) => used[column]);
  return table(keep(head), rows.map(keep));
};
