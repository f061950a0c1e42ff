import { Type } from 'typebox';
import type { SiteAddress } from '../../../integrations/hosting/port.js';
import { websitesOfClient } from '../../../projections/access/access.queries.js';
import { readClient } from '../../../projections/client/client.queries.js';
import { PersonalAddress } from '../../personalFields.js';
import { route, type Route, type RouteTag } from '../../route.js';
import { Client } from '../client/client.routes.js';
import { toWebsite, Website } from '../website/website.resource.js';
import type { Reader } from '../../../projections/reader.js';

const meTag: RouteTag = { name: 'Session', description: 'Who is calling.' };

export const meRoutes = ({ reader, siteAddress }: { reader: Reader; siteAddress: SiteAddress }): readonly Route[] => [
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
          websites: Type.Array(Website),
        }),
      },
    },
    answer: async ({ caller }) => {
      const { subject, verifiedEmail, role, clientId } = caller;
      const found = clientId === undefined ? null : await readClient(reader, clientId);
      const websites = clientId === undefined ? [] : await websitesOfClient(reader, clientId);
      return {
        body: {
          subject,
          email: verifiedEmail ?? null,
          role,
          ...(found !== null && { client: found.client }),
          websites: websites.map(({ website, ...access }) => toWebsite(website, siteAddress, access)),
        },
      };
    },
  }),
];
