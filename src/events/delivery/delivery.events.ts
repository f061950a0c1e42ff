import { Type, type Static } from 'typebox';
import { event, type EventOf } from '../defineStream.js';
import { Time } from '../fields.js';
import { deliveryUpcasters } from './delivery.upcasters.js';

export const deliveryCheckpointStatuses = ['pending', 'in_progress', 'done'] as const;

export const DeliveryCheckpointStatus = Type.Enum([...deliveryCheckpointStatuses]);
export type DeliveryCheckpointStatus = Static<typeof DeliveryCheckpointStatus>;

/** Longest `neededFromClient`, in characters (api.md, section 5). */
export const maxNeededFromClient = 300;

/**
 * One step of a delivery (specification, "Checkpoint"). It has `completedAt` if and only if it is
 * `done`, and `neededFromClient` only while it is not.
 */
export const DeliveryCheckpoint = Type.Object({
  id: Type.String(),
  label: Type.String(),
  order: Type.Integer(),
  status: DeliveryCheckpointStatus,
  dueAt: Type.Optional(Time),
  completedAt: Type.Optional(Time),
  /** What the agency waits for, in words for the client; never empty. */
  neededFromClient: Type.Optional(Type.String()),
});
export type DeliveryCheckpoint = Static<typeof DeliveryCheckpoint>;

/** Most checkpoints that a delivery block may hold (specification, "Limits"). */
export const maxDeliveryCheckpoints = 40;

/** The whole block as it is after an event; an absent `previewUrlOverride` is unset. */
const block = {
  websiteId: Type.String(),
  estimatedCompletionAt: Time,
  showPreviewUrl: Type.Boolean(),
  previewUrlOverride: Type.Optional(Type.String()),
  /** By `order`, then in the sequence in which they were sent. */
  checkpoints: Type.Array(DeliveryCheckpoint, { maxItems: maxDeliveryCheckpoints }),
};

/** Why the admin changed it, and whether clients may read that. */
const why = { reason: Type.Optional(Type.String()), reasonVisible: Type.Optional(Type.Boolean()) };

/** Stream `delivery-<websiteId>`. */
export const deliveryEvents = {
  DeliverySetUp: event(Type.Object({ ...block, ...why }), deliveryUpcasters.DeliverySetUp),
  DeliveryReplaced: event(Type.Object({ ...block, ...why }), deliveryUpcasters.DeliveryReplaced),
  DeliveryCheckpointStatusSet: event(
    Type.Object({
      websiteId: Type.String(),
      checkpointId: Type.String(),
      status: DeliveryCheckpointStatus,
      previousStatus: DeliveryCheckpointStatus,
      completedAt: Type.Optional(Time),
    }),
  ),
  /** Restores the block as it was before the change at `revision` of this stream. */
  DeliveryUndone: event(Type.Object({ ...block, revision: Type.Integer({ minimum: 1 }) }), deliveryUpcasters.DeliveryUndone),
};

export type DeliveryEvent = EventOf<typeof deliveryEvents>;
