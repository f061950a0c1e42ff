import type { InvitationMailEvent } from '../../events/invitationMail/invitationMail.events.js';
import type { ReactionEvent } from '../../events/reaction/reaction.events.js';
import type { WebhookEvent } from '../../events/webhook/webhook.events.js';
import type { ListProjection } from '../projection.js';

/** Work is parked or fails from now on, or no longer. */
export type ParkingEvent =
  | Extract<InvitationMailEvent, { type: 'InvitationMailParked' | 'InvitationMailReopened' }>
  | Extract<WebhookEvent, { type: 'WebhookParked' | 'WebhookReopened' }>
  | ReactionEvent;

/** What names it: the data of its event but the reason. */
type NameIn<Type extends ParkingEvent['type']> = Omit<Extract<ParkingEvent, { type: Type }>['data'], 'reason'>;

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
  | { readonly kind: 'mail'; readonly of: NameIn<'InvitationMailParked'> }
  | { readonly kind: 'webhook'; readonly of: NameIn<'WebhookParked'> }
  | { readonly kind: 'reaction'; readonly of: NameIn<'ReactionParked'> }
);

/** What is parked or fails, and nothing else: one document for each, as long as it is so. */
export const parkedWorkProjection: ListProjection<ParkedWork, ParkingEvent> = {
  name: 'parkedWork',
  version: 1,
  handles: [
    'InvitationMailParked',
    'InvitationMailReopened',
    'WebhookParked',
    'WebhookReopened',
    'ReactionFailed',
    'ReactionParked',
    'ReactionReopened',
    'ReactionRecovered',
  ],
  ignores: [],
  // An invitation may have several mails in its stream.
  documentId: ({ type, stream, data }) =>
    type === 'InvitationMailParked' || type === 'InvitationMailReopened' ? `mail ${data.eventId}` : stream,
  evolve: (_, { type, data, metadata: { at } }) => {
    switch (type) {
      case 'InvitationMailParked': {
        const { reason, ...of } = data;
        return { kind: 'mail', worker: 'invitationMail', state: 'parked', id: of.eventId, of, reason, at };
      }
      case 'WebhookParked': {
        const { reason, ...of } = data;
        return { kind: 'webhook', worker: 'commerceWebhooks', state: 'parked', id: of.webhookId, of, reason, at };
      }
      case 'ReactionFailed':
      case 'ReactionParked': {
        const { reason, ...of } = data;
        const state = type === 'ReactionParked' ? 'parked' : 'failing';
        return { kind: 'reaction', worker: of.worker, state, id: of.eventId, of, reason, at };
      }
      case 'InvitationMailReopened':
      case 'WebhookReopened':
      case 'ReactionReopened':
      case 'ReactionRecovered':
        return null;
    }
  },
  indexes: [{ field: 'worker' }, { field: 'state' }],
};
