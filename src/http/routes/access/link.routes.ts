import { Type } from 'typebox';
import { addClient, changeAccess, removeClient, restoreClient } from '../../../commands/access/access.handlers.js';
import type { Engine } from '../../../engine.js';
import { LinkRole } from '../../../events/access/access.events.js';
import type { AccessKey } from '../../../events/access/access.stream.js';
import { canonicalAddress } from '../../../platform/emailAddress.js';
import type { AccessDocument, LinkEntry } from '../../../projections/access/access.projection.js';
import { countLinks, listInvited, listLinks, openInvitationsOf, readAccess } from '../../../projections/access/access.queries.js';
import { readClient } from '../../../projections/client/client.queries.js';
import type { Reader } from '../../../projections/reader.js';
import { placeIn, readNamed, readPage, totalOf, type Page } from '../../paging.js';
import { noContent, route, type Answer, type Route } from '../../route.js';
import { Client } from '../client/client.resource.js';
import { Email } from '../client/client.routes.js';
import { accessTag, Invitation, toInvitation, toLink, WebsiteClientLink } from './access.resource.js';
import { findLink } from './findAccess.js';

/** How many open invitations come with a page of links. */
const maxInvitations = 200;
/** In cursors of the pages that follow those of the links, with the invitations that came with none. */
const invitedPlace = 'invited.';

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

/** Who has access to a website: listed, given it, with another role, and without it. */
export const linkRoutes = ({ engine, reader }: { engine: Engine; reader: Reader }): readonly Route[] => {
  /** A link with the revision that a change of its role can be made conditional on. */
  const answerLink = async (key: AccessKey, through?: bigint): Promise<Answer> => {
    const { link, revision } = await findLink(reader, key, through);
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
            links: Type.Array(WebsiteClientLink, { description: 'The linked clients, the newest link first.' }),
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
          return { body, total: await totalOf(query, () => named.length) };
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
          next,
          total: await totalOf(query, () => countLinks(reader, params.id)),
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
            Type.Boolean({
              default: false,
              description: 'Whether a known client is told of a new link by mail; nobody is told of a changed role.',
            }),
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
  ];
};
