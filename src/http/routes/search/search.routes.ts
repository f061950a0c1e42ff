import { Type } from 'typebox';
import { websiteIdsOfClient, websiteRoleOf } from '../../../projections/access/access.queries.js';
import { searchClients } from '../../../projections/client/client.queries.js';
import type { Reader } from '../../../projections/reader.js';
import { searchWebsites } from '../../../projections/website/website.queries.js';
import { standingOf } from '../../auth/rules.js';
import { route, type Route, type RouteTag } from '../../route.js';
import { Client } from '../client/client.resource.js';
import { toWebsite, Website, type WebsiteAddresses } from '../website/website.resource.js';

const searchTag: RouteTag = { name: 'Search', description: 'Finding websites and clients by a part of their names.' };

/** Of websites, and of clients. */
const maxFound = 20;

/** Finds websites and clients while somebody types. */
export const searchRoutes = ({ reader, ...addresses }: WebsiteAddresses & { readonly reader: Reader }): readonly Route[] => {
  const websitesOf = async (lists: Reader, clientId: string, q: string) => {
    const ids = await websiteIdsOfClient(lists, clientId);
    const found = ids.length === 0 ? [] : await searchWebsites(lists, q, maxFound, ids);
    const own = await Promise.all(
      found.map(async (website) => {
        const way = await websiteRoleOf(reader, website, clientId);
        return way === null ? [] : [toWebsite(website, addresses, standingOf(way))];
      }),
    );
    return own.flat();
  };

  return [
    route({
      method: 'get',
      path: '/search',
      operationId: 'search',
      summary: 'Find websites and clients by a part of their names',
      description:
        'Websites by name and slug, for admins also clients by name and address; without regard to case and diacritics, at most 20 of each. ' +
        'First the website whose slug it is, then those in which a word begins so, then those that contain it; the newest of each first. ' +
        'One or two characters find beginnings of words. Clients of the agency find their own websites. Archived websites are not found.',
      tag: searchTag,
      scope: 'installation',
      access: 'signedIn',
      query: Type.Object({
        q: Type.String({ minLength: 1, maxLength: 200, description: 'What is searched.', examples: ['bak'] }),
      }),
      answers: {
        200: {
          description: 'What was found.',
          schema: Type.Object(
            {
              websites: Type.Array(Website),
              clients: Type.Optional(Type.Array(Client, { description: 'For admins: clients.' })),
            },
            { $id: 'SearchResult', description: 'What was found.' },
          ),
        },
      },
      answer: async ({ query, caller: { role, clientId }, signal }) => {
        const q = query.q.trim();
        const lists = reader.until(signal);
        if (role === 'client')
          return { body: { websites: clientId === undefined || q === '' ? [] : await websitesOf(lists, clientId, q) } };
        if (q === '') return { body: { websites: [], clients: [] } };
        const [websites, clients] = await Promise.all([searchWebsites(lists, q, maxFound), searchClients(lists, q, maxFound)]);
        return { body: { websites: websites.map((website) => toWebsite(website, addresses, 'admin')), clients } };
      },
    }),
  ];
};
