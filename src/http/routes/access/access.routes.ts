import { Type } from 'typebox';
import { addClient, changeAccess, claimInvitation } from '../../../commands/access/access.handlers.js';
import { websiteIdOfInvitation } from '../../../commands/access/access.commands.js';
import { Refused, refusals } from '../../../commands/refusal.js';
import type { Engine } from '../../../engine.js';
import { LinkRole } from '../../../events/access/access.events.js';
import { NO_STREAM } from '../../../events/store/eventStore.js';
import type { SiteAddress } from '../../../integrations/hosting/port.js';
import {
  accessProjection,
  noAccess,
  type AccessDocument,
  type InvitationEntry,
  type LinkEntry,
} from '../../../projections/access/access.projection.js';
import { readClient } from '../../../projections/client/client.queries.js';
import { websiteProjection } from '../../../projections/website/website.projection.js';
import { invitationParams, websiteClientParams, websiteInvitationParams, websiteParams } from '../../params.js';
import { noContent, route, type Answer, type Route } from '../../route.js';
import { Client, Email } from '../client/client.routes.js';
import { awaitTransfer } from '../transfer/awaitTransfer.js';
import { toWebsite, Website } from '../website/website.resource.js';
import { Invitation, toInvitation, toLink, WebsiteClientLink } from './access.resource.js';
import type { Reader } from '../../../projections/reader.js';

const tag = 'Access';

const Added = Type.Union([
  Type.Object({ kind: Type.Literal('linked'), link: WebsiteClientLink }),
  Type.Object({ kind: Type.Literal('invited'), invitation: Invitation }),
]);

