import { Type, type Static } from 'typebox';
import { featuresOf } from '../../../commands/website/website.decider.js';
import { Feature, features, Tier, tiers } from '../../../events/website/website.events.js';
import type { SourceHost } from '../../../integrations/sourceHost/port.js';
import type { Engine } from '../../../engine.js';
import { ProviderFault } from '../../../integrations/fault.js';
import { httpErrors } from '../../errors.js';
import { readNamed, readPage, totalOf, type Page } from '../../paging.js';
import { route, type Route, type RouteTag } from '../../route.js';

const templateTag: RouteTag = { name: 'Templates', description: 'What websites are made from, and what they can have.' };

const Template = Type.Object(
  {
    id: Type.String({ description: 'What `templateId` of a website takes.', examples: ['business'] }),
    name: Type.String(),
    description: Type.String(),
    editable: Type.Optional(
      Type.Record(Type.String(), Type.Unknown(), {
        description:
          'What people may edit of its sites, as a JSON Schema (2020-12) from which a form can be drawn: a property for each content document. `default` is what the template shows; `x-widget` says how a part is best edited: `text`, `image` or `hours`. Absent: the template says nothing, and content documents are what they like.',
        examples: [{ type: 'object', properties: { company: { type: 'object', properties: { tagline: { type: 'string' } } } } }],
      }),
    ),
    editableUnavailable: Type.Optional(
      Type.Boolean({ description: 'True when the source host could not be asked for what can be edited.' }),
    ),
    picture: Type.Optional(Type.String({ description: 'Address of a picture of it, which needs no credential.' })),
  },
  { $id: 'Template', description: 'What a website is made from.' },
);

const Plan = Type.Object(
  {
    tiers: Type.Array(
      Type.Object({ tier: Tier, features: Type.Array(Feature, { description: 'All that a website of it may have.' }) }),
      { description: 'From the lowest, with all features that each may have.' },
    ),
    features: Type.Array(Type.Object({ feature: { ...Feature, description: 'The feature.' }, lowestTier: Tier }), {
      description: 'Each feature, with the lowest tier that has it.',
    }),
  },
  { $id: 'Features', description: 'Tiers and features.' },
);

type Listed = Awaited<ReturnType<SourceHost['listTemplates']>>[number];

export const templateRoutes = ({
  engine: { logger },
  sourceHost,
  baseUrl,
}: {
  readonly engine: Pick<Engine, 'logger'>;
  readonly sourceHost: SourceHost;
  readonly baseUrl: () => string;
}): readonly Route[] => {
  /** The list is what websites are created from, so it is answered without the source host too. */
  const editableOf = async (id: string) => {
    try {
      const editable = await sourceHost.readEditable(id);
      return editable === null ? {} : { editable };
    } catch (error) {
      if (!(error instanceof ProviderFault)) throw error;
      logger.warn({ err: error, templateId: id }, 'what can be edited of a template could not be read');
      return { editableUnavailable: true };
    }
  };

  const toTemplate = async (listed: Listed): Promise<Static<typeof Template>> => {
    const found = await sourceHost.readPicture(listed.id);
    const template = { ...listed, ...(await editableOf(listed.id)) };
    if (found === null) return template;
    return { ...template, picture: typeof found === 'string' ? found : `${baseUrl()}/templates/${template.id}/picture` };
  };

  return [
    route({
      method: 'get',
      path: '/templates',
      operationId: 'listTemplates',
      summary: 'List the templates that websites can be made from, or read some by their ids',
      description: 'Each with its id, name and picture, and what can be edited of its sites. By their ids.',
      tag: templateTag,
      scope: 'installation',
      access: 'signedIn',
      paging: { count: true, ids: true },
      answers: { 200: { description: 'A page of templates.', schema: Type.Array(Template) } },
      answer: async ({ query }) => {
        const all = await sourceHost.listTemplates();
        const named = await readNamed(query, (id) => Promise.resolve(all.find((one) => one.id === id) ?? null));
        const { items, next }: Page<Listed> =
          named !== null
            ? { items: named }
            : await readPage(
                query,
                ({ id }) => id,
                ({ after = '', limit }) => Promise.resolve(all.filter(({ id }) => id > after).slice(0, limit)),
              );
        const total = await totalOf(query, () => (named ?? all).length);
        return { body: await Promise.all(items.map(toTemplate)), next, total };
      },
    }),

    route({
      method: 'get',
      path: '/templates/:templateId/picture',
      operationId: 'getTemplatePicture',
      summary: 'The picture of a template',
      description: 'It needs no credential, so that pages can show it.',
      tag: templateTag,
      scope: 'installation',
      // Pages show it in an `img`, which sends no credential.
      access: 'public',
      refusals: ['not_found'],
      answers: { 200: { description: 'WebP.', contentType: 'image/webp' } },
      answer: async ({ params }) => {
        const found = await sourceHost.readPicture(params.templateId);
        if (found === null || typeof found === 'string') throw httpErrors.notFound();
        return { body: found, headers: { 'content-type': 'image/webp', 'cache-control': 'public, max-age=3600' } };
      },
    }),

    route({
      method: 'get',
      path: '/features',
      operationId: 'listFeatures',
      summary: 'List tiers and features',
      description: 'What each tier has, and the lowest tier that has each feature.',
      tag: templateTag,
      scope: 'installation',
      access: 'signedIn',
      answers: { 200: { description: 'Tiers with their features, and the lowest tier of each feature.', schema: Plan } },
      answer: () => {
        const ofTiers = tiers.map((tier) => ({ tier, features: featuresOf(tier) }));
        const lowestTier = (feature: Feature): Tier => ofTiers.find((one) => one.features.includes(feature))?.tier ?? 'scale';
        return Promise.resolve({
          body: { tiers: ofTiers, features: features.map((feature) => ({ feature, lowestTier: lowestTier(feature) })) },
        });
      },
    }),
  ];
};
