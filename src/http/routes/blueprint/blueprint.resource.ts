import { Type, type Static } from 'typebox';
import { maxNodeIdLength } from '../../../commands/blueprint/blueprint.decider.js';
import type { NodePosition } from '../../../events/blueprint/blueprint.events.js';
import type { BlueprintPart } from '../../../projections/blueprint/blueprint.queries.js';

/** Far beyond any screen. */
const maxCoordinate = 1_000_000;

const coordinate = (description: string, example: number) =>
  Type.Number({ minimum: -maxCoordinate, maximum: maxCoordinate, description, examples: [example] });
const position = {
  x: coordinate('To the right.', 240),
  y: coordinate('Downwards.', 120),
};
const id = (options: { readonly minLength?: number; readonly maxLength?: number } = {}) =>
  Type.String({
    ...options,
    description:
      'Of a part: `website`, `repository`, `hosting`, `content`, `domains`, `services`, `domain:` with a hostname, or `service:` with its kind. Any other text: a node of one’s own.',
    examples: ['hosting'],
  });

/** A node as it is sent. */
export const SentNode = Type.Object({ id: id({ minLength: 1, maxLength: maxNodeIdLength }), ...position });

export const Blueprint = Type.Object(
  {
    nodes: Type.Array(
      Type.Object({
        id: id(),
        kind: Type.Enum(['website', 'repository', 'hosting', 'content', 'domains', 'domain', 'services', 'service', 'other'], {
          description: '`other`: a node that somebody put here and that is no part of the website.',
        }),
        label: Type.String({ description: 'What people read.', examples: ['corner-bakery'] }),
        state: Type.Enum(['ready', 'pending', 'off'], {
          description: '`pending`: it is being made, or proved. `off`: there is none.',
        }),
        partOf: Type.Optional(Type.String({ description: 'Id of the node that it hangs on.', examples: ['website'] })),
        ...position,
      }),
      { description: 'The parts of the website, each after the one that it hangs on; then the nodes that are none.' },
    ),
  },
  { $id: 'Blueprint', description: 'The parts of a website, and where people have put them.' },
);

const stepX = 240;
const stepY = 120;

/** Columns by how far a part is from the website, and a row of its own for each part of a column. */
const layout = (parts: readonly BlueprintPart[]): ReadonlyMap<string, Omit<NodePosition, 'id'>> => {
  const columns = new Map<string, number>();
  const rows = new Map<number, number>();
  const places = new Map<string, Omit<NodePosition, 'id'>>();
  for (const { id: part, partOf } of parts) {
    const column = partOf === undefined ? 0 : (columns.get(partOf) ?? 0) + 1;
    const row = rows.get(column) ?? 0;
    columns.set(part, column);
    rows.set(column, row + 1);
    places.set(part, { x: column * stepX, y: row * stepY });
  }
  return places;
};

/** Ids of parts that come and go: their places are kept, and shown while there is such a part. */
const isPartId = /^(?:domain|service):/;

/**
 * The parts where people have put them, or else where the layout puts them; then the nodes that are
 * no parts.
 */
export const toBlueprint = (parts: readonly BlueprintPart[], positions: readonly NodePosition[]): Static<typeof Blueprint> => {
  const places = layout(parts);
  const nodes = parts.map((part) => {
    const { x, y } = positions.find((one) => one.id === part.id) ?? places.get(part.id) ?? { x: 0, y: 0 };
    return { ...part, x, y };
  });
  const others = positions
    .filter((one) => !isPartId.test(one.id) && !parts.some((part) => part.id === one.id))
    .map((one) => ({ ...one, kind: 'other' as const, label: one.id, state: 'ready' as const }));
  return { nodes: [...nodes, ...others] };
};
