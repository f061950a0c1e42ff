import { describe, expect, test } from '@jest/globals';
import { catalogue } from '../../src/events/catalogue.js';
import { createCodec } from '../../src/events/codec.js';
import type { EventDefinitions } from '../../src/events/defineStream.js';
import type { DomainEvent, JsonObject, Recorded } from '../../src/events/envelope.js';
import type { Projection } from '../../src/projections/projection.js';
import { recorded } from './given.js';

/** An example: the document before and after an event. */
export interface ProjectionCase<Document extends JsonObject, Event extends DomainEvent> {
  /** What the example shows, where the type alone does not say it. */
  readonly shows?: string;
  /** The document before the event. Absent: none. */
  readonly given?: Document;
  /** The event's data; the event is recorded at `happened`. */
  readonly when: Event['data'];
  readonly then: Document | null;
}

export const happened = '2026-01-03T00:00:00.000Z';

const codec = createCodec(catalogue);

/**
 * Tests a projection by its examples, at least one for each event type that it handles, and by the
 * rules for every projection.
 * @param streams the event definitions of the streams that its documents are folded from
 * @param documentId of all examples
 */
export const describeProjection = <Document extends JsonObject, Event extends DomainEvent>(
  projection: Projection<Document, Event>,
  streams: readonly EventDefinitions[],
  examples: {
    readonly [Type in Event['type']]?: readonly ProjectionCase<Document, Extract<Event, { readonly type: Type }>>[];
  },
  documentId = 'w1-c1',
): void => {
  const { name, handles, ignores, indexes } = projection;
  const cases = (Object.keys(examples) as Event['type'][]).flatMap((type) =>
    (examples[type] ?? []).map(({ shows, given, when, then }: ProjectionCase<Document, Event>) => ({
      title: shows === undefined ? type : `${type}: ${shows}`,
      type,
      event: recorded({ type, data: when } as Event, { revision: 7, at: happened, stream: projection.stream(documentId) }),
      before: given ?? null,
      after: then,
    })),
  );

  /** Freezes document and event, so that a projection that mutates them fails. */
  const evolve = (document: Document | null, event: Recorded<Event>): Document | null =>
    projection.evolve(frozen(document), frozen(event));

  describe(`the ${name} projection`, () => {
    test.each(cases)('$title', ({ event, before, after }) => {
      expect(evolve(before, event)).toStrictEqual(after);
    });

    test.each(cases)('copes before there is a document: $title', ({ event }) => {
      expectStorable(evolve(null, event));
    });

    test('has an example for each type that it handles, and each example is a valid event', () => {
      expect([...new Set(cases.map(({ type }) => type))].sort()).toStrictEqual([...handles].sort());
      for (const { event } of cases) codec.encode(event, event.id, event.metadata);
    });

    test('handles or ignores each type of its streams', () => {
      expect([...handles, ...ignores].sort()).toStrictEqual(streams.flatMap((stream) => Object.keys(stream)).sort());
    });

    test('does not change a document over an event of an unknown type', () => {
      const unknown = recorded({ type: 'SomethingElseHappened', data: {} } as unknown as Event);
      for (const { after } of cases) expect(evolve(after, unknown)).toStrictEqual(after);
    });

    test('makes documents that can be stored and indexed', () => {
      for (const { event, after } of cases) {
        // The document that the stream's events are folded into, and no other.
        expect(projection.documentId(event)).toBe(documentId);
        expect(projection.stream(documentId)).toBe(event.stream);
        expectStorable(after);
        for (const { field } of indexes) expectIndexable(after?.[field]);
      }
    });
  });
};

/** Freezes a value and everything in it. */
const frozen = <Value>(value: Value): Value => {
  if (typeof value === 'object' && value !== null) {
    for (const part of Object.values(value)) frozen(part);
    Object.freeze(value);
  }
  return value;
};

/** Expects that JSON keeps the document as it is: no `undefined`, no date, no map. */
const expectStorable = (document: unknown): void => {
  expect(JSON.parse(JSON.stringify(document))).toStrictEqual(document);
};

const expectIndexable = (value: unknown): void => {
  const texts: unknown[] = value === undefined ? [] : Array.isArray(value) ? value : [value];
  expect(texts.map((text) => typeof text)).toEqual(texts.map(() => 'string'));
};