export const accessRoutes = ({
  engine,
  reader,
  siteAddress,
}: {
  engine: Engine;
  reader: Reader;
  siteAddress: SiteAddress;
}): readonly Route[] => {
  const accessOf = async (websiteId: string): Promise<AccessDocument & { readonly revision: bigint }> => {
    const { document, revision } = await reader.read(accessProjection, websiteId);
    return { ...(document ?? noAccess(websiteId)), revision };
  };

  const findLink = async (websiteId: string, clientId: string): Promise<LinkEntry> => {
    const link = (await accessOf(websiteId)).links.find((entry) => entry.clientId === clientId);
    if (link === undefined) throw new Refused(refusals.linkNotFound(clientId, websiteId));
    return link;
  };

  const findInvitation = async (websiteId: string, invitationId: string): Promise<InvitationEntry> => {
    const invitation = (await accessOf(websiteId)).invitations.find(({ id }) => id === invitationId);
    if (invitation?.status === 'revoked' && invitation.kind === 'ownership_transfer')
      throw new Refused(refusals.transferNotFound());
    if (invitation === undefined || invitation.status === 'revoked') throw new Refused(refusals.invitationNotFound(invitationId));
    return invitation;
  };

  /** What adding the person led to: their link, or else the pending invitation of their (sealed) address. */
  const added = async (websiteId: string, email: string, clientId: string | undefined, status: number): Promise<Answer> => {
    const { links, invitations } = await accessOf(websiteId);
    const link = links.find((entry) => entry.clientId === clientId);
    if (link !== undefined) return { status, body: { kind: 'linked', link: await toLink(reader, websiteId, link) } };
    const invitation = invitations.find(
      (entry) => entry.status === 'pending' && entry.kind === 'client_access' && entry.email === email,
    );
    // Somebody revoked it in the meantime.
    if (invitation === undefined) throw new Refused(refusals.stale());
    return { status, body: { kind: 'invited', invitation: await toInvitation(engine, websiteId, invitation) } };
  };

  /** @throws Refused when somebody else owns the website by now */
  const transferred = async (websiteId: string, invitationId: string, clientId: string): Promise<Answer> => {
    const { document: website } = await reader.read(websiteProjection, websiteId);
    if (website?.clientId !== clientId) throw new Refused(refusals.transferNotFound());
    const invitation = await toInvitation(engine, websiteId, await findInvitation(websiteId, invitationId));
    return { body: { invitation, website: toWebsite(website, siteAddress, { via: 'owner', role: 'editor' }) } };
  };

  return [
    route({
      method: 'get',
      path: '/websites/:id/clients',
      operationId: 'listWebsiteClients',
      summary: 'The owner, the linked clients and the open invitations of a website',
      tag,
      access: 'adminOrOwner',
      params: websiteParams,
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
      answer: async ({ params, website }) => {
        const { clientId } = website.website;
        const { links, invitations, revision } = await accessOf(params.id);
        const owner = clientId === undefined ? null : await readClient(reader, clientId);
        const pending = invitations.filter(({ kind, status }) => kind === 'client_access' && status === 'pending');
        return {
          body: {
            owner: owner?.client ?? null,
            links: (await Promise.all(links.map((link) => toLink(reader, params.id, link)))).reverse(),
            invitations: (await Promise.all(pending.map((invitation) => toInvitation(engine, params.id, invitation)))).reverse(),
          },
          // Of the website's access as a whole: what a changed role can be made conditional on.
          ...(revision !== NO_STREAM && { revision }),
        };
      },
    }),

    route({
      method: 'post',
      path: '/websites/:id/clients',
      operationId: 'addClient',
      summary: 'Give somebody access by address: linked at once when the client is known, else invited by e-mail',
      tag,
      access: 'admin',
      params: websiteParams,
      body: Type.Object({ email: Email, role: LinkRole }, { additionalProperties: false }),
      answers: {
        200: { description: 'The person was added before: what there is, brought up to date.', schema: Added },
        201: { description: 'The new link or invitation.', schema: Added },
      },
      act: ({ params, body, context }, acting) =>
        addClient(acting, { websiteId: params.id, email: body.email.toLowerCase(), role: body.role }, context),
      answer: ({ params }, { handled, clientId, email }) => {
        const isNew = handled.events.some(({ type }) => type === 'ClientLinked' || type === 'InvitationIssued');
        return added(params.id, email, clientId, isNew ? 201 : 200);
      },
    }),

    route({
      method: 'patch',
      path: '/websites/:id/clients/:clientId',
      operationId: 'changeClientRole',
      summary: "Change a linked client's role",
      tag,
      access: 'admin',
      params: websiteClientParams,
      body: Type.Object({ role: LinkRole }, { additionalProperties: false }),
      answers: { 200: { description: 'The link.', schema: WebsiteClientLink } },
      act: ({ params: { id: websiteId, clientId }, body, context, expectation }, acting) =>
        changeAccess(acting, { type: 'ChangeClientRole', websiteId, clientId, role: body.role }, context, expectation),
      answer: async ({ params: { id, clientId } }) => ({ body: await toLink(reader, id, await findLink(id, clientId)) }),
    }),

    route({
      method: 'delete',
      path: '/websites/:id/clients/:clientId',
      operationId: 'removeClient',
      summary: "Take a linked client's access away, at once",
      tag,
      access: 'admin',
      params: websiteClientParams,
      answers: { 204: { description: 'No access any more.' } },
      act: async ({ params: { id: websiteId, clientId }, context }, acting) => {
        await findLink(websiteId, clientId);
        await changeAccess(acting, { type: 'RemoveClient', websiteId, clientId }, context);
      },
      answer: noContent,
    }),

    route({
      method: 'post',
      path: '/websites/:id/client-invitations/:invitationId/resend',
      operationId: 'resendInvitation',
      summary: 'Renew an invitation and send its mail again',
      tag,
      access: 'admin',
      params: websiteInvitationParams,
      answers: { 200: { description: 'The invitation.', schema: Invitation } },
      act: ({ params: { id: websiteId, invitationId }, context }, acting) =>
        changeAccess(acting, { type: 'ResendInvitation', websiteId, invitationId }, context),
      answer: async ({ params: { id, invitationId } }) => ({
        body: await toInvitation(engine, id, await findInvitation(id, invitationId)),
      }),
    }),

    route({
      method: 'delete',
      path: '/websites/:id/client-invitations/:invitationId',
      operationId: 'revokeInvitation',
      summary: 'Withdraw an invitation',
      tag,
      access: 'admin',
      params: websiteInvitationParams,
      answers: { 204: { description: 'It can no longer be claimed.' } },
      act: async ({ params: { id: websiteId, invitationId }, context }, acting) => {
        await findInvitation(websiteId, invitationId);
        await changeAccess(acting, { type: 'RevokeInvitation', websiteId, invitationId }, context);
      },
      answer: noContent,
    }),

    route({
      method: 'get',
      path: '/invitations/:id',
      operationId: 'getInvitation',
      summary: 'Read an invitation that was sent to the caller',
      tag,
      access: 'signedIn',
      params: invitationParams,
      answers: { 200: { description: "The invitation, with the website's name.", schema: Invitation } },
      answer: async ({ params, caller }) => {
        const websiteId = websiteIdOfInvitation(params.id);
        if (websiteId === null) throw new Refused(refusals.invitationNotFound(params.id));
        const invitation = await findInvitation(websiteId, params.id);
        const answered = await toInvitation(engine, websiteId, invitation);
        if (answered.email !== caller.verifiedEmail) throw new Refused(refusals.notYourInvitation());
        const { document: website } = await reader.read(websiteProjection, websiteId);
        return {
          body: { ...answered, ...(website !== null && { websiteName: website.name }) },
        };
      },
    }),

    route({
      method: 'post',
      path: '/invitations/:id/claim',
      operationId: 'claimInvitation',
      summary: 'Take up an invitation as the person invited',
      tag,
      access: 'signedIn',
      params: invitationParams,
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
      act: ({ params, caller: { subject, verifiedEmail, name }, context }, acting) =>
        claimInvitation(acting, { invitationId: params.id, subject, verifiedEmail, name }, context),
      answer: async ({ params: { id: invitationId }, signal }, { websiteId, clientId, claimId }) => {
        if (claimId !== undefined) {
          await awaitTransfer(engine, { websiteId, invitationId, claimId }, signal);
          return transferred(websiteId, invitationId, clientId);
        }
        return {
          body: {
            invitation: await toInvitation(engine, websiteId, await findInvitation(websiteId, invitationId)),
            link: await toLink(reader, websiteId, await findLink(websiteId, clientId)),
          },
        };
      },
    }),
  ];
};
