import { Type } from 'typebox';
import { claimInvitation } from '../../../commands/access/claim.handlers.js';
import { Refused, refusals } from '../../../commands/refusal.js';
import type { Engine } from '../../../engine.js';
import { keyOfInvitation } from '../../../events/access/access.stream.js';
import type { WebsiteEvent } from '../../../events/website/website.events.js';
import { websiteStream } from '../../../events/website/website.stream.js';
import type { Payments } from '../../../integrations/payments/port.js';
import { readInvitation } from '../../../projections/access/access.queries.js';
import type { Reader } from '../../../projections/reader.js';
import { websiteProjection, type WebsiteDocument } from '../../../projections/website/website.projection.js';
import { route, type Answer, type Route } from '../../route.js';
import { awaitTransfer } from '../transfer/awaitTransfer.js';
import { toWebsite, Website, withBilling, type WebsiteAddresses } from '../website/website.resource.js';
import { accessTag, Invitation, toInvitation, toLink, WebsiteClientLink } from './access.resource.js';
import { findInvitation, findLink } from './findAccess.js';

/** An invitation is taken up by the person invited: it becomes a link, or moves the ownership. */
export const claimRoutes = ({
  engine,
  reader,
  payments,
  ...addresses
}: WebsiteAddresses & {
  engine: Engine;
  reader: Reader;
  payments: Payments;
}): readonly Route[] => {
  /** The website as it last was with this owner, though it may have another one by now. */
  const ownedWebsite = async (websiteId: string, clientId: string): Promise<WebsiteDocument | null> => {
    const { document: now } = await reader.read(websiteProjection, websiteId);
    if (now?.clientId === clientId) return now;
    let document: WebsiteDocument | null = null;
    let owned: WebsiteDocument | null = null;
    for await (const event of reader.history<WebsiteEvent, { readonly websiteId: string }>(websiteStream, { websiteId })) {
      document = websiteProjection.evolve(document, event);
      if (document?.clientId === clientId) owned = document;
    }
    return owned;
  };

  /** A claim that was carried out, whatever came since. */
  const transferred = async (websiteId: string, invitationId: string, clientId: string): Promise<Answer> => {
    const website = await ownedWebsite(websiteId, clientId);
    const found = await readInvitation(reader, invitationId);
    if (website === null || found === null) throw new Refused(refusals.transferNotFound());
    const invitation = await toInvitation(engine, websiteId, { ...found.invitation, status: 'accepted' });
    const shown = toWebsite(website, addresses, 'owner');
    return { body: { invitation, website: await withBilling({ reader, payments }, shown, 'owner') } };
  };

  return [
    route({
      method: 'post',
      path: '/invitations/:id/claim',
      operationId: 'claimInvitation',
      summary: 'Take up an invitation as the person invited',
      description:
        "The caller's verified address must be the invitation's. An access invitation becomes a link; a transfer moves the ownership, once the subscription is made. A second claim by the same person answers as the first did.",
      tag: accessTag,
      scope: 'installation',
      access: 'signedIn',
      asksProvider: true,
      faults: ['transfer_under_way'],
      ifMatch: 'honoured',
      refusals: [
        'invitation_not_found',
        'transfer_not_found',
        'not_your_invitation',
        'already_owner',
        'client_not_found',
        'link_not_found',
        'website_archived',
        'transfer_failed',
      ],
      answers: {
        200: {
          description:
            'The accepted invitation and the link that it led to or, for a transfer, the website that the caller now owns.',
          schema: Type.Union([
            Type.Object({ invitation: Invitation, link: WebsiteClientLink }),
            Type.Object({ invitation: Invitation, website: Website }),
          ]),
        },
      },
      act: ({ params, caller: { subject, verifiedEmail, name }, context, expectation }, acting) =>
        claimInvitation(acting, { invitationId: params.id, subject, verifiedEmail, name }, context, expectation),
      answer: async ({ params: { id: invitationId }, signal }, claimed) => {
        const { websiteId, clientId, claimId, revision, linkRevision } = claimed;
        if (claimId !== undefined) {
          const key = keyOfInvitation(invitationId) ?? { websiteId, clientId };
          await awaitTransfer(engine, { key, invitationId, claimId }, signal);
          return transferred(websiteId, invitationId, clientId);
        }
        return {
          body: {
            invitation: await toInvitation(
              engine,
              websiteId,
              (await findInvitation(reader, invitationId, websiteId, revision)).invitation,
            ),
            link: await toLink(reader, websiteId, (await findLink(reader, { websiteId, clientId }, linkRevision)).link),
          },
        };
      },
    }),
  ];
};
