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
import { afterWrite } from '../../afterWrite.js';
import { invitationParams, websiteClientParams, websiteInvitationParams, websiteParams } from '../../params.js';
import { route, type Answer, type Route } from '../../route.js';
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
      handle: async ({ params, website }) => {
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
      handle: async (request) => {
        const { params, body, context } = request;
        const wish = { websiteId: params.id, email: body.email.toLowerCase(), role: body.role };
        const { handled, clientId, email } = await addClient(engine, wish, context);
        const isNew = handled.events.some(({ type }) => type === 'ClientLinked' || type === 'InvitationIssued');
        return afterWrite(request, () => added(params.id, email, clientId, isNew ? 201 : 200));
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
      handle: async (request) => {
        const { params, body, context, ifMatch } = request;
        const { id: websiteId, clientId } = params;
        const options = ifMatch === undefined ? {} : { expectedRevision: ifMatch };
        await changeAccess(engine, { type: 'ChangeClientRole', websiteId, clientId, role: body.role }, context, options);
        return afterWrite(request, async () => ({ body: await toLink(reader, websiteId, await findLink(websiteId, clientId)) }));
      },
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
      handle: async ({ params: { id: websiteId, clientId }, context }) => {
        await findLink(websiteId, clientId);
        await changeAccess(engine, { type: 'RemoveClient', websiteId, clientId }, context);
        return { status: 204 };
      },
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
      handle: async (request) => {
        const { id: websiteId, invitationId } = request.params;
        await changeAccess(engine, { type: 'ResendInvitation', websiteId, invitationId }, request.context);
        return afterWrite(request, async () => ({
          body: await toInvitation(engine, websiteId, await findInvitation(websiteId, invitationId)),
        }));
      },
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
      handle: async ({ params: { id: websiteId, invitationId }, context }) => {
        await findInvitation(websiteId, invitationId);
        await changeAccess(engine, { type: 'RevokeInvitation', websiteId, invitationId }, context);
        return { status: 204 };
      },
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
      handle: async ({ params, caller }) => {
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
      handle: async (request) => {
        const { params, caller, context } = request;
        const { subject, verifiedEmail, name } = caller;
        const invitationId = params.id;
        const wish = { invitationId, subject, verifiedEmail, name };
        const { websiteId, clientId, claimId } = await claimInvitation(engine, wish, context);
        if (claimId !== undefined) {
          return afterWrite(request, async () => {
            await awaitTransfer(engine, { websiteId, invitationId, claimId }, request.signal);
            return transferred(websiteId, invitationId, clientId);
          });
        }
        return afterWrite(request, async () => ({
          body: {
            invitation: await toInvitation(engine, websiteId, await findInvitation(websiteId, params.id)),
            link: await toLink(reader, websiteId, await findLink(websiteId, clientId)),
          },
        }));
      },
    }),
  ];
};
