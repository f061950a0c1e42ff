import type { NodePosition } from '../../events/blueprint/blueprint.events.js';

export interface ArrangeBlueprint {
  readonly type: 'ArrangeBlueprint';
  readonly at: string;
  readonly websiteId: string;
  readonly nodes: readonly NodePosition[];
}

export type BlueprintCommand = ArrangeBlueprint;
