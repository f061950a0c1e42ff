import type { NodePosition } from '../../events/blueprint/blueprint.events.js';

export interface ArrangeBlueprint {
  readonly type: 'ArrangeBlueprint';
  readonly at: string;
  readonly websiteId: string;
  readonly nodes: readonly NodePosition[];
  /** Ids of the nodes that there are. */
  readonly known: readonly string[];
}

export type BlueprintCommand = ArrangeBlueprint;
