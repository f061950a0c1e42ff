import { Type, type Static } from 'typebox';
import { Refused, refusals } from '../../../commands/refusal.js';
import { attachService, detachService } from '../../../commands/service/service.handlers.js';
import { ServiceKind } from '../../../events/service/service.events.js';
import { servicesOf } from '../../../projections/service/service.queries.js';
import type { ServiceView } from '../../../projections/service/service.projection.js';
import { pageOf, readNamed, totalOf } from '../../paging.js';
import { Secret, ShopDomain } from '../../schemas.js';
import { noContent, route, type Route, type RouteTag } from '../../route.js';
import type { Reader } from '../../../projections/reader.js';

const serviceTag: RouteTag = {
  name: 'Services',
  description: 'Services of one website: its shop, its scheduling account, its analytics site.',
};
const secret = (description: string) => Type.Optional(Secret(500, { description }));
const maxSecrets = 20;
const SecretName = Type.String({
  pattern: '^[A-Za-z][\\w.-]{0,63}$',
  'x-issue': 'use 1 to 64 letters, digits, dots, dashes and underscores, a letter first',
});

const settings = {
  shopDomain: Type.Optional(ShopDomain({ description: 'Of `commerce`: the shop.' })),
  eventTypeIds: Type.Optional(
    Type.Array(Type.Integer({ minimum: 1 }), {
      minItems: 1,
      maxItems: 50,
      description: 'Of `scheduling`: what can be booked, when it does not carry the website’s slug.',
    }),
  ),
  siteId: Type.Optional(
    Type.String({
      maxLength: 253,
      pattern: '^\\S+$',
      'x-issue': 'must not be empty or hold spaces',
      description: 'Of `analytics`: the site at the provider, when it is not the website’s hostname.',
    }),
  ),
};

const ServiceInput = Type.Object({
  kind: ServiceKind,
  ...settings,
  secrets: Type.Optional(
    Type.Object(
      {
        adminToken: secret('Of `commerce`: an access token of the Admin API, with which products are listed.'),
        apiKey: secret('Of `scheduling`: a key of an account of its own, with which bookings are listed.'),
      },
      {
        description: 'Kept in the vault; they never come back. Others than those that are named here are kept, and not used.',
        additionalProperties: Type.String({ minLength: 1, maxLength: 4_000, writeOnly: true }),
        propertyNames: SecretName,
        maxProperties: maxSecrets,
      },
    ),
  ),
});

/** What each kind may say and has to say, beside secrets. */
const fieldsOf: Readonly<Record<ServiceKind, { readonly may: readonly string[]; readonly must: readonly string[] }>> = {
  commerce: { may: ['shopDomain'], must: ['shopDomain'] },
  scheduling: { may: ['eventTypeIds'], must: [] },
  analytics: { may: ['siteId'], must: [] },
};

/** @throws Refused */
const checkFields = ({ kind, secrets: _, ...fields }: Static<typeof ServiceInput>): void => {
  const said = Object.keys(fields);
  const { may, must } = fieldsOf[kind];
  const [first, ...others] = [
    ...must.filter((field) => !said.includes(field)).map((field) => ({ field, issue: 'is required' })),
    ...said.filter((field) => !may.includes(field)).map((field) => ({ field, issue: `is not a field of a ${kind} service` })),
  ];
  if (first !== undefined) throw new Refused(refusals.invalidBody(first.field, first.issue, others));
};

const Service = Type.Object(
  {
    id: Type.String(),
    websiteId: Type.String(),
    kind: ServiceKind,
    shopDomain: Type.Optional(Type.String()),
    eventTypeIds: Type.Optional(Type.Array(Type.Integer())),
    siteId: Type.Optional(Type.String()),
    secretNames: Type.Array(Type.String(), { description: 'The names of its stored secrets.' }),
    createdAt: Type.String({ format: 'date-time' }),
  },
  { $id: 'Service', description: 'Something outside that belongs to the website.' },
);

const toService = (websiteId: string, service: ServiceView): Static<typeof Service> => {
  const { id, kind, shopDomain, eventTypeIds, siteId, secretNames, createdAt } = service;
  return {
    id,
    websiteId,
    kind,
    ...(shopDomain !== undefined && { shopDomain }),
    ...(eventTypeIds !== undefined && { eventTypeIds: [...eventTypeIds] }),
    ...(siteId !== undefined && { siteId }),
    secretNames: [...secretNames],
    createdAt,
  };
};

