import type { EventFilter } from '../eventStore.js';
import { isSystem, type WireRecord } from './records.js';

/** What the server is asked to look for. It may let more through than `matches` does, and never less. */
export interface ServerFilter {
  readonly on: 'stream' | 'type';
  /** Understood by .NET and by JavaScript alike. */
  readonly regex: string;
}

/**
 * The part of a filter that the server applies: it takes names of streams or types, not both. A prefix that goes beyond its category,
 * such as one website's, lets less through than types do. Regular expressions, since prefixes are compared by the rules of a language.
 */
export const serverFilter = ({ streamPrefixes, types }: EventFilter = {}): ServerFilter => {
  const narrow = streamPrefixes?.every((prefix) => /-./u.test(prefix)) ?? false;
  if (types !== undefined && !narrow) return { on: 'type', regex: `^(?:${alternatives(types)})$` };
  if (streamPrefixes !== undefined) return { on: 'stream', regex: `^(?:${alternatives(streamPrefixes)})` };
  return { on: 'type', regex: '^[^$]' };
};

/** The whole filter; the server's own events never match. */
export const matches = (record: Pick<WireRecord, 'stream' | 'type'>, { streamPrefixes, types }: EventFilter = {}): boolean =>
  !isSystem(record) &&
  (types?.includes(record.type) ?? true) &&
  (streamPrefixes?.some((prefix) => record.stream.startsWith(prefix)) ?? true);

/** An empty list lets nothing through: `$` in front of a letter matches nowhere. */
const alternatives = (texts: readonly string[]): string => (texts.length === 0 ? '$x' : texts.map(literal).join('|'));

const literal = (text: string): string => text.replaceAll(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`);
