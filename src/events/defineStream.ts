import type { Static, TSchema } from 'typebox';
import type { JsonObject } from './envelope.js';

/**
 * One event type: the version and schema that it is written with today. Older versions are brought
 * up to it by `upcasters`.
 */
export interface EventDefinition<Schema extends TSchema = TSchema> {
  readonly schemaVersion: number;
  readonly schema: Schema;
  /**
   * `upcasters[n]` turns data of version n + 1 into version n + 2; there is one for every version
   * before today's.
   */
  readonly upcasters: readonly Upcaster[];
}

export type Upcaster = (data: JsonObject) => JsonObject;

export type EventDefinitions = Readonly<Record<string, EventDefinition>>;

/** The union of the domain events that a set of definitions describes. */
export type EventOf<Definitions extends EventDefinitions> = {
  [Type in keyof Definitions & string]: { readonly type: Type; readonly data: Static<Definitions[Type]['schema']> };
}[keyof Definitions & string];

/** Defines an event type; its version follows from the number of upcasters. */
export const event = <Schema extends TSchema>(schema: Schema, upcasters: readonly Upcaster[] = []): EventDefinition<Schema> => ({
  schemaVersion: upcasters.length + 1,
  schema,
  upcasters,
});

/** How the streams of one category are named. */
export interface StreamNaming<Key = never> {
  readonly category: string;
  /**
   * The name of the stream that `key` leads to: a command, an event's data, or just the ids that
   * its name is made of.
   */
  readonly name: (key: Key) => string;
}

/**
 * All that is known of the streams of one category; the catalogue, the personal fields, filters and
 * docs/architecture.md derive from it.
 */
export interface StreamDefinition<
  Key = never,
  Definitions extends EventDefinitions = EventDefinitions,
> extends StreamNaming<Key> {
  /** The name with its variable part in angle brackets, for people. */
  readonly pattern: string;
  /** What its events record. */
  readonly holds: string;
  /** The rules that hold because its events have one order. */
  readonly guards: string;
  readonly events: Definitions;
  /**
   * The fields of its events that hold personal data, by event type: always encrypted
   * (`platform/personal.ts`).
   */
  readonly personal: { readonly [Type in keyof Definitions]?: readonly string[] };
  /** When `log:scavenge` may drop one of them. Absent: never. */
  readonly retention?: Retention;
}

/**
 * A stream may be dropped `days` after the event that ends it, unless another one followed. None of
 * its events is listed by the audit, and every fold of it has a `droppedState`.
 */
export interface Retention {
  readonly days: number;
  readonly isEnd: (last: { readonly type: string; readonly data: JsonObject }) => boolean;
}

/**
 * Defines the streams of one category. It is the one place that knows their names, their events and
 * the personal fields of these.
 * @param definition `key`: the part of the name after `<category>-`; `named`: how documentation
 *   writes that part
 */
export const defineStream = <Key, Definitions extends EventDefinitions>(
  definition: Omit<StreamDefinition<Key, Definitions>, 'name' | 'pattern'> & {
    readonly key: (key: Key) => string;
    readonly named: string;
  },
): StreamDefinition<Key, Definitions> => {
  const { key, named, ...known } = definition;
  const prefix = streamPrefix(definition);
  return { ...known, pattern: `${prefix}${named}`, name: (of) => `${prefix}${key(of)}` };
};

/** What the names of a category's streams begin with. */
export const streamPrefix = ({ category }: { readonly category: string }): string => `${category}-`;

/**
 * The name of the stream that `key` leads to, without its category: the id of the stream's document
 * in a read model.
 */
export const keyTextOf = <Key>(stream: StreamNaming<Key>, key: Key): string =>
  stream.name(key).slice(streamPrefix(stream).length);
