import type { DeliveryCheckpoint, DeliveryEvent } from '../../src/events/delivery/delivery.events.js';

/** Small delivery events and commands, the same website and ETA in all of them. */
export const websiteId = 'w1';
export const eta = '2026-03-01T12:00:00.000Z';

type Block = Extract<DeliveryEvent, { type: 'DeliverySetUp' }>['data'];

export const checkpoint = (id: string, changes: Partial<DeliveryCheckpoint> = {}): DeliveryCheckpoint => ({
  id,
  label: id.toUpperCase(),
  order: 10,
  status: 'pending',
  ...changes,
});

export const content = (checkpoints: DeliveryCheckpoint[] = [], changes: Partial<Block> = {}): Block => ({
  websiteId,
  estimatedCompletionAt: eta,
  showPreviewUrl: false,
  checkpoints,
  ...changes,
});

export const setUp = (checkpoints?: DeliveryCheckpoint[], changes?: Partial<Block>): DeliveryEvent => ({
  type: 'DeliverySetUp',
  data: content(checkpoints, changes),
});

export const replaced = (checkpoints?: DeliveryCheckpoint[], changes?: Partial<Block>): DeliveryEvent => ({
  type: 'DeliveryReplaced',
  data: content(checkpoints, changes),
});

/** Replaces the block of `content([])` by itself. */
export const unchanged = { type: 'ReplaceDelivery', websiteId, estimatedCompletionAt: eta, showPreviewUrl: false } as const;
