import type { Static } from 'typebox';
import { Refused, refusals } from '../../../commands/refusal.js';
import type { Engine } from '../../../engine.js';
import { accessFold, type InvitationState } from '../../../events/access/access.state.js';
import { keyOfInvitation } from '../../../events/access/access.stream.js';
import { drawUpHandover, type Handover } from '../../../events/billing/handover.js';
import { recipientOf } from '../../../events/client/client.directory.js';
import { ProviderFault } from '../../../integrations/fault.js';
import type { Payments, Price } from '../../../integrations/payments/port.js';
import { isoTime } from '../../../platform/clock.js';
import { hasExpired } from '../../../platform/times.js';
import { readHandoverFacts } from '../../../projections/billing/handover.queries.js';
import type { Reader } from '../../../projections/reader.js';
import { billingFold, isSubscribed } from '../../../events/billing/billing.state.js';
import { route, type Route } from '../../route.js';
import { within } from '../../within.js';
import { toItems, toPays, TransferLedger } from './handover.resource.js';
import { transferTag } from './transfer.routes.js';

/** How long the payment provider may take, in milliseconds. */
const timeoutMs = 5_000;

type Content = Pick<Static<typeof TransferLedger>, 'moves' | 'stays' | 'missing' | 'pays'>;

/**
 * What a transfer comes to: before the claim as of now; from then on as it was written down when the
 * claim began, with each item's time (`workers/transfer/`).
 */
export const handoverRoutes = (parts: {
  readonly engine: Engine;
  readonly reader: Reader;
  readonly payments: Payments;
}): readonly Route[] => {
  const { engine, reader, payments } = parts;

  /** `undefined`: the provider could not be asked. */
  const askProvider = async <Result>(asked: () => Promise<Result>): Promise<Result | undefined> => {
    try {
      return await within(engine.clock, timeoutMs, 'The payment provider', asked());
    } catch (error) {
      if (error instanceof ProviderFault) return undefined;
      throw error;
    }
  };

  /** The price of a new subscription; of one that exists, the provider's own pages say it. */
  const priceOf = async ({
    priceId,
    subscriptionId,
  }: Pick<Handover, 'priceId' | 'subscriptionId'>): Promise<Price | 'unavailable' | undefined> => {
    if (subscriptionId !== undefined) return undefined;
    const price = await askProvider(() => payments.readPrice(priceId));
    return price === undefined ? 'unavailable' : (price ?? undefined);
  };

  const recorded = async (handover: Handover, isAdmin: boolean): Promise<Content> => {
    const { items, done, payer, priceId, subscriptionId } = handover;
    const price =
      handover.price === undefined
        ? await priceOf(handover)
        : { ...(priceId !== undefined && { id: priceId }), ...handover.price };
    return { ...toItems(items, done, isAdmin), pays: toPays({ payer, done, subscriptionId, price }) };
  };

  /** As of now. */
  const drawnUp = async (
    {
      websiteId,
      transferId,
      ownerId,
      isAdmin,
    }: { websiteId: string; transferId: string; ownerId: string | undefined; isAdmin: boolean },
    { priceId, subscriptionId, claimedBy }: InvitationState,
  ): Promise<Content> => {
    const recipientId = claimedBy ?? keyOfInvitation(transferId)?.clientId ?? '';
    const { state: billing } = await engine.state(billingFold, { websiteId });
    const isOwnerSubscribed = ownerId !== recipientId && isSubscribed(billing, payments.provider, ownerId);
    const price = await priceOf({
      ...(priceId !== undefined && { priceId }),
      ...(subscriptionId !== undefined && { subscriptionId }),
    });
    const attachable =
      subscriptionId === undefined ? undefined : await askProvider(() => payments.checkAttachment({ subscriptionId, websiteId }));
    const areTermsValid = subscriptionId === undefined ? price !== undefined : typeof attachable !== 'string';
    const known = { isOwnerSubscribed, isAttached: subscriptionId !== undefined, areTermsValid };
    const now = isoTime(engine.clock.now());
    const facts = await readHandoverFacts(reader, { websiteId, invitationId: transferId, recipientId }, { ...known, now });
    const done: Handover['done'] = new Map();
    const payer = isOwnerSubscribed ? 'owner' : 'agency';
    return { ...toItems(drawUpHandover(facts), done, isAdmin), pays: toPays({ payer, done, subscriptionId, price }) };
  };

  return [
    route({
      method: 'get',
      path: '/websites/:id/transfers/:transferId/ledger',
      operationId: 'getTransferLedger',
      summary: 'Read what a transfer moves, what stays, who pays from when and what is missing',
      description:
        'Before the claim it is as of now. With the claim it is written down as it is then, and each item gets the time at which it was done: a record that both sides can read. The owner before cannot read it any more; a withdrawn offer has none.',
      tag: transferTag,
      scope: 'website',
      access: 'handover',
      refusals: ['transfer_not_found'],
      answers: { 200: { description: 'The ledger.', schema: TransferLedger } },
      answer: async ({ params: { id: websiteId, transferId }, website: { website }, caller }) => {
        const key = keyOfInvitation(transferId);
        if (key?.websiteId !== websiteId) throw new Refused(refusals.transferNotFound());
        const invitation = (await engine.state(accessFold, key)).state.invitations.get(transferId);
        if (invitation?.kind !== 'ownership_transfer' || invitation.stage === 'revoked') {
          throw new Refused(refusals.transferNotFound());
        }
        const { stage, claimId, expiresAt } = invitation;
        const isAdmin = caller.role === 'admin';
        const { state: billing } = await engine.state(billingFold, { websiteId });
        const handover = stage === 'pending' || claimId === undefined ? undefined : billing.handovers.get(claimId);
        const isExpired = stage === 'pending' && hasExpired(expiresAt, isoTime(engine.clock.now()));
        const ofNow = { websiteId, transferId, ownerId: website.clientId, isAdmin };
        const content = handover === undefined ? await drawnUp(ofNow, invitation) : await recorded(handover, isAdmin);
        return {
          body: {
            transferId,
            websiteId,
            email: await engine.personal.display(await recipientOf(engine, key.clientId, invitation.email)),
            status: stage === 'accepted' ? 'completed' : stage === 'claimed' ? 'under_way' : isExpired ? 'expired' : 'open',
            ...(handover !== undefined && handover.drawnUpAt !== '' && { drawnUpAt: handover.drawnUpAt }),
            ...(handover?.completedAt !== undefined && { completedAt: handover.completedAt }),
            ...content,
          },
        };
      },
    }),
  ];
};
