import { Type } from 'typebox';
import type { SiteAddress } from '../../../integrations/hosting/port.js';
import { websitesOfClient, type WebsiteOfClient } from '../../../projections/access/access.queries.js';
import { readClient } from '../../../projections/client/client.queries.js';
import { readPage } from '../../paging.js';
import { PersonalAddress } from '../../personalFields.js';
import { route, type Route, type RouteTag } from '../../route.js';
import { Client } from '../client/client.routes.js';
import { toWebsite, Website } from '../website/website.resource.js';
import type { Reader } from '../../../projections/reader.js';

const meTag: RouteTag = { name: 'Session', description: 'Who is calling.' };

/** How many websites `/me` lists. */
const maxWebsites = 200;

export const meRoutes = ({ reader, siteAddress }: { reader: Reader; siteAddress: SiteAddress }): readonly Route[] => {
  const toOwn = ({ website, ...access }: WebsiteOfClient) => toWebsite(website, siteAddress, access);
  return [
    route({
      method: 'get',
      path: '/me',
      operationId: 'getMe',
      summary: 'Who is calling, and the websites that they own or are linked to',
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
            client: Type.Optional(Client),
            websites: Type.Array(Website, { description: 'The newest 200.' }),
            moreWebsites: Type.Optional(Type.Literal(true, { description: 'There are more: `GET /me/websites` lists all.' })),
          }),
        },
      },
      answer: async ({ caller }) => {
        const { subject, verifiedEmail, role, clientId } = caller;
        const found = clientId === undefined ? null : await readClient(reader, clientId);
        const websites = clientId === undefined ? [] : await websitesOfClient(reader, clientId, { limit: maxWebsites + 1 });
        return {
          body: {
            subject,
            email: verifiedEmail ?? null,
            role,
            ...(found !== null && { client: found.client }),
            websites: websites.slice(0, maxWebsites).map(toOwn),
            ...(websites.length > maxWebsites && { moreWebsites: true }),
          },
        };
      },
    }),

    route({
      method: 'get',
      path: '/me/websites',
      operationId: 'listMyWebsites',
      summary: 'List the websites that the caller owns or is linked to, newest first',
      tag: meTag,
      scope: 'installation',
      access: 'signedIn',
      paging: true,
      answers: { 200: { description: 'A page of websites; of an admin none.', schema: Type.Array(Website) } },
      answer: async ({ caller: { clientId }, query }) => {
        if (clientId === undefined) return { body: [] };
        const { items, next } = await readPage(
          query,
          ({ website }: WebsiteOfClient) => website.id,
          (page) => websitesOfClient(reader, clientId, page),
        );
        return { body: items.map(toOwn), ...(next !== undefined && { next }) };
      },
    }),
  ];
};
