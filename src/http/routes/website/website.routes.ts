import { Type } from 'typebox';
import { Refused, refusals } from '../../../commands/refusal.js';
import { changeWebsite, createWebsite, isSlugTaken, removeOwner } from '../../../commands/website/website.handlers.js';
import { defaultTier, websiteDecider } from '../../../commands/website/website.decider.js';
import type { Engine } from '../../../engine.js';
import { FIRST_REVISION } from '../../../events/store/eventStore.js';
import { Feature, keepable, Tier, type Kept } from '../../../events/website/website.events.js';
import type { Payments } from '../../../integrations/payments/port.js';
import type { SourceHost } from '../../../integrations/sourceHost/port.js';
import { openTransfers } from '../../../projections/access/access.queries.js';
import { entityId } from '../../../platform/ids.js';
import { isoTime } from '../../../platform/clock.js';
import type { WebsiteOverview } from '../../../projections/website/overview.projection.js';
import {
  countWebsites,
  listedNow,
  listOverviews,
  toListed,
  websiteSortKey,
  websiteSorts,
  type ListedWebsite,
} from '../../../projections/website/website.queries.js';
import { siteProcess } from '../../../workers/site/site.process.js';
import { websiteProjection } from '../../../projections/website/website.projection.js';
import { readNamed, readPage, totalOf } from '../../paging.js';
import { HexColour, maxCollaborators, NonBlank, Slug, SourceHostUsername } from '../../schemas.js';
import { noContent, route, type Answer, type Route, type RouteTag } from '../../route.js';
import { checkChange, checkCreation, together } from './checkWebsite.js';
import { toListedWebsite, toWebsite, Website, withBilling, type WebsiteAddresses } from './website.resource.js';
import type { Reader } from '../../../projections/reader.js';

const websiteTag: RouteTag = { name: 'Websites', description: 'Websites and their life.' };
const oneWebsite = { 200: { description: 'The website.', schema: Website } };

const name = NonBlank(200);
const colour = HexColour({ description: '`#RRGGBB`.' });
const newColour = Type.Optional(Type.Union([colour, Type.Null()], { description: "`null`: the template's own." }));
const clientId = Type.Optional(Type.String({ minLength: 1, maxLength: 200, description: 'The owning client.' }));
const newOwner = Type.Optional(
  Type.Union([Type.String({ minLength: 1, maxLength: 200 }), Type.Null()], {
    description: 'The owning client, who is charged nothing without the claim of a transfer; `null`: nobody.',
  }),
);
const featureList = Type.Array(Feature, { uniqueItems: true, maxItems: 20 });

const keptIn = (list: string | undefined): readonly Kept[] | undefined => {
  if (list === undefined) return undefined;
  const named = list.split(',').filter((one) => one !== '');
  const kept = keepable.filter((one) => named.includes(one));
  if (kept.length < new Set(named).size) throw new Refused(refusals.invalidQuery('keep', 'name repository, hosting, or both'));
  return kept;
};

