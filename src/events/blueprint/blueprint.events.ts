import { Type, type Static } from 'typebox';
import { event, type EventOf } from '../defineStream.js';

const NodePosition = Type.Object({ id: Type.String(), x: Type.Number(), y: Type.Number() });
export type NodePosition = Static<typeof NodePosition>;

/** Stream `blueprint-<websiteId>`. */
export const blueprintEvents = {
  /** Where the nodes are from now on; the others are where the service puts them. */
  BlueprintArranged: event(Type.Object({ websiteId: Type.String(), nodes: Type.Array(NodePosition) })),
};

export type BlueprintEvent = EventOf<typeof blueprintEvents>;
