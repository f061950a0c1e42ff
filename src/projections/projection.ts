import type { DomainEvent, JsonObject, Recorded } from '../events/envelope.js';

/**
 * A read model as a pure fold of the log. It never throws over a stored fact: it copes, and the missing rule belongs in a decider.
 */
export interface Projection<Document extends JsonObject = JsonObject, Event extends DomainEvent = DomainEvent> {
  readonly name: string;
  /** Raised when `evolve` or the indexes change: the runner then builds the new version beside the live one. */
  readonly version: number;
  /** Every event type that it takes, each with an example in its test. */
  readonly handles: readonly Event['type'][];
  /** Types of the same streams that it leaves aside on purpose, so that a forgotten one is noticed. */
  readonly ignores: readonly string[];
  readonly documentId: (event: Recorded<Event>) => string;
  /** The one stream that the document is a fold of. Such a document can be read validated: compared with the stream's head. */
  readonly stream: (documentId: string) => string;
  /** Returns the next document; `null` deletes it. */
  readonly evolve: (document: Document | null, event: Recorded<Event>) => Document | null;
  readonly indexes: readonly ReadModelIndex[];
}

export interface ReadModelIndex {
  /** A top-level field that holds a string, or an array of strings, each of which is found. */
  readonly field: string;
}

/** Any projection, whatever its documents and events: what is done with all of them alike. */
export type AnyProjection = Pick<Projection, 'name' | 'version' | 'ignores' | 'stream' | 'indexes'> & {
  readonly handles: readonly string[];
  readonly documentId: (event: never) => string;
  readonly evolve: (document: never, event: never) => JsonObject | null;
};
