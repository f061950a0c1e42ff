import { Type } from 'typebox';
import { changeClient, createClient } from '../../../commands/client/client.handlers.js';
import { eraseClient, forgetPerson, type ErasureParts } from '../../../commands/erasure/erasure.handlers.js';
import { Refused, refusals } from '../../../commands/refusal.js';
import type { Engine } from '../../../engine.js';
import { FIRST_REVISION } from '../../../events/store/eventStore.js';
import type { ClientDocument } from '../../../projections/client/client.projection.js';
import {
  clientSortKey,
  clientSorts,
  countClients,
  listClients,
  readClient,
  readClientAsOf,
} from '../../../projections/client/client.queries.js';
import type { PageRequest } from '../../../projections/page.js';
import { notACursor, readNamed, readPage, totalOf } from '../../paging.js';
import { EmailAddress, NonBlank } from '../../schemas.js';
import { route, type Answer, type Route } from '../../route.js';
import type { Reader } from '../../../projections/reader.js';
import { canonicalAddress } from '../../../platform/emailAddress.js';
import { Client, clientTag } from './client.resource.js';

export const Email = EmailAddress();
const Name = NonBlank(200);

export interface ClientRouteParts {
  readonly engine: Engine;
  readonly reader: Reader;
  readonly erasure: ErasureParts;
}

export const clientRoutes = ({ engine, reader, erasure }: ClientRouteParts): readonly Route[] => {
  const toAnswer = (clientId: string, found: Awaited<ReturnType<typeof readClient>>): Answer => {
    if (found === null) throw new Refused(refusals.clientNotFound(clientId));
    return { body: found.client, revision: found.revision };
  };

  const answerWritten = async (clientId: string, revision: bigint): Promise<Answer> =>
    toAnswer(clientId, await readClientAsOf(reader, clientId, revision));

  const withPlainKey = async ({ sort, ...page }: PageRequest): Promise<PageRequest> => {
    if (sort === undefined || page.after === undefined) return { ...page, ...(sort !== undefined && { sort }) };
    const afterKey = await reader.personal.decrypt(String(sort.afterKey));
    // The client at this place was erased, so that the place is not known any more.
    if (afterKey === null) throw notACursor();
    return { ...page, sort: { ...sort, afterKey } };
  };

  return [
    route({
      method: 'post',
      path: '/clients',
      operationId: 'createClient',
      summary: 'Register a client by address',
      description: 'Somebody who is to own or see websites. Addresses are unique among clients.',
      tag: clientTag,
      example: { body: { email: 'grace@example.com', name: 'Grace Hopper' } },
      scope: 'installation',
      access: 'admin',
      body: Type.Object({ email: Email, name: Type.Optional(Name) }, { additionalProperties: false }),
      refusals: ['client_email_taken', 'client_not_found'],
      answers: { 201: { description: 'The client.', schema: Client } },
      act: ({ body: { email, name }, context }, acting) =>
        createClient(acting, { email: canonicalAddress(email), name: name?.trim() }, context),
      // The registration is the first event of a client's stream.
      answer: async (_, clientId) => ({ ...(await answerWritten(clientId, FIRST_REVISION)), status: 201 }),
    }),

    route({
      method: 'get',
      path: '/clients',
      operationId: 'listClients',
      summary: 'List clients, newest first, or read some by their ids',
      description: '`q` looks in addresses and names.',
      tag: clientTag,
      scope: 'installation',
      access: 'admin',
      paging: { sort: clientSorts, count: true, ids: true },
      query: Type.Object({
        q: Type.Optional(
          Type.String({ maxLength: 254, description: 'Part of the address or the name, without regard to case and diacritics.' }),
        ),
        email: Type.Optional(Type.String({ maxLength: 254, description: 'The whole address.' })),
      }),
      answers: { 200: { description: 'A page of clients.', schema: Type.Array(Client) } },
      answer: async ({ query, signal }) => {
        const lists = reader.until(signal);
        const named = await readNamed(query, async (id) => (await readClient(reader, id))?.client ?? null);
        if (named !== null) return { body: named, total: await totalOf(query, () => named.length) };
        const { limit: _, cursor: __, sort: ___, count, ...filter } = query;
        const { items, next } = await readPage(
          query,
          ({ id }: ClientDocument) => id,
          async (page) => listClients(lists, { ...filter, ...(await withPlainKey(page)) }),
          // A cursor becomes part of an address, which is kept in logs and histories.
          (client, field) => reader.personal.encrypt(client.email, clientSortKey(client, field)),
        );
        const total = await totalOf(query, () => countClients(lists, filter));
        return { body: items, next, total };
      },
    }),

    route({
      method: 'get',
      path: '/clients/:id',
      operationId: 'getClient',
      summary: 'Read a client',
      description: 'An erased client is not found.',
      tag: clientTag,
      scope: 'installation',
      access: 'admin',
      refusals: ['client_not_found'],
      answers: { 200: { description: 'The client.', schema: Client } },
      answer: async ({ params }) => toAnswer(params.id, await readClient(reader, params.id)),
    }),

    route({
      method: 'patch',
      path: '/clients/:id',
      operationId: 'changeClient',
      summary: "Change a client's name or address",
      description:
        'The name is the one that the agency sees; the identity provider keeps its own. Another `email` gets a mail with a link and holds once it is confirmed there, within 30 days; until then it stands in `pendingEmail`. The client then signs in with the new address; the former one gets a mail, leads to nobody, and its tokens end. The present address withdraws what is pending; another one replaces it.',
      tag: clientTag,
      example: { body: { name: 'Ada Lovelace', email: 'ada@example.org' } },
      scope: 'installation',
      access: 'admin',
      ifMatch: 'honoured',
      body: Type.Object(
        {
          name: Type.Optional(Type.Union([Name, Type.Null()], { description: '`null`: none from now on.' })),
          email: Type.Optional(Email),
        },
        { additionalProperties: false, minProperties: 1 },
      ),
      refusals: ['client_not_found', 'client_email_taken', 'client_email_invited'],
      answers: { 200: { description: 'The client.', schema: Client } },
      act: ({ params, body: { name, email }, context, expectation }, acting) => {
        const changes = {
          name: name === null ? null : name?.trim(),
          email: email === undefined ? undefined : canonicalAddress(email),
        };
        return changeClient(acting, params.id, changes, context, expectation);
      },
      answer: ({ params }, { revision }) => answerWritten(params.id, revision),
    }),

    route({
      method: 'delete',
      path: '/clients/:id',
      operationId: 'eraseClient',
      summary: 'Erase a client: access, tokens and every trace of the person, the event log included',
      description:
        "The key of the person's data is destroyed, so that no copy of the log can be read for it. It cannot be undone.",
      tag: clientTag,
      scope: 'installation',
      access: 'admin',
      ifMatch: 'honoured',
      refusals: ['client_not_found'],
      answers: { 204: { description: 'Nothing that is left of the person can be read; the address may be used anew.' } },
      act: ({ params, context, expectation }, acting) => eraseClient(acting, erasure, params.id, context, expectation),
      answer: async (_, person) => {
        await forgetPerson(engine, erasure, person);
        return { status: 204 };
      },
    }),
  ];
};
