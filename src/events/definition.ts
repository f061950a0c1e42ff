import type { Static, TSchema } from 'typebox';
import type { JsonObject } from './envelope.js';

/** One event type: the version and schema that it is written with today. Older versions are brought up to it by `upcasters`. */
export interface EventDefinition<Schema extends TSchema = TSchema> {
  readonly schemaVersion: number;
  readonly schema: Schema;
  /** `upcasters[n]` turns data of version n + 1 into version n + 2; there is one for every version before today's. */
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