export const websiteRoutes = (
  parts: WebsiteAddresses & {
    engine: Engine;
    reader: Reader;
    sourceHost: SourceHost;
    payments: Payments;
  },
): readonly Route[] => {
  const { engine, reader, sourceHost } = parts;
  /** @param left the revision that the command left the website at */
  const answerWritten = async (websiteId: string, left: bigint): Promise<Answer> => {
    const { document, revision } = await reader.read(websiteProjection, websiteId, left);
    if (document === null) throw new Refused(refusals.websiteNotFound(websiteId));
    return { body: await withBilling(parts, toWebsite(document, parts, 'admin'), 'admin'), revision };
  };

  const requireTemplate = async (templateId: string, slug: string): Promise<void> => {
    const templates = await sourceHost.listTemplates();
    if (templates.some(({ id }) => id === templateId)) return;
    const unknown = refusals.invalidBody('templateId', `template ${templateId} does not exist`);
    throw new Refused((await isSlugTaken(engine, slug)) ? together(refusals.slugTaken(), unknown) : unknown);
  };

  return [
    route({
      method: 'post',
      path: '/websites',
      operationId: 'createWebsite',
      summary: 'Create a website and queue its provisioning',
      description:
        'Stores the website with status `provisioning`, queues its provisioning and answers at once; follow `/provisioning/events` until it is `active`. Every fault of the body is told in `details`. Repeat it with an `Idempotency-Key`: a slug is taken only once.',
      tag: websiteTag,
      example: { body: { name: 'Corner Bakery', slug: 'corner-bakery', tier: 'growth', brandColor: '#7a4b2a' } },
      scope: 'installation',
      access: 'admin',
      asksProvider: true,
      precheck: checkCreation(engine),
      body: Type.Object(
        {
          name,
          slug: Slug({ description: 'A DNS label; unique among all websites.' }),
          templateId: Type.Optional(
            Type.String({ minLength: 1, maxLength: 100, description: 'Default: the source host’s own default template.' }),
          ),
          clientId,
          tier: Type.Optional(Tier),
          features: Type.Optional(featureList),
          brandColor: Type.Optional(colour),
          collaborators: Type.Optional(
            Type.Array(SourceHostUsername(), {
              uniqueItems: true,
              maxItems: maxCollaborators,
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
        await requireTemplate(templateId, body.slug);
        const input = {
          ...body,
          name: body.name.trim(),
          templateId,
          tier: body.tier ?? defaultTier,
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
      summary: 'List websites, newest first, or read some by their ids',
      description:
        'All websites that are not archived, or, with `archived=true`, those that are; each with how its delivery and its provisioning stand. ' +
        'Sorted by `estimatedCompletionAt`, those without one come last.',
      tag: websiteTag,
      scope: 'installation',
      access: 'admin',
      paging: { sort: websiteSorts, count: true, ids: true },
      query: Type.Object({
        status: Type.Optional(Type.Enum(['provisioning', 'active'])),
        clientId: Type.Optional(Type.String({ minLength: 1, maxLength: 200, description: 'The owner, or a linked client.' })),
        slug: Type.Optional(Slug({ description: 'The whole slug.' })),
        tier: Type.Optional(Tier),
        feature: Type.Optional(Feature),
        provisioning: Type.Optional(
          Type.Enum(['queued', 'running', 'succeeded', 'failed'], { description: 'Status of the latest provisioning job.' }),
        ),
        attention: Type.Optional(
          Type.Enum(['failed', 'late', 'waiting'], {
            description:
              'What needs somebody: `failed`, its provisioning or the last deployment that was asked for has failed; `late`, the ETA or a deadline of an open checkpoint has passed; `waiting`, something is needed from the client. ' +
              'How a build at Vercel ends is known when it brings a new name, address or colour; any other counts as failed only when it could not be started.',
          }),
        ),
        q: Type.Optional(
          Type.String({ maxLength: 200, description: 'Part of the name or the slug, without regard to case and diacritics.' }),
        ),
        archived: Type.Optional(Type.Boolean({ default: false, description: 'The archived ones instead.' })),
      }),
      answers: { 200: { description: 'A page of websites.', schema: Type.Array(Website) } },
      answer: async ({ query, signal }) => {
        const lists = reader.until(signal);
        const toBody = (websites: readonly ListedWebsite[]) =>
          websites.map((website) => toListedWebsite(website, parts, 'admin'));
        const named = await readNamed(query, async (id) => {
          const { document } = await reader.read(websiteProjection, id);
          return document === null ? null : listedNow(reader, document);
        });
        if (named !== null) return { body: toBody(named), total: await totalOf(query, () => named.length) };
        const { limit: _, cursor: __, sort: ___, count, attention, ...others } = query;
        const filter = {
          ...others,
          ...(attention === 'late' && { lateAt: isoTime(engine.clock.now()) }),
          ...(attention !== undefined && attention !== 'late' && { attention }),
        };
        const { items, next } = await readPage(
          query,
          ({ website }: WebsiteOverview) => website.id,
          (page) => listOverviews(lists, { ...filter, ...page }),
          websiteSortKey,
        );
        const total = await totalOf(query, () => countWebsites(lists, filter));
        return { body: toBody(items.map(toListed)), next, total };
      },
    }),

    route({
      method: 'get',
      path: '/websites/:id',
      operationId: 'getWebsite',
      summary: 'Read a website',
      description:
        'Clients also get `via` (owner or link) and `role`. They learn where the repository is cloned from only when it is on the embedded source host.',
      tag: websiteTag,
      scope: 'website',
      access: 'members',
      answers: oneWebsite,
      answer: async ({ website: { website, revision, standing }, reader: now }) => ({
        body: await withBilling({ ...parts, reader: now }, toWebsite(website, parts, standing), standing),
        revision,
      }),
    }),

    route({
      method: 'patch',
      path: '/websites/:id',
      operationId: 'changeWebsite',
      summary: 'Change name, slug, tier, features, colour or owner',
      description:
        'Fields that are left out stay as they are. A new owner loses their link, and open transfers of the website are withdrawn. ' +
        'A site shows its new name, colour and address from its next deployment on (`redeployNeeded`).',
      tag: websiteTag,
      example: { body: { name: 'Corner Bakery & Café', brandColor: '#1d4ed8' } },
      scope: 'website',
      access: 'admin',
      ifMatch: 'honoured',
      precheck: checkChange,
      body: Type.Object(
        {
          name: Type.Optional(name),
          slug: Type.Optional(
            Slug({ description: 'The site moves to its address; the one before leads there for 90 days, and is kept for it.' }),
          ),
          tier: Type.Optional(Type.Union([Tier, Type.Null()], { description: '`null`: `starter`.' })),
          features: Type.Optional(Type.Union([featureList, Type.Null()], { description: '`null`: all of the tier.' })),
          brandColor: newColour,
          clientId: newOwner,
          redeploy: Type.Optional(
            Type.Boolean({ default: false, description: 'Whether the site is built anew once it is told of the change.' }),
          ),
        },
        { additionalProperties: false },
      ),
      refusals: ['field_required', 'not_hex_colour', 'slug_taken', 'client_not_found', 'feature_not_on_tier'],
      answers: oneWebsite,
      act: async ({ params: { id: websiteId }, body: { redeploy, ...body }, context, expectation }, acting) => {
        const openOffers = typeof body.clientId !== 'string' ? [] : await openTransfers(reader, websiteId);
        const input = { ...body, ...(body.name !== undefined && { name: body.name.trim() }), websiteId, openOffers };
        const changed = await changeWebsite(acting, input, context, expectation);
        if (redeploy === true) {
          const redeployId = entityId(context.commandId, 'redeploy');
          await acting.handle(siteProcess, { type: 'QueueRedeploy', websiteId, redeployId }, context);
        }
        return changed;
      },
      answer: ({ params }, { revision }) => answerWritten(params.id, revision),
    }),

    route({
      method: 'delete',
      path: '/websites/:id/owner',
      operationId: 'removeOwner',
      summary: 'Take the website from its owner; their subscription for it is cancelled',
      description:
        'The website belongs to nobody until it is assigned or transferred again; its past invoices stay with its history.',
      tag: websiteTag,
      scope: 'website',
      access: 'admin',
      whenArchived: 'allowed',
      ifMatch: 'honoured',
      refusals: ['owner_not_found'],
      answers: {
        204: {
          description:
            'Nobody owns it now. The former owner has no access any more, and is invoiced for nothing further: ' +
            'a subscription is cancelled at the payment provider shortly.',
        },
      },
      act: ({ params: { id: websiteId }, website: { website }, context, expectation }, acting) =>
        removeOwner(acting, { websiteId, clientId: website.clientId }, context, expectation),
      answer: noContent,
    }),

    route({
      method: 'post',
      path: '/websites/:id/archive',
      operationId: 'archiveWebsite',
      summary: 'Take a website off the default list and refuse writes to it',
      description:
        'The site is no longer shown to visitors: a site that is served here answers 410, one on Vercel is paused soon after and answers 503. No write is taken but those that take access away. Archiving again changes nothing.',
      tag: websiteTag,
      scope: 'website',
      access: 'admin',
      ifMatch: 'honoured',
      whenArchived: 'allowed',
      answers: oneWebsite,
      act: ({ params, context, expectation }, acting) =>
        acting.handle(websiteDecider, { type: 'ArchiveWebsite', websiteId: params.id }, context, expectation),
      answer: ({ params }, { revision }) => answerWritten(params.id, revision),
    }),

    route({
      method: 'delete',
      path: '/websites/:id',
      operationId: 'deleteWebsite',
      summary: 'Delete an archived website for good, in 30 days',
      description:
        'Until then, restoring it cancels the deletion. Then its access, services, hosting project and repository go, and its slug is free. ' +
        'Deleting it again changes what is kept, where `keep` is given, and not the time.',
      tag: websiteTag,
      scope: 'website',
      access: 'admin',
      ifMatch: 'honoured',
      whenArchived: 'allowed',
      query: Type.Object({
        confirm: Type.Optional(
          Type.String({
            description: 'The slug of the website, so that no other is deleted by mistake.',
            examples: ['corner-bakery'],
          }),
        ),
        keep: Type.Optional(
          Type.String({
            description:
              'What stays at the providers: `repository`, `hosting`, or both with a comma between; empty: nothing. A project at Vercel stays paused.',
          }),
        ),
      }),
      refusals: ['website_not_archived'],
      answers: { 202: { description: 'The website, with `purgeAt`, when it goes, and `keep`.', schema: Website } },
      act: ({ params, website: { website }, query, context, expectation }, acting) => {
        if (website.archivedAt === undefined) throw new Refused(refusals.websiteNotArchived(website.id));
        if (query.confirm !== website.slug) {
          throw new Refused(refusals.invalidQuery('confirm', `must be the slug of the website, ${website.slug}`));
        }
        const command = { type: 'ScheduleDeletion', websiteId: params.id, keep: keptIn(query.keep) } as const;
        return acting.handle(websiteDecider, command, context, expectation);
      },
      answer: async ({ params }, { revision }) => ({ ...(await answerWritten(params.id, revision)), status: 202 }),
    }),

    route({
      method: 'post',
      path: '/websites/:id/restore',
      operationId: 'restoreWebsite',
      summary: 'Bring an archived website back',
      description: 'The site is shown again, and writes are taken. Restoring again changes nothing.',
      tag: websiteTag,
      scope: 'website',
      access: 'admin',
      ifMatch: 'honoured',
      whenArchived: 'allowed',
      answers: oneWebsite,
      act: ({ params, context, expectation }, acting) =>
        acting.handle(websiteDecider, { type: 'RestoreWebsite', websiteId: params.id }, context, expectation),
      answer: ({ params }, { revision }) => answerWritten(params.id, revision),
    }),
  ];
};
