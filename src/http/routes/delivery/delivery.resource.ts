import { Type, type Static } from 'typebox';
import type { DeliveryBlock as Block } from '../../../events/delivery/delivery.block.js';
import {
  DeliveryCheckpoint,
  DeliveryCheckpointStatus,
  deliveryEvents,
  maxNeededFromClient,
} from '../../../events/delivery/delivery.events.js';
import type { DeliveryHistoryEntry } from '../../../events/delivery/delivery.history.js';
import { CheckpointId } from '../../schemas.js';
import type { ActorNames } from '../../../events/actorNames.js';
import type { RouteTag } from '../../route.js';
import { Actor } from '../../actors.js';
import type { Preview } from './preview.js';

const Time = Type.String({ format: 'date-time' });

const Checkpoint = Type.Object(
  {
    ...DeliveryCheckpoint.properties,
    id: Type.String({ description: 'Unique within the delivery block.', examples: ['kickoff'] }),
  },
  { $id: 'Checkpoint', description: 'One step on the way to the delivery.' },
);

/** Delivery block (api.md, section 5). */
export const DeliveryBlock = Type.Object(
  {
    websiteId: Type.String(),
    estimatedCompletionAt: Time,
    showPreviewUrl: Type.Boolean(),
    previewUrlOverride: Type.Optional(Type.String({ description: 'For admins.' })),
    checkpoints: Type.Array(Checkpoint, { description: 'By `order`, then in the sequence in which they were sent.' }),
    previewUrl: Type.Optional(
      Type.String({
        description: 'The override, else the address of the latest deployment. For clients only with `showPreviewUrl`.',
      }),
    ),
    previewUrlUnavailable: Type.Optional(
      Type.Boolean({ description: 'True when the hosting provider could not be asked for the address.' }),
    ),
    revision: Type.Integer({ description: 'Of the last change; the first is 0.' }),
    updatedAt: Time,
  },
  { $id: 'DeliveryBlock', description: 'What is delivered when.' },
);

/**
 * What an admin sees, or what a client does: never the override, and a preview only when the block
 * says so.
 */
export const toDeliveryBlock = (
  block: Block,
  revision: bigint,
  role: 'admin' | 'client',
  preview: Preview,
): Static<typeof DeliveryBlock> => {
  const { websiteId, estimatedCompletionAt, showPreviewUrl, previewUrlOverride, checkpoints, updatedAt } = block;
  return {
    websiteId,
    estimatedCompletionAt,
    showPreviewUrl,
    ...(role === 'admin' && previewUrlOverride !== undefined && { previewUrlOverride }),
    checkpoints: [...checkpoints],
    ...preview,
    revision: Number(revision),
    updatedAt,
  };
};

/** Says on answers about the delivery block whether it is kept who saw which revision (api.md, section 1). */
export const readReceiptsHeader = (kept: boolean): Readonly<Record<string, string>> => ({ 'read-receipts': kept ? 'on' : 'off' });
export const readReceiptsWords = '`on`: it is kept who saw which revision, and admins see it. `off`: it is not.';

export const deliveryTag: RouteTag = { name: 'Delivery', description: 'What is delivered when.' };

const anything = (example: unknown) => Type.Unknown({ description: '`null`: nothing was, or is, there.', examples: [example] });

/** What one change made different. */
export const DeliveryChanges = Type.Array(
  Type.Object(
    {
      path: Type.String({ description: '`checkpoints` itself is their sequence.', examples: ['checkpoints.qa.status'] }),
      from: anything('in_progress'),
      to: anything('done'),
    },
    { $id: 'ChangedPart', description: 'One part of a delivery block that a change made different.' },
  ),
);

/** One change of a delivery block (api.md, section 4). */
export const DeliveryHistory = Type.Array(
  Type.Object(
    {
      revision: Type.Integer(),
      at: Time,
      actor: Actor,
      type: Type.Enum(Object.keys(deliveryEvents) as (keyof typeof deliveryEvents)[]),
      changes: DeliveryChanges,
      reason: Type.Optional(Type.String()),
      reasonVisible: Type.Optional(Type.Boolean({ description: 'Whether clients may see the reason.' })),
      undid: Type.Optional(Type.Integer({ description: 'Of an undo: the revision that it undid, with all after it.' })),
    },
    { $id: 'DeliveryChange', description: 'One change of a delivery block.' },
  ),
);

export const toDeliveryHistory = (
  toActor: ActorNames['toActor'],
  entries: readonly DeliveryHistoryEntry[],
): Promise<Static<typeof DeliveryHistory>> =>
  Promise.all(
    entries.map(async ({ block: _, revision, actor, changes, ...entry }) => ({
      ...entry,
      revision: Number(revision),
      actor: await toActor(actor),
      changes: changes.map((change) => ({ ...change })),
    })),
  );

/** A checkpoint as it is sent: what a portal has received it may send back. */
export const SentCheckpoint = Type.Object(
  {
    id: CheckpointId({ description: 'Unique within the delivery block.' }),
    label: Type.String({ minLength: 1, maxLength: 200, description: 'Not blank, unless it is already.' }),
    order: Type.Integer({ description: 'Sort key.' }),
    status: DeliveryCheckpointStatus,
    dueAt: Type.Optional(Type.String({ format: 'date-time', description: 'Shown, nothing else.' })),
    completedAt: Type.Optional(Type.Unknown({ description: 'Ignored: the service sets it.' })),
    neededFromClient: Type.Optional(
      Type.String({
        maxLength: maxNeededFromClient,
        description: 'What you wait for, in words for the client. Gone when the checkpoint is done. Blank or left out: nothing.',
      }),
    ),
  },
  { $id: 'CheckpointInput', description: 'A checkpoint as it is sent: what was received may be sent back.' },
);
