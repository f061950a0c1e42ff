import { Type } from 'typebox';
import {
  addClient,
  changeAccess,
  changeInvitation,
  claimInvitation,
  requestRenewal,
  removeClient,
  restoreClient,
  withdrawInvitation,
} from '../../../commands/access/access.handlers.js';
import { Refused, refusals } from '../../../commands/refusal.js';
import type { Engine } from '../../../engine.js';
import { LinkRole } from '../../../events/access/access.events.js';
import { keyOfInvitation, type AccessKey } from '../../../events/access/access.stream.js';
import type { WebsiteEvent } from '../../../events/website/website.events.js';
import { websiteStream } from '../../../events/website/website.stream.js';
import type { Payments } from '../../../integrations/payments/port.js';
import type { AccessDocument, InvitationEntry, LinkEntry } from '../../../projections/access/access.projection.js';
import {
  countLinks,
  listInvited,
  listLinks,
  openInvitationsOf,
  readAccess,
  readInvitation,
} from '../../../projections/access/access.queries.js';
import { readClient } from '../../../projections/client/client.queries.js';
import { websiteProjection, type WebsiteDocument } from '../../../projections/website/website.projection.js';
import { placeIn, readNamed, readPage, totalOf, type Page } from '../../paging.js';
import { noContent, route, type Answer, type Route, type RouteTag } from '../../route.js';
import { Client } from '../client/client.resource.js';
import { Email } from '../client/client.routes.js';
import { awaitTransfer } from '../transfer/awaitTransfer.js';
import { toWebsite, Website, withBilling, type WebsiteAddresses } from '../website/website.resource.js';
import { Invitation, isSent, toInvitation, toLink, toReceivedInvitation, WebsiteClientLink } from './access.resource.js';
import type { Reader } from '../../../projections/reader.js';
import { canonicalAddress } from '../../../platform/emailAddress.js';

/** How many open invitations come with a page of links. */
const maxInvitations = 200;
/** In cursors of the pages that follow those of the links, with the invitations that came with none. */
const invitedPlace = 'invited.';

export const accessTag: RouteTag = {
  name: 'Access',
  description: 'Who may see a website: its owner, linked clients, invitations.',
};

const Added = Type.Union([
  Type.Object(
    { kind: Type.Literal('linked'), link: WebsiteClientLink },
    { $id: 'Linked', description: 'The person was known, and has access now.' },
  ),
  Type.Object(
    { kind: Type.Literal('invited'), invitation: Invitation },
    { $id: 'Invited', description: 'The person has access once the invitation is claimed.' },
  ),
]);

