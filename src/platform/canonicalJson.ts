import { createHash } from 'node:crypto';

/**
 * The one text of a JSON value (RFC 8785): the names of an object sorted by their UTF-16 units, no
 * space, numbers and texts as ECMAScript writes them. Equal values have equal texts. A lone
 * surrogate, which RFC 8785 refuses, stays escaped.
 */
export const canonicalJson = (value: unknown): string => {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  // By hand: `JSON.stringify` writes names that look like integers first.
  const pairs = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1));
  return `{${pairs.map(([name, part]) => `${JSON.stringify(name)}:${canonicalJson(part)}`).join(',')}}`;
};

/** The SHA-256 of a value's canonical text, in hexadecimal digits. */
export const hashOfJson = (value: unknown): string => createHash('sha256').update(canonicalJson(value)).digest('hex');
