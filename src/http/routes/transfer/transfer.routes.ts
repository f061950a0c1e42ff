import { Type, type Static } from 'typebox';
import { offerTransfer, withdrawInvitation } from '../../../commands/access/access.handlers.js';
import { Refused, refusals } from '../../../commands/refusal.js';
import type { Engine } from '../../../engine.js';
import { attachmentIssues, type Payments } from '../../../integrations/payments/port.js';
import { clientIdOfEmail } from '../../../events/client/client.directory.js';
import type { InvitationEntry } from '../../../projections/access/access.projection.js';
import { listTransfers, readAccess, readInvitation } from '../../../projections/access/access.queries.js';
import { pageOf, readNamed, totalOf } from '../../paging.js';
import { Printable } from '../../schemas.js';
import { noContent, route, type Route, type RouteTag } from '../../route.js';
import { Invitation, isSent, toInvitation } from '../access/access.resource.js';
import { Email } from '../client/client.routes.js';
import type { Reader } from '../../../projections/reader.js';
import { canonicalAddress } from '../../../platform/emailAddress.js';

export const transferTag: RouteTag = {
  name: 'Transfers',
  description: "Offers of a website's ownership, and with it of its billing.",
};

export interface TransferRouteParts {
  readonly engine: Engine;
  readonly reader: Reader;
  readonly payments: Payments;
  readonly baseUrl: () => string;
}

/**
 * Offers of the ownership of a website. They are claimed as invitations are
 * (`POST /invitations/:id/claim`).
 */
