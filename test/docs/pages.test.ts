import { describe, expect, test } from '@jest/globals';
import { Type } from 'typebox';
import { errorPage } from '../../scripts/errorDocs.mjs';
import { eventPage, streamTable } from '../../scripts/eventDocs.mjs';
import * as refusal from '../../src/commands/refusal.js';
import { defineStream, event } from '../../src/events/defineStream.js';
import * as errors from '../../src/http/errors.js';
import * as faults from '../../src/http/faults.js';
import * as fault from '../../src/integrations/fault.js';

const gate = defineStream({
  category: 'gate',
  key: ({ gateId }: { readonly gateId: string }) => gateId,
  named: '<gateId>',
  holds: 'one gate',
  guards: 'opened once',
  events: {
    GateOpened: event(
      Type.Object({
        by: Type.String(),
        at: Type.Optional(Type.String({ format: 'date-time' })),
        doors: Type.Array(Type.Object({ side: Type.Enum(['left', 'right']) }), { maxItems: 2 }),
      }),
      [(data) => data],
    ),
    GateMoved: event(
      Type.Union([
        Type.Object({ how: Type.Literal('slide'), width: Type.Integer({ minimum: 0 }) }),
        Type.Object({ how: Type.Literal('swing'), angle: Type.Integer({ minimum: 0, maximum: 90 }) }),
      ]),
    ),
    GateClosed: event(Type.Object({})),
  },
  personal: { GateOpened: ['by'] },
});

const sources = { ...refusal, ...errors, ...faults, ...fault };

describe('the page of events', () => {
  const page = eventPage([gate], new Map([['GateOpened.doors[].side', 'As seen from the street.']]));

  test('lists type, optional and personal fields, and fields within fields', () => {
    expect(page).toContain(`### GateOpened

Version 2.

| Field | Type | Notes |
| --- | --- | --- |
| \`by\` | text, personal |  |
| \`at\` | time, optional |  |
| \`doors\` | list of object, at most 2 |  |
| \`doors[].side\` | \`left\` or \`right\` | As seen from the street. |`);
  });

  test('marks the fields that only a variant of the event has', () => {
    expect(page).toContain(`| \`how\` | \`slide\` or \`swing\` |  |
| \`width\` | whole number, 0 or more | With \`how\` \`slide\`. |
| \`angle\` | whole number, 0 to 90 | With \`how\` \`swing\`. |`);
  });

  test('says that an event has no fields', () => {
    expect(page).toContain('### GateClosed\n\nVersion 1.\n\nIt has no fields.');
  });

  test('has a table of streams', () => {
    expect(streamTable([gate])).toContain('| `gate-<gateId>` | one gate | opened once |');
  });
});

describe('the page of errors', () => {
  const codes = { 'x-error-codes': { '404': ['website_not_found'] } };
  const document = { paths: { '/websites/{id}': { get: { operationId: 'getWebsite', ...codes } } } };

  test('tells code, status, text with placeholders, and who gives it', () => {
    const page = errorPage(sources, document);
    expect(page).toContain('| `website_not_found` | 404 | Website `<id>` not found | `getWebsite` |');
    expect(page).toContain('| `provider_unavailable` | 503 | `<provider>` cannot be asked right now | 1 |');
  });

  test('counts operations where there are many', () => {
    const many = Object.fromEntries(
      ['a', 'b', 'c', 'd', 'e', 'f', 'g'].map((operationId) => [operationId, { operationId, ...codes }]),
    );
    expect(errorPage(sources, { paths: { '/': many } })).toContain(
      '| `website_not_found` | 404 | Website `<id>` not found | 7 operations |',
    );
  });

  test('is refused when a code has no text', () => {
    const refusalKinds = { ...refusal.refusalKinds, roof_on_fire: 'conflict' as const };
    expect(() => errorPage({ ...sources, refusalKinds }, document)).toThrow('nothing gives roof_on_fire');
  });

  test('is refused when an error needs more than texts', () => {
    const odd = { ...refusal.refusals, odd: ({ name }: { name: string }) => refusal.refusals.fieldRequired(name) };
    expect(() => errorPage({ ...sources, refusals: odd }, document)).toThrow('odd is not made of texts alone');
  });
});
