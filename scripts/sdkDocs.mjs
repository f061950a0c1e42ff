/** The pages of `sdk/docs`: one for each group of methods, and one that leads to them. */
import { table } from './markdown.mjs';
import { commonErrors, groupsOf, operationsOf, schemaOf, sdkMethods, nameOf, modelName } from './sdkModel.mjs';
import { errorWords, exampleOf, optionsType, resultType } from './sdkResources.mjs';

/**
 * @typedef {import('./sdkModel.mjs').Document} Document
 * @typedef {import('./sdkModel.mjs').Entry} Entry
 * @typedef {import('./sdkModel.mjs').Group} Group
 * @typedef {import('./sdkModel.mjs').Method} Method
 * @typedef {import('./sdkModel.mjs').Schema} Schema
 */

/**
 * Every page by its name.
 * @param {Document} document
 * @param {Readonly<Record<string, Entry>>} entries - of `methods.json`
 * @returns {Promise<Record<string, string>>}
 */
export const sdkPages = async (document, entries) => {
  const methods = sdkMethods(document, entries);
  const top = groupsOf(methods);
  const groups = flat(top);
  /** @type {[string, string][]} */
  const pages = await Promise.all(groups.map(async (group) => [pageOf(group), await groupPage(group, document)]));
  return { 'README.md': indexPage(groups, document), ...Object.fromEntries(pages) };
};

/** @param {Group} group @returns {Group[]} */
const flat = (group) => [...(group.methods.length > 0 ? [group] : []), ...group.groups.flatMap(flat)];

/** @param {Group} group */
const pageOf = ({ name }) => `${name || 'doorstep'}.md`;

/** @param {Group} group */
const titleOf = ({ name }) => (name === '' ? 'doorstep' : `doorstep.${name}`);

/** @param {readonly Group[]} groups @param {Document} document */
const indexPage = (groups, document) => {
  const { all, writes } = commonErrors(operationsOf(document));
  const rows = groups.flatMap((group) =>
    group.methods.map((method) => [
      `[\`${method.name}\`](${pageOf(group)}#${anchorOf(method)})`,
      method.operation.summary,
      `\`${method.http} ${method.path}\``,
    ]),
  );
  return [
    '# Methods',
    'Every method of the SDK. These pages are made from the OpenAPI document by `npm run docs`; the [README](../README.md) says how to begin.',
    'A method takes the parts of its path, then its body or its query, then options.',
    '## Options',
    table(['Option', 'Of', 'What it does'], options),
    '## Repeating',
    'The SDK repeats a call twice after network faults and answers with 408, 429 or 500 and more: after 0.5 s to 8 s with jitter, and no sooner than `Retry-After` says, up to 60 s. Each write carries an `Idempotency-Key` of its own, so that all its attempts have one effect.',
    'Reads are safe to repeat. Before you repeat a write by hand, look whether it took effect. Send about 10 requests a second for each token, in the long run.',
    '## Errors',
    'A call that fails throws a `DoorstepError` with `status`, `message`, `code`, `body`, `requestId` and `headers`. Branch on the status, and on the code where needed. The pages name the errors that are an operation’s own. Most operations can also answer with these:',
    listOf([...all].sort()),
    'And most writes with these:',
    listOf([...writes].filter((error) => !all.has(error)).sort()),
    '## All methods',
    table(['Method', 'What it does', 'Request'], rows),
  ].join('\n\n');
};

const options = [
  ['`signal`', 'all', 'An `AbortSignal`: stops the call, and the waiting between its attempts.'],
  ['`timeoutMs`', 'all', 'How long one attempt may take, its body included.'],
  ['`maxRetries`', 'all', 'How often a failed attempt is repeated. Default: 2.'],
  ['`headers`', 'all', 'More headers.'],
  ['`idempotencyKey`', 'writes', 'A key of your own: calls with the same one have one effect within 24 hours.'],
  ['`dryRun`', 'writes', '`true`: checks everything, writes nothing, gives `{ events }` that would have been written.'],
  ['`ifMatch`', 'writes that name it', 'The `ETag` of the state that the change is meant for. A stale one is refused with 400.'],
  ['`ifNoneMatch`', 'reads', 'An `ETag` read before: the result is `undefined` while it is the current one.'],
  ['`as`', 'reads, admins', 'The address of the person whose answer this shall be.'],
  ['`onProgress`', 'uploads', 'Is called with `{ sent, total }` in bytes.'],
];

/** @param {readonly string[]} errors */
const listOf = (errors) => errors.map((error) => `- ${error.replace(/ (.*)/, ' `$1`')}`).join('\n');

/** @param {Method} method */
const anchorOf = ({ name }) => lastPart(name).toLowerCase();

