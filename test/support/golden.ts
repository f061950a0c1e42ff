import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { JsonObject } from '../../src/events/envelope.js';

/**
 * What `test/events/catalogue.golden.json` holds of one version of an event type. It may only grow.
 */
export interface GoldenVersion {
  /** Of the schema, from when the version was today's. */
  readonly schema?: string;
  readonly examples: readonly {
    /** Data as it stands in the log. */
    readonly stored: JsonObject;
    /** What it is read as today; absent when that is the same. */
    readonly today?: JsonObject;
  }[];
}

/** By event type and version. */
export type Golden = Readonly<Record<string, Readonly<Record<string, GoldenVersion>>>>;

export const readGolden = (): Golden =>
  JSON.parse(readFileSync(new URL('../events/catalogue.golden.json', import.meta.url), 'utf8')) as Golden;

/**
 * The same for schemas that allow the same, whatever order they are written in and whatever they
 * say to people.
 */
export const fingerprint = (schema: unknown): string =>
  createHash('sha256')
    .update(JSON.stringify(canonical(schema)))
    .digest('hex')
    .slice(0, 16);

const forPeople = new Set(['title', 'description', 'examples', '$comment']);

const canonical = (value: unknown): unknown => {
  if (Array.isArray(value))
    return value.map(canonical).sort((one, other) => (JSON.stringify(one) < JSON.stringify(other) ? -1 : 1));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key, part]) => !(forPeople.has(key) && typeof part !== 'object'))
      .sort(([one], [other]) => (one < other ? -1 : 1))
      .map(([key, part]) => [key, canonical(part)]),
  );
};
