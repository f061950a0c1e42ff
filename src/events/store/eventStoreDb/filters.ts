import type { EventFilter } from '../eventStore.js';

/** The filter that the server applies. It may let through more events than match, never fewer. */
export interface ServerFilter {
  readonly on: 'stream' | 'type';
  /** Has the same meaning in .NET and in JavaScript. */
  readonly regex: string;
}

/**
 * The part of a filter that the server applies. The server filters by stream name or by type, not
 * by both. A prefix that is longer than its category, such as one website's, matches fewer events
 * than types do. It is a regular expression, because the server compares prefixes by the rules of
 * its locale.
 */
export const serverFilter = ({ streamPrefixes, types }: EventFilter = {}): ServerFilter => {
  const narrow = streamPrefixes?.every((prefix) => /-./u.test(prefix)) ?? false;
  if (types !== undefined && !narrow) return { on: 'type', regex: `^(?:${alternatives(types)})$` };
  if (streamPrefixes !== undefined) return { on: 'stream', regex: `^(?:${alternatives(streamPrefixes)})` };
  return { on: 'type', regex: '^[^$]' };
};

/** An empty list matches nothing: `$` before a letter matches nowhere. */
const alternatives = (texts: readonly string[]): string => (texts.length === 0 ? '$x' : texts.map(literal).join('|'));

const literal = (text: string): string => text.replaceAll(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`);
