import { Type } from 'typebox';
import { blueprintDecider, maxNodes } from '../../../commands/blueprint/blueprint.decider.js';
import { blueprintFold } from '../../../events/blueprint/blueprint.state.js';
import { blueprintParts } from '../../../projections/blueprint/blueprint.queries.js';
import type { Reader } from '../../../projections/reader.js';
import { expectationOf, versionOf } from '../../conditional.js';
import { route, type Route, type RouteTag } from '../../route.js';
import { Blueprint, SentNode, toBlueprint } from './blueprint.resource.js';

const blueprintTag: RouteTag = { name: 'Blueprint', description: 'A website’s parts as a picture.' };

/** The parts of a website that the service knows, and where people have put them. */
export const blueprintRoutes = ({ reader }: { reader: Reader }): readonly Route[] => [
  route({
    method: 'get',
    path: '/websites/:id/blueprint',
    operationId: 'getBlueprint',
    summary: 'Read the blueprint of a website',
    description: 'Its parts as of now. Nodes that nobody has put anywhere have a place by the service’s own layout.',
    tag: blueprintTag,
    scope: 'website',
    access: 'members',
    feature: 'blueprint',
    answers: { 200: { description: 'The blueprint.', schema: Blueprint } },
    answer: async ({ params: { id: websiteId }, website: { website } }) => {
      const [parts, { state, revision }] = await Promise.all([
        blueprintParts(reader, website),
        reader.state(blueprintFold, { websiteId }),
      ]);
      return { body: toBlueprint(parts, state.positions), revision: versionOf(revision) };
    },
  }),

  route({
    method: 'put',
    path: '/websites/:id/blueprint',
    operationId: 'arrangeBlueprint',
    summary: 'Put the nodes of a blueprint somewhere',
    description:
      'Replaces all positions: parts that are left out go back to the service’s own layout. Nodes with other ids than those of the parts are kept as `other`.',
    tag: blueprintTag,
    example: { body: { nodes: [{ id: 'hosting', x: 240, y: 120 }] } },
    scope: 'website',
    access: 'editors',
    feature: 'blueprint',
    ifMatch: 'honoured',
    body: Type.Object({
      nodes: Type.Array(SentNode, { maxItems: maxNodes, description: 'Each node once.' }),
    }),
    answers: { 200: { description: 'The blueprint.', schema: Blueprint } },
    act: async ({ params: { id: websiteId }, body: { nodes }, website: { website }, context, expectation }, acting) => {
      const parts = await blueprintParts(reader, website);
      const command = { type: 'ArrangeBlueprint', websiteId, nodes } as const;
      const { state, revision } = await acting.handle(blueprintDecider, command, context, expectationOf(expectation));
      return { parts, positions: state.positions, revision };
    },
    answer: (_request, { parts, positions, revision }) =>
      Promise.resolve({ body: toBlueprint(parts, positions), revision: versionOf(revision) }),
  }),
];
