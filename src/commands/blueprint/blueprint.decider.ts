import type { BlueprintEvent, NodePosition } from '../../events/blueprint/blueprint.events.js';
import { blueprintFold, type BlueprintState } from '../../events/blueprint/blueprint.state.js';
import type { Decider } from '../decider.js';
import { refusals, type Refusal, type Violation } from '../refusal.js';
import type { ArrangeBlueprint, BlueprintCommand } from './blueprint.commands.js';

/** More than a website has parts. */
export const maxNodes = 200;
/** Of an id: that of a domain has its hostname. */
export const maxNodeIdLength = 300;

const violationsIn = ({ nodes }: ArrangeBlueprint): readonly Violation[] => {
  const ids = nodes.map(({ id }) => id);
  const tooMany = nodes.length > maxNodes ? [{ field: 'nodes', issue: `must have at most ${String(maxNodes)} entries` }] : [];
  const wrong = ids.flatMap((id, index) => {
    const field = `nodes.${String(index)}.id`;
    if (id.length > maxNodeIdLength) return [{ field, issue: `must have at most ${String(maxNodeIdLength)} characters` }];
    return ids.indexOf(id) < index ? [{ field, issue: 'is there twice' }] : [];
  });
  return [...tooMany, ...wrong];
};

/** The same whatever order they were sent in. */
const textOf = (nodes: readonly NodePosition[]): string =>
  nodes
    .map(({ id, x, y }) => JSON.stringify([id, x, y]))
    .sort()
    .join('\n');

const decide = (command: BlueprintCommand, { positions }: BlueprintState): readonly BlueprintEvent[] | Refusal => {
  const [first, ...others] = violationsIn(command);
  if (first !== undefined) return refusals.invalidBody(first.field, first.issue, others);
  const nodes = command.nodes.map(({ id, x, y }) => ({ id, x, y }));
  if (textOf(nodes) === textOf(positions)) return [];
  return [{ type: 'BlueprintArranged', data: { websiteId: command.websiteId, nodes } }];
};

/** Stream `blueprint-<websiteId>`: where people put the nodes. */
export const blueprintDecider: Decider<BlueprintState, BlueprintCommand, BlueprintEvent> = { ...blueprintFold, decide };
