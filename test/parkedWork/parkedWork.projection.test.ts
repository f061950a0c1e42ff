import { expect, test } from '@jest/globals';
import { catalogue } from '../../src/events/catalogue.js';
import { createCodec } from '../../src/events/codec.js';
import { parkedWorkProjection, type ParkedWork } from '../../src/projections/parkedWork/parkedWork.projection.js';
import { recorded } from '../support/given.js';

type ParkingEvent = Parameters<typeof parkedWorkProjection.evolve>[1];

const at = '2026-01-03T00:00:00.000Z';
const codec = createCodec(catalogue);

const mail = { websiteId: 'w1', invitationId: 'i1', eventId: 'm1' };
const webhook = { websiteId: 'w1', webhookId: 'h1', topic: 'orders/create' };
const reaction = {
  ...{ worker: 'site', eventId: 'e1', eventType: 'WebsiteRenamed', stream: 'website-w1', revision: '4', position: '9' },
};
const streams = { mail: 'invitation-mail-i1', webhook: 'webhook-w1-x', reaction: 'reaction-site-e1' };

const parkedMail = { kind: 'mail', worker: 'invitationMail', state: 'parked', id: 'm1', of: mail, reason: 'No', at };
const parkedWebhook = { kind: 'webhook', worker: 'commerceWebhooks', state: 'parked', id: 'h1', of: webhook, reason: 'No', at };
const failing = { kind: 'reaction', worker: 'site', state: 'failing', id: 'e1', of: reaction, reason: 'No', at };

const cases: readonly (readonly [type: ParkingEvent['type'], stream: string, id: string, data: object, then: object | null])[] = [
  ['InvitationMailParked', streams.mail, 'mail m1', { ...mail, reason: 'No' }, parkedMail],
  ['InvitationMailReopened', streams.mail, 'mail m1', mail, null],
  ['WebhookParked', streams.webhook, streams.webhook, { ...webhook, reason: 'No' }, parkedWebhook],
  ['WebhookReopened', streams.webhook, streams.webhook, webhook, null],
  ['ReactionFailed', streams.reaction, streams.reaction, { ...reaction, reason: 'No' }, failing],
  ['ReactionParked', streams.reaction, streams.reaction, { ...reaction, reason: 'No' }, { ...failing, state: 'parked' }],
  ['ReactionReopened', streams.reaction, streams.reaction, reaction, null],
  ['ReactionRecovered', streams.reaction, streams.reaction, reaction, null],
];

const eventOf = (type: string, data: object, stream: string): ParkingEvent =>
  recorded({ type, data }, { revision: 3, at, stream }) as ParkingEvent;

test.each(cases)('%s', (type, stream, id, data, then) => {
  const event = eventOf(type, data, stream);
  codec.encode(event, event.id, event.metadata);
  expect(parkedWorkProjection.documentId(event)).toBe(id);
  for (const before of [null, failing as ParkedWork]) expect(parkedWorkProjection.evolve(before, event)).toStrictEqual(then);
});

test('has an example for each type that it handles', () => {
  expect(cases.map(([type]) => type)).toStrictEqual(parkedWorkProjection.handles);
});