export const transferRoutes = ({ engine, reader, payments, baseUrl }: TransferRouteParts): readonly Route[] => {
  const toTransfer = async (websiteId: string, entry: InvitationEntry): Promise<Static<typeof Invitation>> => ({
    ...(await toInvitation(engine, websiteId, entry)),
    claimUrl: `${baseUrl()}/app/invitations/${entry.id}`,
  });

  /** A transfer of the website that was not cancelled. */
  const findTransfer = async (websiteId: string, transferId: string) => {
    const found = await readInvitation(reader, transferId);
    return found !== null && isSent('ownership_transfer', websiteId, found) ? found : null;
  };

  const requirePrice = async (priceId: string | undefined): Promise<void> => {
    if (await payments.hasPrice(priceId)) return;
    const issue = priceId === undefined ? 'is required: there is no default price' : `price ${priceId} does not exist`;
    throw new Refused(refusals.invalidBody('priceId', issue));
  };

  const requireAttachable = async (websiteId: string, email: string, subscriptionId: string | undefined): Promise<void> => {
    if (subscriptionId === undefined) return;
    const clientId = await clientIdOfEmail(engine, email);
    const checked = await payments.checkAttachment({ subscriptionId, websiteId, clientId });
    if (typeof checked !== 'string') return;
    throw new Refused(refusals.invalidBody('subscription', `subscription ${subscriptionId} ${attachmentIssues[checked]}`));
  };

  return [
    route({
      method: 'post',
      path: '/websites/:id/transfers',
      operationId: 'offerTransfer',
      summary: 'Offer the ownership of a website, and its billing, to somebody',
      description:
        'Nothing is charged before the person claims it. Offering again renews the open offer on the terms asked for now, and answers 200.',
      tag: transferTag,
      scope: 'website',
      access: 'admin',
      asksProvider: true,
      body: Type.Object(
        {
          email: Email,
          priceId: Type.Optional(
            Printable(255, {
              description: 'What the new owner subscribes to, as the payment provider names it. Default: its default price.',
            }),
          ),
          subscription: Type.Optional(
            Printable(255, {
              description:
                'One that exists at the payment provider, by its id. It and its customer become the new owner’s on the claim, ' +
                'instead of a new subscription; `priceId` has no use then.',
            }),
          ),
          sendEmail: Type.Optional(
            Type.Boolean({ default: false, description: 'Whether the offer is mailed; otherwise hand over the `claimUrl`.' }),
          ),
        },
        { additionalProperties: false },
      ),
      refusals: ['already_owner', 'client_not_found'],
      answers: {
        200: { description: 'The person had an open offer: it is renewed, on the terms asked for now.', schema: Invitation },
        201: { description: 'The offer.', schema: Invitation },
      },
      act: async ({ params, body, context }, acting) => {
        const { priceId, subscription: subscriptionId, sendEmail = false } = body;
        const email = canonicalAddress(body.email);
        if (subscriptionId === undefined) await requirePrice(priceId);
        await requireAttachable(params.id, email, subscriptionId);
        const input = { websiteId: params.id, email, priceId, subscriptionId, sendMail: sendEmail };
        return offerTransfer(acting, input, context);
      },
      answer: async ({ params }, { handled, clientId }) => {
        const status = handled.events.some(({ type }) => type === 'InvitationIssued') ? 201 : 200;
        const { invitations, revision } = await readAccess(reader, { websiteId: params.id, clientId }, handled.revision);
        const offer = invitations.find((entry) => entry.kind === 'ownership_transfer' && entry.status === 'pending');
        if (offer === undefined) throw new Error(`client ${clientId} was offered the website, and has no offer`);
        return { status, body: await toTransfer(params.id, offer), revision };
      },
    }),

    route({
      method: 'get',
      path: '/websites/:id/transfers',
      operationId: 'listTransfers',
      summary: 'List the transfers of a website, newest first, or read some by their ids; cancelled ones are left out',
      description: 'Open, accepted and expired offers; cancelled ones are left out.',
      tag: transferTag,
      scope: 'website',
      access: 'admin',
      paging: { count: true, ids: true },
      answers: { 200: { description: 'A page of transfers.', schema: Type.Array(Invitation) } },
      answer: async ({ params, query }) => {
        const shown = (entries: readonly InvitationEntry[]) => Promise.all(entries.map((entry) => toTransfer(params.id, entry)));
        const named = await readNamed(query, async (id) => (await findTransfer(params.id, id))?.invitation ?? null);
        if (named !== null) return { body: await shown(named), total: await totalOf(query, () => named.length) };
        const transfers = await listTransfers(reader, params.id);
        const { items, next } = await pageOf(query, transfers);
        const total = await totalOf(query, () => transfers.length);
        return { body: await shown(items), next, total };
      },
    }),

    route({
      method: 'get',
      path: '/websites/:id/transfers/:transferId',
      operationId: 'getTransfer',
      summary: 'Read a transfer of a website',
      description: 'Also one that was accepted or has expired; a cancelled one is not found.',
      tag: transferTag,
      scope: 'website',
      access: 'admin',
      refusals: ['transfer_not_found'],
      answers: { 200: { description: 'The transfer, with its `claimUrl`.', schema: Invitation } },
      answer: async ({ params: { id, transferId } }) => {
        const found = await findTransfer(id, transferId);
        if (found === null) throw new Refused(refusals.transferNotFound());
        return { body: await toTransfer(id, found.invitation), revision: found.revision };
      },
    }),

    route({
      method: 'delete',
      path: '/websites/:id/transfers/:transferId',
      operationId: 'cancelTransfer',
      summary: 'Take an offer back',
      description: 'Of a claim at the same moment exactly one wins, and the answers say which.',
      tag: transferTag,
      scope: 'website',
      access: 'admin',
      whenArchived: 'allowed',
      ifMatch: 'honoured',
      refusals: ['transfer_not_found'],
      answers: { 204: { description: 'It can no longer be claimed.' } },
      act: ({ params: { id: websiteId, transferId: invitationId }, context, expectation }, acting) =>
        withdrawInvitation(acting, 'CancelTransfer', { websiteId, invitationId }, context, expectation),
      answer: noContent,
    }),
  ];
};
