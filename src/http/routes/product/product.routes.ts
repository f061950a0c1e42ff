import { Type, type Static } from 'typebox';
import { Refused, refusals } from '../../../commands/refusal.js';
import { secretsOf } from '../../../commands/service/service.handlers.js';
import type { Engine } from '../../../engine.js';
import type { Commerce, Product as Sold, Shop } from '../../../integrations/commerce/port.js';
import { serviceOf } from '../../../projections/service/service.queries.js';
import { readPage, totalOf } from '../../paging.js';
import { route, type Route, type RouteTag } from '../../route.js';
import type { Reader } from '../../../projections/reader.js';

const productTag: RouteTag = {
  name: 'Products',
  description: "What the website's shop sells, as the commerce platform reports it.",
};

const Product = Type.Object(
  {
    id: Type.String({ description: 'As the commerce platform names it.', examples: ['gid://shopify/Product/4711'] }),
    title: Type.String(),
    handle: Type.String(),
    status: Type.Enum(['active', 'archived', 'draft', 'unlisted']),
    url: Type.Optional(Type.String({ description: 'Where customers see it; absent while they cannot.' })),
    imageUrl: Type.Optional(Type.String()),
    price: Type.Object(
      {
        min: Type.String(),
        max: Type.String(),
        currency: Type.String({ description: 'ISO 4217, upper-case.', examples: ['EUR'] }),
      },
      { description: 'Of its cheapest and its dearest variant, in the shop’s currency.' },
    ),
    inventory: Type.Optional(Type.Integer()),
    updatedAt: Type.String({ format: 'date-time' }),
  },
  { $id: 'Product', description: 'What the shop sells.' },
);

const toProduct = ({ cursor: _, ...product }: Sold): Static<typeof Product> => product;

/** What the shop of a website sells: asked of the commerce platform at each call. */
export const productRoutes = ({
  engine,
  reader,
  commerce,
}: {
  engine: Engine;
  reader: Reader;
  commerce: Commerce;
}): readonly Route[] => {
  const shopOf = async (websiteId: string): Promise<Shop> => {
    const service = await serviceOf(reader, websiteId, 'commerce');
    const { adminToken } = service === undefined ? {} : await secretsOf(engine, service.id);
    if (service?.shopDomain === undefined || adminToken === undefined) throw new Refused(refusals.commerceNotSetUp(websiteId));
    return { domain: service.shopDomain, adminToken };
  };

  return [
    route({
      method: 'get',
      path: '/websites/:id/products',
      operationId: 'listProducts',
      summary: 'List the products of a website’s shop',
      description: 'Asked of the commerce platform at each call. Products cannot be read by their ids.',
      tag: productTag,
      scope: 'website',
      access: 'members',
      asksProvider: true,
      feature: 'commerce',
      paging: { count: true },
      refusals: ['commerce_not_set_up'],
      answers: { 200: { description: 'A page of products.', schema: Type.Array(Product) } },
      answer: async ({ params, query }) => {
        const shop = await shopOf(params.id);
        // The platform's cursors hold more than ours may.
        const { items, next } = await readPage(
          query,
          ({ cursor }: Sold) => Buffer.from(cursor).toString('base64url'),
          ({ after, limit }) =>
            commerce.products({
              shop,
              limit,
              ...(after !== undefined && { after: Buffer.from(after, 'base64url').toString() }),
            }),
        );
        const total = await totalOf(query, () => commerce.countProducts(shop));
        return { body: items.map(toProduct), next, total };
      },
    }),
  ];
};
