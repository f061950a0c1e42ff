import { Type } from 'typebox';
import { createClient, renameClient } from '../../../commands/client/client.handlers.js';
import { eraseClient, type ErasureParts } from '../../../commands/erasure/erasure.handlers.js';
import { Refused, refusals } from '../../../commands/refusal.js';
import type { Engine } from '../../../engine.js';
import type { ClientDocument } from '../../../projections/client/client.projection.js';
import { listClients, readClient } from '../../../projections/client/client.queries.js';
import { afterWrite } from '../../afterWrite.js';
import { pageQuery, readPage } from '../../paging.js';
import { clientParams } from '../../params.js';
import { route, type Answer, type Route } from '../../route.js';
import type { Reader } from '../../../projections/reader.js';

const tag = 'Clients';

export const Email = Type.String({ format: 'email', maxLength: 254 });
const Name = Type.String({ minLength: 1, maxLength: 200, pattern: '\\S' });

export const Client = Type.Object(
  {
    id: Type.String(),
    email: Type.String(),
    name: Type.Optional(Type.String()),
    createdAt: Type.String({ format: 'date-time' }),
  },
  { $id: 'Client' },
);

export interface ClientRouteParts {
  readonly engine: Engine;
  readonly reader: Reader;
  readonly erasure: ErasureParts;
}

export const clientRoutes = ({ engine, reader, erasure }: ClientRouteParts): readonly Route[] => {
  const answer = async (clientId: string, status = 200): Promise<Answer> => {
    const found = await readClient(reader, clientId);
    if (found === null) throw new Refused(refusals.clientNotFound(clientId));
    return { status, body: found.client, revision: found.revision };
  };

  return [
    route({
      method: 'post',
      path: '/clients',
      operationId: 'createClient',
      summary: 'Register a client by address',
      tag,
      access: 'admin',
      body: Type.Object({ email: Email, name: Type.Optional(Name) }, { additionalProperties: false }),
      answers: { 201: { description: 'The client.', schema: Client } },
      handle: async (request) => {
        const { email, name } = request.body;
        const clientId = await createClient(engine, { email: email.toLowerCase(), name: name?.trim() }, request.context);
        return afterWrite(request, () => answer(clientId, 201));
      },
    }),

    route({
      method: 'get',
      path: '/clients',
      operationId: 'listClients',
      summary: 'List clients, newest first',
      tag,
      access: 'admin',
      query: Type.Object({
        ...pageQuery,
        q: Type.Optional(Type.String({ maxLength: 254, description: 'Part of the address or the name.' })),
        email: Type.Optional(Type.String({ maxLength: 254, description: 'The whole address.' })),
      }),
      answers: { 200: { description: 'A page of clients.', schema: Type.Array(Client) } },
      handle: async ({ query }) => {
        const { items, next } = await readPage(
          query,
          ({ id }: ClientDocument) => id,
          (page) => listClients(reader, { ...query, ...page }),
        );
        return { body: items, ...(next !== undefined && { next }) };
      },
    }),

    route({
      method: 'get',
      path: '/clients/:id',
      operationId: 'getClient',
      summary: 'Read a client',
      tag,
      access: 'admin',
      params: clientParams,
      answers: { 200: { description: 'The client.', schema: Client } },
      handle: ({ params }) => answer(params.id),
    }),

    route({
      method: 'patch',
      path: '/clients/:id',
      operationId: 'renameClient',
      summary: "Change a client's name",
      tag,
      access: 'admin',
      params: clientParams,
      body: Type.Object({ name: Name }, { additionalProperties: false }),
      answers: { 200: { description: 'The client.', schema: Client } },
      handle: async (request) => {
        const { params, body, context, ifMatch } = request;
        await renameClient(
          engine,
          params.id,
          body.name.trim(),
          context,
          ifMatch === undefined ? {} : { expectedRevision: ifMatch },
        );
        return afterWrite(request, () => answer(params.id));
      },
    }),

    route({
      method: 'delete',
      path: '/clients/:id',
      operationId: 'eraseClient',
      summary: 'Erase a client: access, tokens and every trace of the person, the event log included',
      tag,
      access: 'admin',
      params: clientParams,
      answers: { 204: { description: 'Nothing that is left of the person can be read; the address may be used anew.' } },
      handle: async ({ params, context }) => {
        await eraseClient(engine, erasure, params.id, context);
        return { status: 204 };
      },
    }),
  ];
};
