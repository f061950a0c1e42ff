import type { CommandContext } from '../commands/handleCommand.js';
import type { Engine } from '../engine.js';
import type { Codec } from '../events/codec.js';
import type { Recorded } from '../events/envelope.js';
import type { InvitationMailEvent } from '../events/invitationMail/invitationMail.events.js';
import type { ReactionEvent } from '../events/reaction/reaction.events.js';
import { START, type EventStore } from '../events/store/eventStore.js';
import type { WebhookEvent } from '../events/webhook/webhook.events.js';
import { createKeyedMutex } from '../platform/keyedMutex.js';
import { invitationMailProcess, type MailName } from './invitationMail/invitationMail.process.js';
import { reactionProcess, type ReactionName } from './reaction/reaction.process.js';
import { webhookProcess, type WebhookName } from './webhook/webhook.process.js';

/** Work that a worker has given up, or a reaction that fails and is still retried. */
export type ParkedWork = {
  /** For `retryParked`: the id of the mail, of the webhook, or of the event reacted to. */
  readonly id: string;
  readonly worker: string;
  readonly state: 'parked' | 'failing';
  readonly reason: string;
  /** Since when, ISO 8601 UTC. */
  readonly at: string;
} & (
  | { readonly kind: 'mail'; readonly of: MailName }
  | { readonly kind: 'webhook'; readonly of: WebhookName }
  | { readonly kind: 'reaction'; readonly of: ReactionName }
);

type ParkingEvent = Recorded<
  | Extract<InvitationMailEvent, { type: 'InvitationMailParked' | 'InvitationMailReopened' }>
  | Extract<WebhookEvent, { type: 'WebhookParked' | 'WebhookReopened' }>
  | ReactionEvent
>;

const types: readonly ParkingEvent['type'][] = [
  'InvitationMailParked',
  'InvitationMailReopened',
  'WebhookParked',
  'WebhookReopened',
  'ReactionFailed',
  'ReactionParked',
  'ReactionReopened',
  'ReactionRecovered',
];

/** What the event leaves parked, and under which key; null when it is parked no more. */
const parkedBy = (event: ParkingEvent): readonly [key: string, ParkedWork | null] => {
  const { at } = event.metadata;
  switch (event.type) {
    case 'InvitationMailParked': {
      const { reason, ...of } = event.data;
      const { eventId: id } = of;
      return [`mail ${id}`, { kind: 'mail', worker: 'invitationMail', state: 'parked', id, of, reason, at }];
    }
    case 'InvitationMailReopened':
      return [`mail ${event.data.eventId}`, null];
    case 'WebhookParked': {
      const { reason, ...of } = event.data;
      const { webhookId: id } = of;
      return [event.stream, { kind: 'webhook', worker: 'commerceWebhooks', state: 'parked', id, of, reason, at }];
    }
    case 'ReactionFailed':
    case 'ReactionParked': {
      const { reason, ...of } = event.data;
      const { eventId: id, worker } = of;
      const state = event.type === 'ReactionParked' ? 'parked' : 'failing';
      return [event.stream, { kind: 'reaction', worker, state, id, of, reason, at }];
    }
    case 'WebhookReopened':
    case 'ReactionReopened':
    case 'ReactionRecovered':
      return [event.stream, null];
  }
};

/**
 * What is parked, oldest first, folded from the log. The first call reads all events of these few
 * types, each later one only what has come since.
 */
export const createParkedWork = ({
  eventStore,
  codec,
}: {
  eventStore: EventStore;
  codec: Codec;
}): (() => Promise<readonly ParkedWork[]>) => {
  const parked = new Map<string, ParkedWork>();
  const inOrder = createKeyedMutex();
  let after = START;
  const readOn = async (): Promise<readonly ParkedWork[]> => {
    for (;;) {
      const { events, position } = await eventStore.readAll({ after, filter: { types } });
      for (const stored of events) {
        const [key, work] = parkedBy(codec.decode(stored) as ParkingEvent);
        parked.delete(key);
        if (work !== null) parked.set(key, work);
      }
      after = position;
      if (events.length === 0) return [...parked.values()];
    }
  };
  return () => inOrder.run('read', readOn);
};

/** Has the workers try it again, with the whole time ahead of it. */
export const retryParked = async (
  { handle }: Pick<Engine, 'handle'>,
  work: ParkedWork,
  context: CommandContext,
): Promise<void> => {
  switch (work.kind) {
    case 'mail':
      await handle(invitationMailProcess, { type: 'ReopenMail', ...work.of }, context);
      return;
    case 'webhook':
      await handle(webhookProcess, { type: 'ReopenWebhook', ...work.of }, context);
      return;
    case 'reaction':
      await handle(reactionProcess, { type: 'ReopenReaction', ...work.of }, context);
      return;
  }
};
