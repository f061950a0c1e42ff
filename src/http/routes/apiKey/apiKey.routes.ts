import { Type } from 'typebox';
import { mintApiKey, revokeApiKey } from '../../../commands/apiKey/apiKey.handlers.js';
import { Refused, refusals } from '../../../commands/refusal.js';
import { FIRST_REVISION } from '../../../events/store/eventStore.js';
import { apiKeyProjection, type APIKeyDocument } from '../../../projections/apiKey/apiKey.projection.js';
import { countApiKeys, listApiKeys, readApiKeyOf } from '../../../projections/apiKey/apiKey.queries.js';
import type { KeyUse } from '../../auth/keyUse.js';
import { readNamed, readPage, totalOf } from '../../paging.js';
import { NonBlank } from '../../schemas.js';
import { noContent, route, type Route, type RouteTag } from '../../route.js';
import type { Reader } from '../../../projections/reader.js';
import { APIKey, MintedAPIKey, toApiKey, toUsedApiKey } from './apiKey.resource.js';

const apiKeyTag: RouteTag = {
  name: 'API keys',
  description: "Personal access tokens: the caller's own, and anybody's for admins.",
};

/** Everybody's own personal access tokens, of their role or lower; an admin sees anybody's. */
export const apiKeyRoutes = ({ reader, keyUse }: { reader: Reader; keyUse: KeyUse }): readonly Route[] => [
  route({
    method: 'post',
    path: '/api-keys',
    operationId: 'mintAPIKey',
    summary: 'Mint a personal access token for oneself',
    description:
      'The whole token stands in this answer alone. What is minted with a token has no more rights than that token, and falls with it. At most 50 live keys a subject. An access token that a device got (device authorization grant, RFC 8628) is exchanged for one key, once for each sign-in of a device; the key ends by its expiry or by being revoked, and with neither the sign-in nor a sign-out.',
    tag: apiKeyTag,
    example: { body: { name: 'Continuous integration', scope: 'read' } },
    scope: 'installation',
    access: 'signedIn',
    body: Type.Object(
      {
        name: NonBlank(100),
        role: Type.Optional(
          Type.Enum(['admin', 'client'], { description: "No more than the caller's own, which is the default." }),
        ),
        scope: Type.Optional(Type.Enum(['read', 'write'], { default: 'write' })),
        expiresAt: Type.Optional(
          Type.String({
            format: 'date-time',
            description: 'Minted with a token: no later than the end of that token, which is the default.',
          }),
        ),
      },
      { additionalProperties: false },
    ),
    refusals: ['api_key_role_too_high', 'too_many_api_keys', 'device_grant_exchanged', 'api_key_not_found'],
    answers: { 201: { description: 'The key, with its token.', schema: MintedAPIKey } },
    act: ({ body, caller, context, secret }, acting) => {
      const input = {
        name: body.name.trim(),
        subject: caller.subject,
        callerRole: caller.role,
        role: body.role ?? caller.role,
        scope: body.scope ?? 'write',
        verifiedEmail: caller.verifiedEmail,
        userName: caller.name,
        expiresAt: body.expiresAt,
        parentId: caller.tokenId,
        deviceGrant: caller.deviceGrant,
      };
      return mintApiKey(acting, input, secret, context);
    },
    answer: async (_, { token, id }) => {
      // The minting is the first event of a key's stream.
      const { document } = await reader.read(apiKeyProjection, id, FIRST_REVISION);
      if (document === null) throw new Error(`API key ${id} is gone the moment it was minted`);
      return { status: 201, body: { ...toApiKey(document), token } };
    },
  }),

  route({
    method: 'get',
    path: '/api-keys',
    operationId: 'listAPIKeys',
    summary: 'List personal access tokens, newest first, or read some by their ids',
    description:
      'By their first 12 characters, with when they were last used. With `ids`, those of them that the list has: of another subject, `subject` names whose.',
    tag: apiKeyTag,
    scope: 'installation',
    access: 'signedIn',
    paging: { count: true, ids: true },
    query: Type.Object({
      subject: Type.Optional(
        Type.String({ minLength: 1, description: "Whose keys. Default: the caller's own; of others only for admins." }),
      ),
    }),
    refusals: ['admin_required'],
    answers: { 200: { description: "A page of keys of the caller's role or lower.", schema: Type.Array(APIKey) } },
    answer: async ({ query, caller }) => {
      const { subject = caller.subject, ...list } = query;
      const isAdmin = caller.role === 'admin';
      if (subject !== caller.subject && !isAdmin) throw new Refused(refusals.adminRequired());
      const of = { subject, ...(!isAdmin && { role: 'client' as const }) };
      const shown = (keys: readonly APIKeyDocument[]) => Promise.all(keys.map((document) => toUsedApiKey(document, keyUse)));
      const named = await readNamed(list, (id) => readApiKeyOf(reader, of, id));
      if (named !== null) return { body: await shown(named), total: await totalOf(query, () => named.length) };
      const { items, next } = await readPage(
        query,
        ({ id }: APIKeyDocument) => id,
        (page) => listApiKeys(reader, { ...of, ...page }),
      );
      const total = await totalOf(query, () => countApiKeys(reader, of));
      return { body: await shown(items), next, total };
    },
  }),

  route({
    method: 'get',
    path: '/api-keys/:id',
    operationId: 'getAPIKey',
    summary: 'Read a personal access token, without the token',
    description: "The caller's own of their role or lower; admins read anybody's. A revoked one is not found.",
    tag: apiKeyTag,
    scope: 'installation',
    access: 'signedIn',
    refusals: ['api_key_not_found'],
    answers: { 200: { description: 'The key.', schema: APIKey } },
    answer: async ({ params: { id }, caller }) => {
      const { document } = await reader.read(apiKeyProjection, id);
      const isShown =
        caller.role === 'admin' ||
        (document?.role === 'client' && (await reader.personal.decrypt(document.subject)) === caller.subject);
      if (document === null || !isShown) throw new Refused(refusals.apiKeyNotFound(id));
      return { body: await toUsedApiKey(document, keyUse) };
    },
  }),

  route({
    method: 'delete',
    path: '/api-keys/:id',
    operationId: 'revokeAPIKey',
    summary: 'Revoke a personal access token: it, and what was minted with it, stops working at once',
    description: 'Also in the middle of a request whose body is still coming, and for event streams.',
    tag: apiKeyTag,
    scope: 'installation',
    access: 'signedIn',
    refusals: ['api_key_not_found'],
    answers: { 204: { description: 'It no longer works.' } },
    act: async ({ params: { id }, caller: { role: callerRole, subject }, context }, acting) => {
      const by = { role: callerRole, ...(callerRole !== 'admin' && { subject }) };
      if (!(await revokeApiKey(acting, id, by, context))) throw new Refused(refusals.apiKeyNotFound(id));
    },
    answer: noContent,
  }),
];