export const accessRoutes = ({
  engine,
  reader,
  payments,
  ...addresses
}: WebsiteAddresses & {
  engine: Engine;
  reader: Reader;
  payments: Payments;
}): readonly Route[] => {
  const findLink = async (key: AccessKey, through?: bigint): Promise<{ readonly link: LinkEntry; readonly revision: bigint }> => {
    const { link, revision } = await readAccess(reader, key, through);
    if (link === undefined) throw new Refused(refusals.linkNotFound(key.clientId, key.websiteId));
    return { link, revision };
  };

  /** @param ofWebsite refuses an invitation of another website */
  const findInvitation = async (
    invitationId: string,
    ofWebsite?: string,
    through?: bigint,
  ): Promise<{ readonly websiteId: string; readonly invitation: InvitationEntry; readonly revision: bigint }> => {
    const found = await readInvitation(reader, invitationId, through);
    if (found === null || (ofWebsite !== undefined && found.websiteId !== ofWebsite)) {
      throw new Refused(refusals.invitationNotFound(invitationId));
    }
    const { kind, status } = found.invitation;
    if (status !== 'revoked') return found;
    throw new Refused(kind === 'ownership_transfer' ? refusals.transferNotFound() : refusals.invitationNotFound(invitationId));
  };

  /** A link with the revision that a change of its role can be made conditional on. */
  const answerLink = async (key: AccessKey, through?: bigint): Promise<Answer> => {
    const { link, revision } = await findLink(key, through);
    return { body: await toLink(reader, key.websiteId, link), revision };
  };

  /** What adding the person led to: their link, or else their pending invitation. */
  const added = async (key: AccessKey, through: bigint, status: number): Promise<Answer> => {
    const { websiteId } = key;
    const { link, invitations, revision } = await readAccess(reader, key, through);
    if (link !== undefined) {
      const location = `/websites/${websiteId}/clients/${key.clientId}`;
      return { status, body: { kind: 'linked', link: await toLink(reader, websiteId, link) }, revision, location };
    }
    const invitation = invitations.find(({ kind, status: stands }) => kind === 'client_access' && stands === 'pending');
    if (invitation === undefined) throw new Error(`client ${key.clientId} was added, and has neither link nor invitation`);
    const location = `/websites/${websiteId}/client-invitations/${invitation.id}`;
    return {
      status,
      body: { kind: 'invited', invitation: await toInvitation(engine, websiteId, invitation) },
      revision,
      location,
    };
  };

  /** The website as it last was with this owner, whoever owns it by now. */
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
    const shown = toWebsite(website, addresses, { via: 'owner', role: 'editor' });
    return { body: { invitation, website: await withBilling({ reader, payments }, shown) } };
  };

  return [
    route({
      method: 'get',
      path: '/websites/:id/clients',
      operationId: 'listWebsiteClients',
      summary: 'The owner, the linked clients and the open invitations of a website',
      description:
        '`limit` and `cursor` page the links, and `count` counts them; the owner and the newest 200 open invitations come with every page. When there are more, pages of the others follow, without links. `ids` are those of clients: the answer has the owner and these clients’ links, without invitations.',
      tag: accessTag,
      scope: 'website',
      access: 'adminOrOwner',
      paging: { count: true, ids: true },
      answers: {
        200: {
          description: 'Who has access, and who was invited.',
          schema: Type.Object({
            owner: Type.Union([Client, Type.Null()]),
            links: Type.Array(WebsiteClientLink),
            invitations: Type.Array(Invitation),
          }),
        },
      },
      answer: async ({ params, query, website }) => {
        const { clientId } = website.website;
        const owner = async () => (clientId === undefined ? null : ((await readClient(reader, clientId))?.client ?? null));
        const shown = (links: readonly LinkEntry[]) => Promise.all(links.map((link) => toLink(reader, params.id, link)));
        const named = await readNamed(query, async (id) => {
          const { link } = await readAccess(reader, { websiteId: params.id, clientId: id });
          return link ?? null;
        });
        if (named !== null) {
          const body = { owner: await owner(), links: await shown(named), invitations: [] };
          return { body, ...(await totalOf(query, () => named.length)) };
        }
        const areLinksOver = query.cursor !== undefined && placeIn(query.cursor).startsWith(invitedPlace);
        const linked: Page<LinkEntry> = areLinksOver
          ? { items: [] }
          : await readPage(
              query,
              (link: LinkEntry) => link.clientId,
              (page) => listLinks(reader, params.id, page),
            );
        const invited = await readPage(
          areLinksOver ? query : { limit: maxInvitations },
          (document: AccessDocument) => invitedPlace + document.clientId,
          ({ after, limit }) =>
            listInvited(reader, params.id, { limit, ...(after !== undefined && { after: after.slice(invitedPlace.length) }) }),
        );
        const next = linked.next ?? invited.next;
        return {
          body: {
            owner: await owner(),
            links: await shown(linked.items),
            invitations: await Promise.all(
              openInvitationsOf(invited.items).map((invitation) => toInvitation(engine, params.id, invitation)),
            ),
          },
          ...(next !== undefined && { next }),
          ...(await totalOf(query, () => countLinks(reader, params.id))),
        };
      },
    }),

    route({
      method: 'post',
      path: '/websites/:id/clients',
      operationId: 'addClient',
      summary: 'Give somebody access by address: linked at once when the client is known, else invited by e-mail',
      description:
        'A person who is known as a client is linked at once; anybody else gets an invitation by e-mail. Adding somebody again renews what there is, with the role asked for now, and answers 200.',
      tag: accessTag,
      scope: 'website',
      access: 'admin',
      body: Type.Object(
        {
          email: Email,
          role: LinkRole,
          notify: Type.Optional(
            Type.Boolean({ default: false, description: 'Whether a known client, who is linked at once, is told so by mail.' }),
          ),
        },
        { additionalProperties: false },
      ),
      refusals: ['already_owner', 'client_not_found'],
      answers: {
        200: { description: 'The person was added before: what there is, brought up to date.', schema: Added },
        201: { description: 'The new link or invitation.', schema: Added },
      },
      act: ({ params, body, context }, acting) =>
        addClient(
          acting,
          { websiteId: params.id, email: canonicalAddress(body.email), role: body.role, notify: body.notify },
          context,
        ),
      answer: ({ params }, { handled, clientId }) => {
        const isNew = handled.events.some(({ type }) => type === 'ClientLinked' || type === 'InvitationIssued');
        return added({ websiteId: params.id, clientId }, handled.revision, isNew ? 201 : 200);
      },
    }),

    route({
      method: 'get',
      path: '/websites/:id/clients/:clientId',
      operationId: 'getClientLink',
      summary: 'Read the access of a linked client',
      description: 'The owner has none: they need no link.',
      tag: accessTag,
      scope: 'website',
      access: 'adminOrOwner',
      refusals: ['link_not_found'],
      answers: { 200: { description: 'The link.', schema: WebsiteClientLink } },
      answer: ({ params: { id: websiteId, clientId } }) => answerLink({ websiteId, clientId }),
    }),

    route({
      method: 'patch',
      path: '/websites/:id/clients/:clientId',
      operationId: 'changeClientRole',
      summary: "Change a linked client's role",
      description: 'Takes effect with the next request of the client.',
      tag: accessTag,
      scope: 'website',
      access: 'admin',
      ifMatch: 'honoured',
      body: Type.Object({ role: LinkRole }, { additionalProperties: false }),
      refusals: ['link_not_found'],
      answers: { 200: { description: 'The link.', schema: WebsiteClientLink } },
      act: ({ params: { id: websiteId, clientId }, body, context, expectation }, acting) =>
        changeAccess(acting, { type: 'ChangeClientRole', websiteId, clientId, role: body.role }, context, expectation),
      answer: ({ params: { id: websiteId, clientId } }, { revision }) => answerLink({ websiteId, clientId }, revision),
    }),

    route({
      method: 'delete',
      path: '/websites/:id/clients/:clientId',
      operationId: 'removeClient',
      summary: "Take a linked client's access away, at once",
      description: 'No request of the client that begins after the answer is let in. What the client pays is not touched.',
      tag: accessTag,
      scope: 'website',
      access: 'admin',
      whenArchived: 'allowed',
      ifMatch: 'honoured',
      refusals: ['link_not_found'],
      answers: { 204: { description: 'No access any more.' } },
      act: ({ params: { id: websiteId, clientId }, context, expectation }, acting) =>
        removeClient(acting, { websiteId, clientId }, context, expectation),
      answer: noContent,
    }),

    route({
      method: 'post',
      path: '/websites/:id/clients/:clientId/undo',
      operationId: 'restoreClient',
      summary: "Give a linked client's access back that was taken away",
      description:
        'Within 30 days of the removal. The link has the role that it had then; one that was given again since stays as it is.',
      tag: accessTag,
      scope: 'website',
      access: 'admin',
      ifMatch: 'honoured',
      refusals: ['link_not_found', 'link_not_removed', 'link_removed_too_long_ago', 'already_owner', 'client_not_found'],
      answers: { 200: { description: 'The link.', schema: WebsiteClientLink } },
      act: ({ params: { id: websiteId, clientId }, context, expectation }, acting) =>
        restoreClient(acting, { websiteId, clientId }, context, expectation),
      answer: ({ params: { id: websiteId, clientId } }, { revision }) => answerLink({ websiteId, clientId }, revision),
    }),

    route({
      method: 'get',
      path: '/websites/:id/client-invitations/:invitationId',
      operationId: 'getClientInvitation',
      summary: 'Read an invitation to a website, as an admin',
      description: 'Also one that was accepted or has expired. Whoever is invited reads it at `/invitations/{id}`.',
      tag: accessTag,
      scope: 'website',
      access: 'admin',
      refusals: ['invitation_not_found'],
      answers: { 200: { description: 'The invitation.', schema: Invitation } },
      answer: async ({ params: { id, invitationId } }) => {
        const found = await readInvitation(reader, invitationId);
        if (found === null || !isSent('client_access', id, found)) throw new Refused(refusals.invitationNotFound(invitationId));
        return { body: await toInvitation(engine, id, found.invitation), revision: found.revision };
      },
    }),

    route({
      method: 'post',
      path: '/websites/:id/client-invitations/:invitationId/resend',
      operationId: 'resendInvitation',
      summary: 'Renew an invitation and send its mail again',
      description: 'The invitation keeps its id and is good for 30 days from now.',
      tag: accessTag,
      scope: 'website',
      access: 'admin',
      ifMatch: 'honoured',
      refusals: ['invitation_not_found', 'transfer_not_found'],
      answers: { 200: { description: 'The invitation.', schema: Invitation } },
      act: ({ params: { id: websiteId, invitationId }, context, expectation }, acting) =>
        changeInvitation(acting, 'ResendInvitation', { websiteId, invitationId }, context, expectation),
      answer: async ({ params: { id, invitationId } }, { revision }) => ({
        body: await toInvitation(engine, id, (await findInvitation(invitationId, id, revision)).invitation),
        revision,
      }),
    }),

    route({
      method: 'delete',
      path: '/websites/:id/client-invitations/:invitationId',
      operationId: 'revokeInvitation',
      summary: 'Withdraw an invitation',
      description: 'Of a claim at the same moment exactly one wins, and the answers say which.',
      tag: accessTag,
      scope: 'website',
      access: 'admin',
      whenArchived: 'allowed',
      ifMatch: 'honoured',
      refusals: ['invitation_not_found'],
      answers: { 204: { description: 'It can no longer be claimed.' } },
      act: ({ params: { id: websiteId, invitationId }, context, expectation }, acting) =>
        withdrawInvitation(acting, 'RevokeInvitation', { websiteId, invitationId }, context, expectation),
      answer: noContent,
    }),

    route({
      method: 'get',
      path: '/invitations/:id',
      operationId: 'getInvitation',
      summary: 'Read an invitation that was sent to the caller',
      description: 'Only for the person whose verified address the invitation was sent to.',
      tag: accessTag,
      scope: 'installation',
      access: 'signedIn',
      refusals: ['invitation_not_found', 'transfer_not_found', 'not_your_invitation'],
      answers: { 200: { description: "The invitation, with the website's name.", schema: Invitation } },
      answer: async ({ params, caller }) => {
        const { websiteId, invitation, revision } = await findInvitation(params.id);
        const received = await toReceivedInvitation(engine, reader, websiteId, invitation);
        if (received.email !== caller.verifiedEmail) throw new Refused(refusals.notYourInvitation(caller.verifiedEmail));
        return { body: received, revision };
      },
    }),

    route({
      method: 'post',
      path: '/invitations/:id/renewal-request',
      operationId: 'requestInvitationRenewal',
      summary: 'Ask for a new invitation in place of an expired one',
      description: 'The admins are told by mail, once a day at most for an invitation. They renew it, or not.',
      tag: accessTag,
      scope: 'installation',
      access: 'signedIn',
      refusals: ['invitation_not_found', 'transfer_not_found', 'not_your_invitation', 'invitation_not_expired'],
      answers: { 202: { description: 'The invitation; the admins are told.', schema: Invitation } },
      act: ({ params, caller: { verifiedEmail }, context }, acting) =>
        requestRenewal(acting, { invitationId: params.id, verifiedEmail }, context),
      answer: async ({ params }, { revision }) => {
        const { websiteId, invitation } = await findInvitation(params.id, undefined, revision);
        return { status: 202, body: await toReceivedInvitation(engine, reader, websiteId, invitation) };
      },
    }),

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
              (await findInvitation(invitationId, websiteId, revision)).invitation,
            ),
            link: await toLink(reader, websiteId, (await findLink({ websiteId, clientId }, linkRevision)).link),
          },
        };
      },
    }),
  ];
};
