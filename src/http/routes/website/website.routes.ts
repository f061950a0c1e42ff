import { Type } from 'typebox';
import { Refused, refusals, type Refusal } from '../../../commands/refusal.js';
import {
  archiveWebsite,
  changeWebsite,
  createWebsite,
  removeOwner,
  restoreWebsite,
} from '../../../commands/website/website.handlers.js';
import { FIRST_REVISION } from '../../../events/store/eventStore.js';
import { Feature, Tier } from '../../../events/website/website.events.js';
import type { SiteAddress } from '../../../integrations/hosting/port.js';
import type { Payments } from '../../../integrations/payments/port.js';
import type { SourceHost } from '../../../integrations/sourceHost/port.js';
import { openTransfers } from '../../../projections/access/access.queries.js';
import { listWebsites } from '../../../projections/website/website.queries.js';
import { websiteProjection, type WebsiteDocument } from '../../../projections/website/website.projection.js';
import { readPage } from '../../paging.js';
import { noContent, route, type Answer, type Route, type RouteTag } from '../../route.js';
import { toWebsite, Website, withBilling } from './website.resource.js';
import type { Reader } from '../../../projections/reader.js';

const websiteTag: RouteTag = { name: 'Websites', description: 'Websites and their life.' };
const oneWebsite = { 200: { description: 'The website.', schema: Website } };

const slugForm = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;
const hexColour = /^#[0-9a-fA-F]{6}$/;

const isBlank = (value: unknown): boolean =>
  value === undefined || value === null || (typeof value === 'string' && value.trim() === '');

const checkColour = ({ brandColor }: Record<string, unknown>): Refusal | null =>
  brandColor === undefined || (typeof brandColor === 'string' && hexColour.test(brandColor))
    ? null
    : refusals.notHexColour('brandColor');

const isRecord = (body: unknown): body is Record<string, unknown> =>
  typeof body === 'object' && body !== null && !Array.isArray(body);

/**
 * Website creation is checked by hand first: its messages are the specification's (api.md, section
 * 3).
 */
const checkCreation = (body: unknown): Refusal | null => {
  if (!isRecord(body)) return null;
  for (const field of ['name', 'slug']) {
    if (isBlank(body[field])) return refusals.fieldRequired(field);
  }
  return checkColour(body);
};

const checkChange = (body: unknown): Refusal | null => {
  if (!isRecord(body)) return null;
  if (body.name !== undefined && isBlank(body.name)) return refusals.fieldRequired('name');
  return checkColour(body);
};

const name = Type.String({ maxLength: 200, pattern: '\\S' });
const brandColor = Type.Optional(Type.String({ pattern: hexColour.source, description: '`#RRGGBB`.' }));
const clientId = Type.Optional(Type.String({ minLength: 1, maxLength: 200, description: 'The owning client.' }));
const newOwner = Type.Optional(
  Type.Union([Type.String({ minLength: 1, maxLength: 200 }), Type.Null()], {
    description: 'The owning client, who is charged nothing without the claim of a transfer; `null`: nobody.',
  }),
);
const featureList = Type.Array(Feature, { uniqueItems: true, maxItems: 20 });

