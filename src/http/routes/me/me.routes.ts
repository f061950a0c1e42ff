import { Type, type Static } from 'typebox';
import type { Engine } from '../../../engine.js';
import { clientEmailFold } from '../../../events/client/client.state.js';
import { websiteFold } from '../../../events/website/website.state.js';
import { isoTime } from '../../../platform/clock.js';
import {
  pendingInvitations,
  websiteOfClient,
  websitesOfClient,
  type WebsiteOfClient,
} from '../../../projections/access/access.queries.js';
import { apiKeyProjection } from '../../../projections/apiKey/apiKey.projection.js';
import { readClient } from '../../../projections/client/client.queries.js';
import { countWebsites, listedNow } from '../../../projections/website/website.queries.js';
import { readNamed, readPage, totalOf } from '../../paging.js';
import type { Caller } from '../../auth/caller.js';
import { standingOf } from '../../auth/rules.js';
import { PersonalAddress } from '../../personalFields.js';
import { route, type Route, type RouteTag } from '../../route.js';
import { Invitation, toReceivedInvitation } from '../access/access.resource.js';
import { Client } from '../client/client.resource.js';
import { toListedWebsite, toWebsite, Website, type WebsiteAddresses } from '../website/website.resource.js';
import type { Reader } from '../../../projections/reader.js';

const meTag: RouteTag = { name: 'Session', description: 'Who is calling.' };

const Credential = Type.Object(
  {
    kind: Type.Enum(['token', 'session'], { description: '`token`: a personal access token; `session`: a sign-in.' }),
    scope: Type.Enum(['read', 'write']),
    id: Type.Optional(Type.String({ description: 'Of the token, as `DELETE /api-keys/{id}` takes it.' })),
    name: Type.Optional(Type.String({ description: 'Of the token.', examples: ['Continuous integration'] })),
    prefix: Type.Optional(Type.String({ description: 'The first 12 characters of the token.' })),
    expiresAt: Type.Optional(Type.String({ format: 'date-time', description: 'Of a token that ends.' })),
  },
  { $id: 'Credential', description: 'What the request was sent with.' },
);

/** How many websites `/me` lists. */
const maxWebsites = 200;

export interface MeRouteParts extends WebsiteAddresses {
  readonly engine: Engine;
  readonly reader: Reader;
}

export const meRoutes = ({ engine, reader: lists, ...addresses }: MeRouteParts): readonly Route[] => {
  /** Only a verified address leads to invitations; the invited need not be a client yet. */
  const invitationsTo = async (
    reader: Reader,
    verifiedEmail: string | undefined,
  ): Promise<readonly Static<typeof Invitation>[]> => {
    if (verifiedEmail === undefined) return [];
    const { clientId } = (await reader.state(clientEmailFold, { emailIndex: reader.blindIndex(verifiedEmail) })).state;
    if (clientId === undefined) return [];
    const pending = await pendingInvitations(reader, clientId, isoTime(engine.clock.now()));
    const invitations = await Promise.all(
      pending.map(async ({ websiteId, invitation }) => {
        // A claim at an archived website is refused.
        const { state: website } = await reader.state(websiteFold, { websiteId });
        if (website.stage !== 'none' && website.archived) return null;
        return toReceivedInvitation(engine, reader, websiteId, invitation);
      }),
    );
    return invitations.filter((invitation) => invitation?.email === verifiedEmail).filter((invitation) => invitation !== null);
  };

  /** With `?as=` the person is not the bearer, so that nothing is told of the token itself. */
  const credentialOf = async (reader: Reader, { via, scope, tokenId }: Caller): Promise<Static<typeof Credential>> => {
    const key = tokenId === undefined ? null : (await reader.read(apiKeyProjection, tokenId)).document;
    return {
      kind: tokenId !== undefined || via === 'token' ? 'token' : 'session',
      scope,
      ...(key !== null && { id: key.id, name: key.name, prefix: key.prefix }),
      ...(key?.expiresAt !== undefined && { expiresAt: key.expiresAt }),
    };
  };

  const toOwn = ({ website, ...way }: WebsiteOfClient) => toWebsite(website, addresses, standingOf(way));
  return [
    route({
      method: 'get',
      path: '/me',
      operationId: 'getMe',
      summary: 'Who is calling, the websites that they own or are linked to, and what they are invited to',
      description:
        'The caller’s subject, verified address and role, what they called with, the client that they are, and the first of their websites, each with `via` and `role`.',
      tag: meTag,
      scope: 'installation',
      access: 'signedIn',
      answers: {
        200: {
          description: 'The caller.',
          schema: Type.Object({
            subject: Type.String(),
            email: Type.Union([PersonalAddress, Type.Null()], { description: 'Vouched for by the identity provider.' }),
            role: Type.Enum(['admin', 'client']),
            credential: Credential,
            client: Type.Optional(Client),
            websites: Type.Array(Website, { description: 'The newest 200.' }),
            moreWebsites: Type.Optional(Type.Literal(true, { description: 'There are more: `GET /me/websites` lists all.' })),
            invitations: Type.Array(Invitation, {
              description: 'Those to the verified address that can be claimed, newest first.',
            }),
          }),
        },
      },
      answer: async ({ caller, reader, signal }) => {
        const { subject, verifiedEmail, role, clientId } = caller;
        const found = clientId === undefined ? null : await readClient(reader, clientId);
        const websites =
          clientId === undefined ? [] : await websitesOfClient(lists.until(signal), clientId, { limit: maxWebsites + 1 });
        return {
          body: {
            subject,
            email: verifiedEmail ?? null,
            role,
            credential: await credentialOf(reader, caller),
            ...(found !== null && { client: found.client }),
            websites: websites.slice(0, maxWebsites).map(toOwn),
            ...(websites.length > maxWebsites && { moreWebsites: true }),
            invitations: await invitationsTo(reader, verifiedEmail),
          },
        };
      },
    }),

    route({
      method: 'get',
      path: '/me/websites',
      operationId: 'listMyWebsites',
      summary: 'List the websites that the caller owns or is linked to, newest first, or read some by their ids',
      description:
        'All websites that the caller owns or is linked to but the archived ones, each with `via` and `role`, and how its delivery stands.',
      tag: meTag,
      scope: 'installation',
      access: 'signedIn',
      paging: { count: true, ids: true },
      answers: { 200: { description: 'A page of websites; of an admin none.', schema: Type.Array(Website) } },
      answer: async ({ caller: { clientId }, query, signal }) => {
        const own = lists.until(signal);
        const shown = (websites: readonly WebsiteOfClient[]) =>
          Promise.all(
            websites.map(async ({ website, ...way }) =>
              toListedWebsite(await listedNow(lists, website), addresses, standingOf(way)),
            ),
          );
        const named = await readNamed(query, (id) =>
          clientId === undefined ? Promise.resolve(null) : websiteOfClient(lists, clientId, id),
        );
        if (named !== null) return { body: await shown(named), total: await totalOf(query, () => named.length) };
        const { items, next } = await readPage(
          query,
          ({ website }: WebsiteOfClient) => website.id,
          (page) => (clientId === undefined ? Promise.resolve([]) : websitesOfClient(own, clientId, page)),
        );
        const total = await totalOf(query, () => (clientId === undefined ? 0 : countWebsites(own, { clientId })));
        return { body: await shown(items), next, total };
      },
    }),
  ];
};
