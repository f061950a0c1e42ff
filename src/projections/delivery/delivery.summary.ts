import type { DeliveryBlock } from '../../events/delivery/delivery.block.js';
import type { DeliveryCheckpoint } from '../../events/delivery/delivery.events.js';

/** What a list says of a delivery block; all of it may be read by clients too. */
export interface DeliverySummary {
  readonly estimatedCompletionAt: string;
  /** Checkpoints by status. */
  readonly counts: Readonly<Record<DeliveryCheckpoint['status'], number>>;
  /** The first checkpoint that is under way. */
  readonly current?: Pick<DeliveryCheckpoint, 'id' | 'label' | 'dueAt'>;
  /** From this time on it is late; absent when every checkpoint is done. */
  readonly lateFrom?: string;
  /** What the agency waits for. */
  readonly neededFromClient: readonly { readonly id: string; readonly label: string; readonly text: string }[];
}

export const summaryOfDelivery = (block: DeliveryBlock): DeliverySummary => {
  const { estimatedCompletionAt, checkpoints } = block;
  const counts = { pending: 0, in_progress: 0, done: 0 };
  for (const { status } of checkpoints) counts[status] += 1;
  const current = checkpoints.find(({ status }) => status === 'in_progress');
  const late = lateFrom(block);
  return {
    estimatedCompletionAt,
    counts,
    ...(current !== undefined && {
      current: { id: current.id, label: current.label, ...(current.dueAt !== undefined && { dueAt: current.dueAt }) },
    }),
    ...(late !== undefined && { lateFrom: late }),
    neededFromClient: openOf(checkpoints).flatMap(({ id, label, neededFromClient: text }) =>
      text === undefined ? [] : [{ id, label, text }],
    ),
  };
};

/** From when on a delivery is late: the ETA or the first deadline of what is open; none when every checkpoint is done. */
export const lateFrom = ({ estimatedCompletionAt, checkpoints }: DeliveryBlock): string | undefined => {
  const open = openOf(checkpoints);
  if (checkpoints.length > 0 && open.length === 0) return undefined;
  return [estimatedCompletionAt, ...open.flatMap(({ dueAt }) => dueAt ?? [])].sort()[0];
};

const openOf = (checkpoints: readonly DeliveryCheckpoint[]): readonly DeliveryCheckpoint[] =>
  checkpoints.filter(({ status }) => status !== 'done');