export const websiteRoutes = (parts: {
  reader: Reader;
  sourceHost: SourceHost;
  payments: Payments;
  siteAddress: SiteAddress;
}): readonly Route[] => {
  const { reader, sourceHost, siteAddress } = parts;
  /** @param left the revision that the command left the website at */
  const answerWritten = async (websiteId: string, left: bigint): Promise<Answer> => {
    const { document, revision } = await reader.read(websiteProjection, websiteId, left);
    if (document === null) throw new Refused(refusals.websiteNotFound(websiteId));
    return { body: await withBilling(parts, toWebsite(document, siteAddress)), revision };
  };

  const requireTemplate = async (templateId: string): Promise<void> => {
    const templates = await sourceHost.listTemplates();
    if (!templates.some(({ id }) => id === templateId)) {
      throw new Refused(refusals.invalidBody('templateId', `template ${templateId} does not exist`));
    }
  };

  return [
    route({
      method: 'post',
      path: '/websites',
      operationId: 'createWebsite',
      summary: 'Create a website and queue its provisioning',
      tag: websiteTag,
      scope: 'installation',
      access: 'admin',
      precheck: checkCreation,
      body: Type.Object(
        {
          name,
          slug: Type.String({ pattern: slugForm.source, description: 'A DNS label; unique among all websites.' }),
          templateId: Type.Optional(
            Type.String({ minLength: 1, maxLength: 100, description: 'Default: the source host’s own default template.' }),
          ),
          clientId,
          tier: Type.Optional(Tier),
          features: Type.Optional(featureList),
          brandColor,
          collaborators: Type.Optional(
            Type.Array(Type.String({ pattern: '^[A-Za-z0-9](?:[A-Za-z0-9-]{0,37}[A-Za-z0-9])?$' }), {
              uniqueItems: true,
              maxItems: 50,
              description: 'Usernames on the source host.',
            }),
          ),
        },
        { additionalProperties: false },
      ),
      refusals: ['field_required', 'not_hex_colour', 'slug_taken', 'client_not_found', 'feature_not_on_tier'],
      answers: { 201: { description: 'The website, being provisioned.', schema: Website } },
      act: async ({ body, context }, acting) => {
        const templateId = body.templateId ?? sourceHost.defaultTemplateId;
        await requireTemplate(templateId);
        const input = {
          ...body,
          name: body.name.trim(),
          templateId,
          tier: body.tier ?? 'starter',
          collaborators: body.collaborators ?? [],
        };
        return createWebsite(acting, input, context);
      },
      // The creation is the first event of a website's stream.
      answer: async (_, { websiteId }) => ({ ...(await answerWritten(websiteId, FIRST_REVISION)), status: 201 }),
    }),

    route({
      method: 'get',
      path: '/websites',
      operationId: 'listWebsites',
      summary: 'List websites, newest first',
      tag: websiteTag,
      scope: 'installation',
      access: 'admin',
      paging: true,
      query: Type.Object({
        status: Type.Optional(Type.Enum(['provisioning', 'active'])),
        clientId,
        q: Type.Optional(Type.String({ maxLength: 200, description: 'Part of the name or the slug.' })),
        archived: Type.Optional(Type.Boolean({ default: false, description: 'The archived ones instead.' })),
      }),
      answers: { 200: { description: 'A page of websites.', schema: Type.Array(Website) } },
      answer: async ({ query }) => {
        const { items, next } = await readPage(
          query,
          ({ id }: WebsiteDocument) => id,
          (page) => listWebsites(reader, { ...query, ...page }),
        );
        return { body: items.map((document) => toWebsite(document, siteAddress)), ...(next !== undefined && { next }) };
      },
    }),

    route({
      method: 'get',
      path: '/websites/:id',
      operationId: 'getWebsite',
      summary: 'Read a website',
      tag: websiteTag,
      scope: 'website',
      access: 'members',
      answers: oneWebsite,
      answer: async ({ website }) => ({
        body: await withBilling(parts, toWebsite(website.website, siteAddress, website)),
        revision: website.revision,
      }),
    }),

    route({
      method: 'patch',
      path: '/websites/:id',
      operationId: 'changeWebsite',
      summary: 'Change name, tier, features, colour or owner',
      tag: websiteTag,
      scope: 'website',
      access: 'admin',
      precheck: checkChange,
      body: Type.Object(
        {
          name: Type.Optional(name),
          tier: Type.Optional(Tier),
          features: Type.Optional(featureList),
          brandColor,
          clientId: newOwner,
        },
        { additionalProperties: false },
      ),
      refusals: ['field_required', 'not_hex_colour', 'client_not_found', 'feature_not_on_tier'],
      answers: oneWebsite,
      act: async ({ params: { id: websiteId }, body, context, expectation }, acting) => {
        const openOffers = typeof body.clientId !== 'string' ? [] : await openTransfers(reader, websiteId);
        const input = { ...body, ...(body.name !== undefined && { name: body.name.trim() }), websiteId, openOffers };
        return changeWebsite(acting, input, context, expectation);
      },
      answer: ({ params }, { revision }) => answerWritten(params.id, revision),
    }),

    route({
      method: 'delete',
      path: '/websites/:id/owner',
      operationId: 'removeOwner',
      summary: 'Take the website from its owner; their subscription for it is cancelled',
      tag: websiteTag,
      scope: 'website',
      access: 'admin',
      whenArchived: 'allowed',
      refusals: ['owner_not_found'],
      answers: {
        204: {
          description:
            'Nobody owns it now. The former owner has no access any more, and is invoiced for nothing further: ' +
            'a subscription is cancelled at the payment provider shortly.',
        },
      },
      act: async ({ params: { id: websiteId }, website: { website }, context }, acting) => {
        const { clientId: ownerId } = website;
        if (ownerId === undefined) throw new Refused(refusals.ownerNotFound(websiteId));
        await removeOwner(acting, { websiteId, clientId: ownerId }, context);
      },
      answer: noContent,
    }),

    route({
      method: 'post',
      path: '/websites/:id/archive',
      operationId: 'archiveWebsite',
      summary: 'Take a website off the default list and refuse writes to it',
      tag: websiteTag,
      scope: 'website',
      access: 'admin',
      whenArchived: 'allowed',
      answers: oneWebsite,
      act: ({ params, context }, acting) => archiveWebsite(acting, params.id, context),
      answer: ({ params }, { revision }) => answerWritten(params.id, revision),
    }),

    route({
      method: 'post',
      path: '/websites/:id/restore',
      operationId: 'restoreWebsite',
      summary: 'Bring an archived website back',
      tag: websiteTag,
      scope: 'website',
      access: 'admin',
      whenArchived: 'allowed',
      answers: oneWebsite,
      act: ({ params, context }, acting) => restoreWebsite(acting, params.id, context),
      answer: ({ params }, { revision }) => answerWritten(params.id, revision),
    }),
  ];
};
