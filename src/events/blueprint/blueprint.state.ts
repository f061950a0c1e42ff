import type { Recorded } from '../envelope.js';
import type { StreamFold } from '../fold.js';
import type { BlueprintEvent, NodePosition } from './blueprint.events.js';
import { blueprintStream } from './blueprint.stream.js';

export interface BlueprintState {
  readonly positions: readonly NodePosition[];
}

const evolve = (_: BlueprintState, { data }: Recorded<BlueprintEvent>): BlueprintState => ({ positions: data.nodes });

export const blueprintFold: StreamFold<BlueprintState, BlueprintEvent, { readonly websiteId: string }> = {
  name: 'blueprint',
  stream: blueprintStream,
  initialState: { positions: [] },
  evolve,
};
