/** Writes the sources of the SDK that are made from the OpenAPI document: its types by name, and its methods. */
import { format } from 'prettier';
import { capital, groupsOf, modelName, nameOf } from './sdkModel.mjs';

/**
 * @typedef {import('./sdkModel.mjs').Document} Document
 * @typedef {import('./sdkModel.mjs').Method} Method
 * @typedef {import('./sdkModel.mjs').Group} Group
 * @typedef {import('./sdkModel.mjs').Argument} Argument
 * @typedef {import('./sdkModel.mjs').Schema} Schema
 */

/** @param {string} text @param {string} indent */
const comment = (text, indent) =>
  [
    `${indent}/**`,
    ...text
      .replaceAll('*/', '*\\/')
      .split('\n')
      .map((line) => `${indent} * ${line}`.trimEnd()),
    `${indent} */`,
  ].join('\n');

/**
 * `models.ts`: a type for each component, for each query, and for the answers that have no component.
 * @param {Document} document
 * @param {readonly Method[]} methods
 */
export const modelsSource = (document, methods) => {
  const components = Object.entries(document.components.schemas).map(([name, schema]) => {
    const type = `components['schemas']['${name}']`;
    return `${comment(schema.description ?? name, '')}\nexport type ${modelName(name)} = ${eventType(type, schema) ?? type};`;
  });
  const queries = methods
    .filter(({ kind, operation }) => kind !== 'export' && operation.parameters.some((parameter) => parameter.in === 'query'))
    .map(
      ({ name, operationId }) =>
        `/** What \`${name}\` may be asked. */\nexport type ${capital(operationId)}Query = Omit<NonNullable<operations['${operationId}']['parameters']['query']>, 'as' | 'dryRun'>;`,
    );
  const answers = methods
    .filter(({ operationId, result }) => {
      const own = `${capital(operationId)}Response`;
      return result === `models.${own}` && document.components.schemas[own] === undefined;
    })
    .map(
      ({ name, operationId }) =>
        `/** What \`${name}\` gives. */\nexport type ${capital(operationId)}Response = operations['${operationId}']['responses'][200]['content']['application/json'];`,
    );
  return [header, "import type { components, operations } from './schema.js';", ...components, ...queries, ...answers, ''].join(
    '\n\n',
  );
};

const header = '/* Made from the OpenAPI document. */';

/** The SDK parses the data of events, which the document describes as text. @param {string} type @param {Schema} schema */
const eventType = (type, schema) => {
  const content = schema.properties?.data?.contentSchema;
  if (content === undefined) return undefined;
  const names = (content.anyOf ?? [content]).filter(({ $ref }) => $ref !== undefined).map(nameOf);
  const isEmptyToo = names.length < (content.anyOf ?? [content]).length;
  const data = [...names, ...(isEmptyToo ? names.map((name) => `{ [Field in keyof ${name}]?: never }`) : [])].join(' | ');
  return `Omit<${type}, 'data'> & { data: ${data} }`;
};

/** `resources.ts`: a class for each group of methods. @param {readonly Method[]} methods */
export const resourcesSource = async (methods) => {
  const classes = [];
  for (const group of inDepth(groupsOf(methods))) {
    const fields = group.groups.map(({ name, className }) => {
      const field = name.split('.').at(-1);
      return `  readonly ${field} = new ${className}(this._client);`;
    });
    const members = await Promise.all(group.methods.map(methodSource));
    const words = group.name === '' ? 'Every resource, by its name.' : `\`doorstep.${group.name}\``;
    classes.push(
      `/** ${words} */\nexport class ${group.className} extends Resource {\n${[...fields, ...members].join('\n\n')}\n}`,
    );
  }
  const runtime =
    "import { Resource, type Call, type List, type Paged, type RequestOptions, type UploadBody, type UploadOptions, type WatchOptions } from '../resource.js';";
  return [header, runtime, "import type * as models from './models.js';", ...classes, ''].join('\n\n');
};

/** What a class refers to stands before it. @param {Group} group @returns {Group[]} */
const inDepth = (group) => [...group.groups.flatMap(inDepth), group];

/** @param {Method} method */
const methodSource = async (method) => {
  const own = method.name.split('.').at(-1) ?? '';
  const isDry = method.http !== 'GET';
  const parts = [...method.path_, ...method.positional, method.body, method.query].filter((part) => part !== null);
  const taken = parts.map(({ name, type, isOptional }) => `${name}${isOptional ? '?' : ''}: ${type}`);
  const dryTaken = parts.map(({ name, type, isOptional }) => `${name}: ${type}${isOptional ? ' | undefined' : ''}`);
  const options = optionsType(method);
  const result = resultType(method);
  const words = comment(await docstring(method), '  ');
  const first = method.kind === 'export' ? ["format: 'csv' | 'ndjson'"] : [];
  /** @param {string} type @param {string} answer */
  const signature = (type, answer) => `  ${own}(${[...first, ...taken, `options?: ${type}`].join(', ')}): ${answer}`;
  const made = ` {\n    return ${requestSource(method)};\n  }`;
  if (!isDry) return `${words}\n${signature(options, result)}${made}`;
  const dry = `(${[...dryTaken, `options: ${options} & { dryRun: true }`].join(', ')}): Call<models.DryRun>`;
  // Where it is known only as the program runs whether it is tried, either may come.
  const either = signature(options, `Call<${method.result} | models.DryRun>`);
  return [
    words,
    `  ${own}${dry};`,
    `${signature(`${options} & { dryRun?: false | undefined }`, result)};`,
    `${either};`,
    `${either}${made}`,
  ].join('\n');
};