/** @throws Refused: `Service <id> not found` */
const findService = async (reader: Reader, websiteId: string, serviceId: string, through?: bigint): Promise<ServiceView> => {
  const service = (await servicesOf(reader, websiteId, through)).find(({ id }) => id === serviceId);
  if (service === undefined) throw new Refused(refusals.serviceNotFound(serviceId));
  return service;
};

/**
 * The services that belong to one website: a shop, an account of a scheduling service, a site of an
 * analytics provider.
 */
export const serviceRoutes = ({ reader }: { reader: Reader }): readonly Route[] => [
  route({
    method: 'get',
    path: '/websites/:id/services',
    operationId: 'listServices',
    summary: 'List the services of a website, or read some by their ids',
    description: 'The names of their secrets are listed; the secrets never come back.',
    tag: serviceTag,
    scope: 'website',
    access: 'admin',
    paging: { count: true, ids: true },
    answers: { 200: { description: 'One of each kind at most, the newest first.', schema: Type.Array(Service) } },
    answer: async ({ params: { id }, query }) => {
      const services = await servicesOf(reader, id);
      const shown = (some: readonly ServiceView[]) => some.map((service) => toService(id, service));
      const named = await readNamed(query, (serviceId) => Promise.resolve(services.find((one) => one.id === serviceId) ?? null));
      if (named !== null) return { body: shown(named), total: await totalOf(query, () => named.length) };
      const { items, next } = await pageOf(query, services);
      return { body: shown(items), next, total: await totalOf(query, () => services.length) };
    },
  }),

  route({
    method: 'post',
    path: '/websites/:id/services',
    operationId: 'attachService',
    summary: 'Attach a service to a website, in place of the one of its kind',
    description: 'The one of the same kind is detached first. Secrets go into the vault.',
    tag: serviceTag,
    example: { body: { kind: 'commerce', shopDomain: 'corner-bakery.myshopify.com', secrets: { adminToken: 'example-token' } } },
    scope: 'website',
    access: 'admin',
    body: ServiceInput,
    refusals: ['feature_off', 'service_not_found'],
    answers: { 201: { description: 'The service.', schema: Service } },
    act: async ({ params, body, context, website }, acting) => {
      const { kind, shopDomain, eventTypeIds, siteId, secrets = {} } = body;
      // Each kind has the feature of its name.
      if (!website.website.features.includes(kind)) throw new Refused(refusals.featureOff(kind));
      checkFields(body);
      const input = { websiteId: params.id, kind, shopDomain: shopDomain?.toLowerCase(), eventTypeIds, siteId };
      return attachService(acting, input, secrets, context);
    },
    answer: async ({ params }, { serviceId, revision }) => {
      // Not found when the command was repeated, and the service detached between the two.
      const service = await findService(reader, params.id, serviceId, revision);
      return { status: 201, body: toService(params.id, service) };
    },
  }),

  route({
    method: 'get',
    path: '/websites/:id/services/:serviceId',
    operationId: 'getService',
    summary: 'Read a service of a website',
    description: 'The names of its secrets are listed; the secrets never come back.',
    tag: serviceTag,
    scope: 'website',
    access: 'admin',
    refusals: ['service_not_found'],
    answers: { 200: { description: 'The service.', schema: Service } },
    answer: async ({ params: { id, serviceId } }) => ({ body: toService(id, await findService(reader, id, serviceId)) }),
  }),

  route({
    method: 'delete',
    path: '/websites/:id/services/:serviceId',
    operationId: 'detachService',
    summary: 'Take a service away from a website, and destroy its secrets',
    description: 'Its secrets are destroyed with it.',
    tag: serviceTag,
    scope: 'website',
    access: 'admin',
    refusals: ['service_not_found'],
    answers: { 204: { description: 'It is gone.' } },
    act: ({ params: { id: websiteId, serviceId }, context }, acting) => detachService(acting, { websiteId, serviceId }, context),
    answer: noContent,
  }),
];
