import { Type } from 'typebox';
import { featuresOf } from '../../../commands/website/website.decider.js';
import { Feature, features, Tier, tiers } from '../../../events/website/website.events.js';
import type { SourceHost } from '../../../integrations/sourceHost/port.js';
import { httpErrors } from '../../errors.js';
import { route, type Route, type RouteTag } from '../../route.js';

const templateTag: RouteTag = { name: 'Templates', description: 'What websites are made from, and what they can have.' };

const Template = Type.Object(
  {
    id: Type.String(),
    name: Type.String(),
    description: Type.String(),
    picture: Type.Optional(Type.String({ description: 'Address of a picture of it, which needs no credential.' })),
  },
  { $id: 'Template', description: 'What a website is made from.' },
);

const Plan = Type.Object(
  {
    tiers: Type.Array(Type.Object({ tier: Tier, features: Type.Array(Feature) }), {
      description: 'From the lowest, with all features that each may have.',
    }),
    features: Type.Array(Type.Object({ feature: Feature, lowestTier: Tier })),
  },
  { $id: 'Features', description: 'Tiers and features.' },
);

export const templateRoutes = ({
  sourceHost,
  baseUrl,
}: {
  readonly sourceHost: SourceHost;
  readonly baseUrl: () => string;
}): readonly Route[] => [
  route({
    method: 'get',
    path: '/templates',
    operationId: 'listTemplates',
    summary: 'List the templates that websites can be made from',
    description: 'Each with its id, name and picture.',
    tag: templateTag,
    scope: 'installation',
    access: 'signedIn',
    answers: { 200: { description: 'All of them.', schema: Type.Array(Template) } },
    answer: async () => {
      const templates = await sourceHost.listTemplates();
      const body = await Promise.all(
        templates.map(async (template) => {
          const found = await sourceHost.readPicture(template.id);
          if (found === null) return template;
          return { ...template, picture: typeof found === 'string' ? found : `${baseUrl()}/templates/${template.id}/picture` };
        }),
      );
      return { body };
    },
  }),

  route({
    method: 'get',
    path: '/templates/:templateId/picture',
    operationId: 'getTemplatePicture',
    summary: 'The picture of a template',
    description: 'A PNG or an SVG, as its content type says; it needs no credential, so that pages can show it.',
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