/** @param {string} name */
const lastPart = (name) => name.slice(name.lastIndexOf('.') + 1);

/** @param {Group} group @param {Document} document */
const groupPage = async (group, document) => {
  const sections = await Promise.all(group.methods.map((method) => methodSection(method, document)));
  const below = group.groups.map((inner) => `[\`${titleOf(inner)}\`](${pageOf(inner)})`);
  return [
    `# ${titleOf(group)}`,
    ...(group.name === '' || below.length === 0 ? [] : [`Also: ${below.join(', ')}.`]),
    ...sections,
    '[All methods](README.md)',
  ].join('\n\n');
};

/** @param {Method} method @param {Document} document */
const methodSection = async (method, document) => {
  const { name, http, path, operation, errors, kind } = method;
  const rows = parametersOf(method, document);
  const { summary, description } = operation;
  const hasIfMatch = operation.parameters.some(({ $ref }) => $ref?.endsWith('/IfMatch'));
  return [
    `## ${lastPart(name)}`,
    `\`\`\`ts\n${signatureOf(method)}\n\`\`\``,
    description.startsWith(summary) ? description : `${summary}. ${description}`,
    ...(rows.length > 0 ? [table(['Parameter', 'Type', 'Needed', 'What it is'], rows)] : []),
    ...(errors.length > 0 ? [errorWords(errors)] : []),
    `\`\`\`ts\n${await exampleOf(method)}\n\`\`\``,
    `\`${http} ${path}\`${http === 'GET' ? '' : `. Takes \`dryRun\`${hasIfMatch ? ' and `ifMatch`' : ''}.`}${kind === 'list' ? '. A list: `await` gives a page, `for await` gives all.' : ''}`,
  ].join('\n\n');
};

/** @param {Method} method */
const signatureOf = (method) => {
  const parts = [...method.path_, ...method.positional, method.body, method.query].filter((part) => part !== null);
  const format = method.kind === 'export' ? ["format: 'csv' | 'ndjson'"] : [];
  const taken = parts.map(({ name, type, isOptional }) => `${name}${isOptional ? '?' : ''}: ${type}`);
  return `${lastPart(method.name)}(${[...format, ...taken, `options?: ${optionsType(method)}`].join(', ')}): ${resultType(method)}`.replaceAll(
    'models.',
    '',
  );
};

/** @param {Method} method @param {Document} document @returns {string[][]} */
const parametersOf = (method, document) => {
  const { path_, positional, positionalIn, body, query, operation, kind } = method;
  const content = Object.values(operation.requestBody?.content ?? {})[0];
  const schema = schemaOf(content?.schema, document);
  const queries = operation.parameters.filter((parameter) => parameter.in === 'query');
  const row = (/** @type {string} */ name, /** @type {string} */ type, /** @type {boolean} */ isNeeded, words = '') => [
    `\`${name}\``,
    `\`${type}\``,
    isNeeded ? 'yes' : '',
    words.replaceAll('\n', ' '),
  ];
  const fieldType = (/** @type {string} */ name) =>
    typeWords((positionalIn === 'body' ? schema.properties?.[name] : queries.find((one) => one.name === name)?.schema) ?? {});
  return [
    ...(kind === 'export' ? [row('format', "'csv' | 'ndjson'", true, 'CSV (RFC 4180) or a JSON object on each line.')] : []),
    ...path_.map(({ name, description }) => row(name, 'string', true, description)),
    ...positional.map(({ name, description }) => row(name, fieldType(name), true, description)),
    ...(body
      ? Object.entries(schema.properties ?? {}).map(([name, field]) =>
          row(
            `body.${name}`,
            kind === 'upload' && name === 'file' ? 'FileInput' : typeWords(field),
            schema.required?.includes(name) ?? false,
            field.description ?? schemaOf(field, document).description,
          ),
        )
      : []),
    ...(query
      ? queries.map((parameter) =>
          row(`query.${parameter.name}`, typeWords(parameter.schema), parameter.required ?? false, parameter.description),
        )
      : []),
  ];
};

/** A schema as a type, in one line. @param {Schema} schema @returns {string} */
const typeWords = (schema) => {
  if (schema.$ref !== undefined) return modelName(nameOf(schema));
  if (schema.enum !== undefined)
    return schema.enum.map((value) => (typeof value === 'string' ? `'${value}'` : String(value))).join(' | ');
  if (schema.anyOf !== undefined) return schema.anyOf.map(typeWords).join(' | ');
  if (schema.type === 'array') return `${typeWords(schema.items ?? {})}[]`;
  if (schema.type === 'integer') return 'number';
  return schema.type ?? 'unknown';
};