/** The type of its options. @param {Method} method */
export const optionsType = ({ kind }) =>
  kind === 'upload' ? 'UploadOptions' : kind === 'stream' ? 'WatchOptions' : 'RequestOptions';

/** What the method returns. @param {Method} method */
export const resultType = ({ kind, result }) => {
  if (kind === 'list') return `List<${result}>`;
  if (kind === 'paged') return `Paged<${result}>`;
  if (kind === 'stream') return `AsyncGenerator<${result}, void, undefined>`;
  return `Call<${result}>`;
};

/** @param {Method} method */
const requestSource = ({ kind, http, path, path_, positional, positionalIn, body, query, parse, isWhole, result }) => {
  const params = `{ ${path_.map(({ name }) => name).join(', ')} }`;
  const own = `{ ${positional.map(({ name }) => name).join(', ')} }`;
  const bodySource = positionalIn === 'body' ? own : body && 'body';
  const querySource = positionalIn === 'query' ? (query ? `{ ...query, ...${own} }` : own) : query && 'query';
  const start = `'${path}', ${params}`;
  if (kind === 'list' || kind === 'paged') return `this._client.${kind}(${start}, ${querySource ?? 'undefined'}, options)`;
  if (kind === 'stream')
    return `this._client.stream(${start}, ${querySource ?? 'undefined'}, options, '${isWhole ? 'event' : 'data'}')`;
  if (kind === 'upload') return `this._client.upload(${start}, body, options)`;
  if (kind === 'export') {
    const types = "format === 'csv' ? 'text/csv' : 'application/x-ndjson'";
    return `this._client.export(${start}, ${querySource ?? 'undefined'}, ${types}, options)`;
  }
  const input = [
    bodySource && (bodySource === 'body' ? 'body' : `body: ${bodySource}`),
    querySource && (querySource === 'query' ? 'query' : `query: ${querySource}`),
  ];
  const inputSource = input.some(Boolean) ? `{ ${input.filter(Boolean).join(', ')} }` : '{}';
  return `this._client.call<${result}>('${http}', ${start}, ${inputSource}, options${parse === 'json' ? '' : `, '${parse}'`})`;
};

/** @param {Method} method */
const docstring = async (method) => {
  const { operation, path_, positional, errors } = method;
  const params = [...path_, ...positional].filter(({ description }) => description !== '');
  const { summary, description } = operation;
  return [
    ...(description.startsWith(summary) ? [] : [`${summary}.`]),
    description,
    ...(errors.length > 0 ? [errorWords(errors)] : []),
    [
      ...params.map((param) => `@param ${param.name} - ${param.description.replaceAll('\n', ' ')}`),
      '@example',
      '```ts',
      await exampleOf(method),
      '```',
    ].join('\n'),
  ].join('\n\n');
};

/** @param {readonly string[]} errors */
export const errorWords = (errors) =>
  `**Errors of its own:** ${errors.map((error) => error.replace(/ (.*)/, ' `$1`')).join(', ')}.`;

/** A call with the values that the document has as examples. @param {Method} method */
export const exampleOf = async (method) => {
  const { name, kind, path_, positional, body, query, result } = method;
  const isList = kind === 'list' || kind === 'stream';
  const args = [
    ...(kind === 'export' ? ['csv'] : []),
    ...[...path_, ...positional].map(({ example }) => example),
    ...(body ? [body.example] : []),
  ];
  const asked = /** @type {Record<string, unknown>} */ (query?.example ?? {});
  if (query && Object.keys(asked).length > 0 && kind !== 'list' && kind !== 'paged') args.push(asked);
  const call = `doorstep.${name}(${args.map((value) => JSON.stringify(value)).join(', ')})`;
  const shown = variableOf(result);
  const source = isList
    ? `for await (const ${shown} of ${call}) console.log(${shown});`
    : result === 'void'
      ? `await ${call};`
      : `const ${shown} = await ${call};`;
  return (await format(source, { parser: 'typescript', singleQuote: true, printWidth: 100 })).trimEnd();
};

/** @param {string} type */
const variableOf = (type) => {
  const name = /^models\.(\w+)$/.exec(type)?.[1];
  if (name === undefined || name.endsWith('Response'))
    return type === 'string' ? 'text' : type.startsWith('ReadableStream') ? 'stream' : type === 'Blob' ? 'blob' : 'result';
  const acronym = /^[A-Z]+(?=[A-Z][a-z]|$)/.exec(name)?.[0];
  return acronym === undefined
    ? name.charAt(0).toLowerCase() + name.slice(1)
    : acronym.toLowerCase() + name.slice(acronym.length);
};
