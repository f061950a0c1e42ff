/** The page of all events, and the table of all streams. */
import { table } from './markdown.mjs';

/** @typedef {import('../src/events/defineStream.js').StreamDefinition} Stream */
/** @typedef {import('./eventComments.mjs').EventComments} EventComments */

/**
 * What is used of a JSON schema.
 * @typedef {object} Schema
 * @property {string} [type]
 * @property {string} [format]
 * @property {unknown} [const]
 * @property {readonly unknown[]} [enum]
 * @property {readonly Schema[]} [anyOf]
 * @property {Schema} [items]
 * @property {Readonly<Record<string, Schema>>} [properties]
 * @property {readonly string[]} [required]
 * @property {number} [minimum]
 * @property {number} [maximum]
 * @property {number} [maxItems]
 */

/**
 * @typedef {object} Field
 * @property {string} path - as in `checkpoints[].id`
 * @property {string} type
 * @property {boolean} optional
 * @property {string} [when] - the variant of the event that alone has it
 */

/** @param {readonly Stream[]} streams */
export const streamTable = (streams) =>
  table(
    ['Stream', 'Holds', 'Guards'],
    streams.map(({ pattern, holds, guards }) => [`\`${pattern}\``, holds, guards]),
  );

/**
 * @param {readonly Stream[]} streams
 * @param {EventComments} comments
 */
export const eventPage = (streams, comments) =>
  [
    '# Events',
    'Every event that Doorstep stores, by stream. This page is made from `src/events/` by `npm run docs`.',
    'Beside its data, an event has an id, a type, the version of its schema and metadata: when it was decided, who caused it, and by which ' +
      'request ([envelope.ts](../src/events/envelope.ts)). Personal fields are encrypted with a key of the person ' +
      '([ADR 10](adr/0010-personal-data.md)).',
    ...streams.flatMap((stream) => streamSection(stream, comments)),
  ].join('\n\n');

/**
 * @param {Stream} stream
 * @param {EventComments} comments
 */
const streamSection = ({ pattern, holds, guards, events, personal, retention }, comments) => [
  `## \`${pattern}\``,
  `- Holds: ${holds}.\n- Guards: ${guards}.${retention === undefined ? '' : `\n- Once it has ended, \`npm run log:scavenge\` may drop it after ${retention.days} days.`}`,
  ...Object.entries(events).flatMap(([type, { schema, schemaVersion }]) => {
    const fields = fieldsOf(/** @type {Schema} */ (schema));
    return [
      `### ${type}`,
      [`Version ${schemaVersion}.`, comments.get(type) ?? ''].join(' ').trim(),
      fields.length === 0
        ? 'It has no fields.'
        : table(
            ['Field', 'Type', 'Notes'],
            fields.map(({ path, type: words, optional, when }) => [
              `\`${path}\``,
              [words, ...(optional ? ['optional'] : []), ...(personal[type]?.includes(path) === true ? ['personal'] : [])].join(
                ', ',
              ),
              [when === undefined ? '' : `With ${when}.`, comments.get(`${type}.${path}`) ?? ''].join(' ').trim(),
            ]),
          ),
    ];
  }),
];

/**
 * The fields of an event, those of objects in it after the object itself.
 * @param {Schema} schema
 * @returns {Field[]}
 */
const fieldsOf = (schema) => {
  const { anyOf: variants } = schema;
  if (variants === undefined) return fieldsBelow(schema, '');
  const [discriminator = ''] = Object.entries(variants[0]?.properties ?? {}).flatMap(([name, of]) =>
    'const' in of ? [name] : [],
  );
  /** @type {Map<string, { field: Field, of: Schema[] }>} */
  const known = new Map();
  for (const variant of variants) {
    for (const field of fieldsBelow(variant, '')) {
      const key = field.path === discriminator ? field.path : JSON.stringify(field);
      const { of } = known.get(key) ?? { of: [] };
      known.set(key, { field, of: [...of, variant] });
    }
  }
  const values = (/** @type {readonly Schema[]} */ of) => oneOf(of.map(({ properties }) => properties?.[discriminator]?.const));
  return [...known.values()].map(({ field, of }) => {
    if (field.path === discriminator) return { ...field, type: values(of) };
    return of.length === variants.length ? field : { ...field, when: `\`${discriminator}\` ${values(of)}` };
  });
};

/**
 * @param {Schema} schema
 * @param {string} prefix
 * @returns {Field[]}
 */
const fieldsBelow = ({ properties = {}, required = [], items }, prefix) =>
  items === undefined
    ? Object.entries(properties).flatMap(([name, schema]) => {
        const path = prefix === '' ? name : `${prefix}.${name}`;
        return [{ path, type: inWords(schema), optional: !required.includes(name) }, ...fieldsBelow(schema, path)];
      })
    : fieldsBelow(items, `${prefix}[]`);

/**
 * @param {Schema} schema
 * @returns {string}
 */
const inWords = (schema) => {
  if ('const' in schema) return oneOf([schema.const]);
  if (schema.enum !== undefined) return oneOf(schema.enum);
  if (schema.anyOf !== undefined) return schema.anyOf.map(inWords).join(' or ');
  switch (schema.type) {
    case 'string':
      return schema.format === 'date-time' ? 'time' : 'text';
    case 'integer':
      return `whole number${range(schema)}`;
    case 'number':
      return `number${range(schema)}`;
    case 'boolean':
      return 'true or false';
    case 'array':
      return `list of ${inWords(schema.items ?? {})}${schema.maxItems === undefined ? '' : `, at most ${schema.maxItems}`}`;
    case 'object':
      return 'object';
    case 'null':
      return '`null`';
    case undefined:
      return 'any JSON value';
    default:
      throw new Error(`no words for the schema ${JSON.stringify(schema)}: add them to scripts/eventDocs.mjs`);
  }
};

/** @param {Schema} schema */
const range = ({ minimum, maximum }) => {
  if (minimum !== undefined && maximum !== undefined) return `, ${minimum} to ${maximum}`;
  if (minimum !== undefined) return `, ${minimum} or more`;
  return maximum === undefined ? '' : `, at most ${maximum}`;
};

/** @param {readonly unknown[]} values */
const oneOf = (values) => {
  const words = values.map((value) => `\`${String(value)}\``);
  return [...(words.length > 1 ? [words.slice(0, -1).join(', ')] : []), words.at(-1)].join(' or ');
};
