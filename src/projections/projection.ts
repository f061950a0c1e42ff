import { streamPrefix, type EventDefinitions, type EventOf } from '../events/defineStream.js';
import type { DomainEvent, JsonObject, Recorded } from '../events/envelope.js';

/** A read model as a pure fold of the log; `defineProjection` makes one. */
export interface Projection<Document extends JsonObject = JsonObject, Event extends DomainEvent = DomainEvent> {
  readonly name: string;
  readonly version: number;
  /**
   * The oldest version whose documents this one can read and go on writing: what is other there is
   * only in indexes, which say so by `since`. Lists are answered from it until this one is built.
   * Default: none but this.
   */
  readonly readsFrom?: number;
  /** The event types that it handles. */
  readonly handles: readonly Event['type'][];
  readonly ignores: readonly string[];
  readonly documentId: (event: Recorded<Event>) => string;
  /**
   * The one stream that the document is folded from. It lets a validated read compare the document
   * with the head of its stream.
   */
  readonly stream: (documentId: string) => string;
  /**
   * Returns the next document; `null` deletes it. An event that it does not handle changes nothing.
   */
  readonly evolve: (document: Document | null, event: Recorded<Event>) => Document | null;
  readonly indexes: readonly ReadModelIndex[];
  /** As `ReadModel.counted`. A version that is there already keeps what it was made with. */
  readonly counted?: readonly string[];
  /** As `ReadModel.isAppendOnly`: `evolve` makes each document of one event, and `null` of none. */
  readonly isAppendOnly?: boolean;
}

/**
 * A read model for lists alone. Its documents may be folded from several streams, so that no
 * validated read can have them.
 */
export type ListProjection<Document extends JsonObject = JsonObject, Event extends DomainEvent = DomainEvent> = Omit<
  Projection<Document, Event>,
  'stream' | 'evolve'
> & {
  /** @param terms of the fields in `searched` */
  readonly evolve: (document: Document | null, event: Recorded<Event>, terms?: PersonalTerms) => Document | null;
  /**
   * The encrypted fields of events whose parts documents are found by. What they are found by comes
   * from the vault, so that `evolve` is given it.
   */
  readonly searched?: { readonly [Type in Event['type']]?: readonly string[] };
};

/**
 * By field of an event, what its text is found by: keyed hashes (`platform/personal.ts`). Of a
 * person who was erased there is nothing.
 */
export type PersonalTerms = Readonly<Record<string, readonly string[]>>;

export interface ReadModelIndex {
  /** A top-level field with a string, or with an array of strings, each of which can be found. */
  readonly field: string;
  /** Documents are sorted by its string, and not found by it. */
  readonly sorts?: true;
  /** The version since which documents have what stands there now. Default: every one that is read. */
  readonly since?: number;
}

/** A projection of any documents and events, for code that treats all projections alike. */
export type AnyProjection = Pick<
  Projection,
  'name' | 'version' | 'readsFrom' | 'ignores' | 'indexes' | 'counted' | 'isAppendOnly'
> & {
  /** Absent when documents are folded from several streams. */
  readonly stream?: Projection['stream'];
  readonly handles: readonly string[];
  readonly documentId: (event: never) => string;
  readonly evolve: (document: never, event: never, terms?: PersonalTerms) => JsonObject | null;
  readonly searched?: { readonly [Type in string]?: readonly string[] };
};

interface ProjectionDefinition<Document extends JsonObject, Definitions extends EventDefinitions, Ignored> {
  readonly name: string;
  /**
   * Raise it when the handlers or the indexes change: the runner then builds the new version beside
   * the live one.
   */
  readonly version: number;
  /** As in `Projection`. */
  readonly readsFrom?: number;
  /** Each document is a fold of one of these streams. */
  readonly stream: { readonly category: string; readonly events: Definitions };
  /**
   * One handler for each event type. It returns the next document, or `null` to delete it, and
   * never throws over a stored fact: the missing rule belongs in a decider.
   */
  readonly on: {
    readonly [Type in Exclude<keyof Definitions & string, Ignored>]: (
      document: Document | null,
      event: Recorded<Extract<EventOf<Definitions>, { readonly type: Type }>>,
    ) => Document | null;
  };
  /** The types of the stream that have no handler on purpose. */
  readonly ignores?: readonly Ignored[];
  /** Default: none. */
  readonly indexes?: readonly ReadModelIndex[];
  readonly counted?: readonly string[];
  /** Default: the name of the event's stream after the category. */
  readonly documentId?: (event: Recorded<EventOf<Definitions>>) => string;
  /** Default: the stream of the category whose name ends with the document's id. */
  readonly streamOf?: (documentId: string) => string;
}

/**
 * Defines a projection of the streams of one category. The compiler insists that each event type of
 * these streams has a handler or is ignored.
 */
export const defineProjection = <
  Document extends JsonObject,
  Definitions extends EventDefinitions,
  Ignored extends keyof Definitions & string = never,
>(
  definition: ProjectionDefinition<NoInfer<Document>, Definitions, Ignored>,
): Projection<Document, EventOf<Definitions>> => {
  const { name, version, readsFrom, stream, on, ignores = [], indexes = [], counted } = definition;
  const prefix = streamPrefix(stream);
  const handlers = new Map(Object.entries(on)) as ReadonlyMap<string, Projection<Document, EventOf<Definitions>>['evolve']>;
  return {
    name,
    version,
    ...(readsFrom !== undefined && { readsFrom }),
    handles: [...handlers.keys()] as EventOf<Definitions>['type'][],
    ignores,
    documentId: definition.documentId ?? ((event) => event.stream.slice(prefix.length)),
    stream: definition.streamOf ?? ((documentId) => prefix + documentId),
    evolve: (document, event) => {
      const handle = handlers.get(event.type);
      return handle === undefined ? document : handle(document, event);
    },
    indexes,
    ...(counted !== undefined && { counted }),
  };
};
