import { changeInvitation, withdrawInvitation } from '../../../commands/access/access.handlers.js';
import { requestRenewal } from '../../../commands/access/claim.handlers.js';
import { Refused, refusals } from '../../../commands/refusal.js';
import type { Engine } from '../../../engine.js';
import { readInvitation } from '../../../projections/access/access.queries.js';
import type { Reader } from '../../../projections/reader.js';
import { noContent, route, type Route } from '../../route.js';
import { accessTag, Invitation, isSent, toInvitation, toReceivedInvitation } from './access.resource.js';
import { findInvitation } from './findAccess.js';

/** Invitations to a website, as admins and as the people invited see them; `claim.routes.ts` takes them up. */
export const invitationRoutes = ({ engine, reader }: { engine: Engine; reader: Reader }): readonly Route[] => [
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
      body: await toInvitation(engine, id, (await findInvitation(reader, invitationId, id, revision)).invitation),
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
      const { websiteId, invitation, revision } = await findInvitation(reader, params.id);
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
      const { websiteId, invitation } = await findInvitation(reader, params.id, undefined, revision);
      return { status: 202, body: await toReceivedInvitation(engine, reader, websiteId, invitation) };
    },
  }),
];
