import { expect, test } from '@jest/globals';
import { viewingDecider } from '../../src/commands/viewing/viewing.decider.js';
import type { ViewingEvent } from '../../src/events/viewing/viewing.events.js';
import { viewingStream } from '../../src/events/viewing/viewing.stream.js';
import { expectRepeatable, given as givenEvents } from '../support/given.js';

const record = { type: 'RecordViewing', viewingId: 'v1', email: 'encrypted:k:x', path: '/websites/w1', websiteId: 'w1' } as const;
const { type: _, ...viewed } = record;
const recorded: ViewingEvent = { type: 'PersonViewed', data: viewed };

const given = (events: readonly ViewingEvent[] = []) => givenEvents(viewingDecider, events);

test('a look as somebody else is recorded', () => {
  given().when(record).then([recorded]);
  given()
    .when({ ...record, path: '/me', websiteId: undefined })
    .then([{ type: 'PersonViewed', data: { viewingId: 'v1', email: 'encrypted:k:x', path: '/me' } }]);
});

test('once', () => {
  given([recorded]).when(record).then([]);
  expectRepeatable(viewingDecider, [], record);
});

test('each in a stream of its own', () => {
  expect(viewingStream.name(record)).toBe('viewing-v1');
});
