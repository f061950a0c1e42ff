import { contentOf, type DeliveryBlock } from '../../events/delivery/delivery.block.js';
import { changesBetween } from '../../events/delivery/delivery.changes.js';
import { maxDeliveryCheckpoints, type DeliveryCheckpoint, type DeliveryEvent } from '../../events/delivery/delivery.events.js';
import type { DeliveryReason } from '../../events/delivery/delivery.reason.js';
import { deliveryFold, type DeliveryState } from '../../events/delivery/delivery.state.js';
import { isBlank } from '../../platform/blank.js';
import { isoTime } from '../../platform/clock.js';
import { parseUrl } from '../../platform/urls.js';
import type { Decider } from '../decider.js';
import type { DeliveryCommand, ReplaceDelivery, SetCheckpointStatus, UndoDeliveryChange } from './delivery.commands.js';
import { refusals, type Refusal, type Violation } from '../refusal.js';

type Outcome = readonly DeliveryEvent[] | Refusal;

/** The default ETA, after the set-up (specification, "Limits"). */
const defaultEtaMs = 30 * 24 * 60 * 60 * 1000;

/** The default template (specification, "Checkpoint"). */
const defaultCheckpoints: readonly DeliveryCheckpoint[] = [
  { id: 'kickoff', label: 'Kickoff', order: 10, status: 'pending' },
  { id: 'design-approved', label: 'Design approved', order: 20, status: 'pending' },
  { id: 'initial-deploy', label: 'Initial deploy', order: 30, status: 'pending' },
  { id: 'content-loaded', label: 'Content loaded', order: 40, status: 'pending' },
  { id: 'qa', label: 'QA', order: 50, status: 'pending' },
  { id: 'launch', label: 'Launch', order: 60, status: 'pending' },
];

const replaceDelivery = (command: ReplaceDelivery, state: DeliveryState): Outcome => {
  const before = state.stage === 'setUp' ? state.block : null;
  const [violation, ...others] = violationsOf(command, before);
  if (violation !== undefined) return refusals.invalidBody(violation.field, violation.issue, others);

  const { websiteId, at, reason, reasonVisible } = command;
  const previewUrlOverride = command.previewUrlOverride ?? before?.previewUrlOverride ?? '';
  const content = {
    websiteId,
    estimatedCompletionAt: command.estimatedCompletionAt ?? isoTime(Date.parse(at) + defaultEtaMs),
    showPreviewUrl: command.showPreviewUrl ?? false,
    ...(previewUrlOverride !== '' && { previewUrlOverride }),
    checkpoints: completed(command.checkpoints ?? before?.checkpoints ?? defaultCheckpoints, before, at),
  };
  const why = reason === undefined ? {} : { reason, reasonVisible: reasonVisible ?? false };
  if (state.stage === 'setUp' && changesBetween(state.block, content).length === 0 && isSaid(why, state.why)) return [];
  return [{ type: before === null ? 'DeliverySetUp' : 'DeliveryReplaced', data: { ...content, ...why } }];
};

/**
 * Whether there is nothing to add to what the last change says of why. A reason for a block that stays
 * as it is is a change of its own, since nothing else would keep it.
 */
const isSaid = ({ reason, reasonVisible }: DeliveryReason, last: DeliveryReason): boolean =>
  reason === undefined || (reason === last.reason && reasonVisible === (last.reasonVisible ?? false));

const violationsOf = (command: ReplaceDelivery, before: DeliveryBlock | null): Violation[] => {
  const violations: Violation[] = [];
  const check = (holds: boolean, field: string, issue: string): void => {
    if (!holds) violations.push({ field, issue });
  };

  if (before !== null) {
    check(command.estimatedCompletionAt !== undefined, 'estimatedCompletionAt', 'is required');
    check(command.showPreviewUrl !== undefined, 'showPreviewUrl', 'is required');
  }
  const override = command.previewUrlOverride ?? '';
  check(override === '' || isPublicUrl(override), 'previewUrlOverride', 'must be an http or https URL without credentials');

  const checkpoints = command.checkpoints ?? [];
  check(
    checkpoints.length <= maxDeliveryCheckpoints,
    'checkpoints',
    `must have at most ${String(maxDeliveryCheckpoints)} entries`,
  );
  const ids = new Set<string>();
  const labels = new Map(before?.checkpoints.map(({ id, label }) => [id, label]));
  checkpoints.forEach(({ id, label }, index) => {
    check(!ids.has(id), `checkpoints.${String(index)}.id`, 'must be unique within the delivery block');
    ids.add(id);
    // One that was stored blank may be sent back with the list.
    check(!isBlank(label) || label === labels.get(id), `checkpoints.${String(index)}.label`, 'must not be blank');
  });
  return violations;
};

/**
 * Whether a client's browser may be sent to this address. The pattern refuses what the URL parser
 * would silently repair.
 */
const isPublicUrl = (text: string): boolean => {
  const url = /^https?:\/\/[^\s\p{Cc}\p{Cs}]+$/iu.test(text) ? parseUrl(text) : undefined;
  return url?.username === '' && url.password === '';
};

/**
 * The checkpoints in their order, each with `completedAt` if and only if it is done. One that was
 * done before keeps its time, and a done one needs nothing from the client.
 */
const completed = (
  checkpoints: readonly Omit<DeliveryCheckpoint, 'completedAt'>[],
  before: DeliveryBlock | null,
  at: string,
): DeliveryCheckpoint[] => {
  const completedAt = new Map(before?.checkpoints.map((checkpoint) => [checkpoint.id, checkpoint.completedAt]));
  return checkpoints
    .map(({ id, label, order, status, dueAt, neededFromClient = '' }) => ({
      id,
      label,
      // JSON has no -0: a stored -0 would be read as 0.
      order: order + 0,
      status,
      ...(dueAt !== undefined && { dueAt }),
      ...(status === 'done' && { completedAt: completedAt.get(id) ?? at }),
      ...(status !== 'done' && !isBlank(neededFromClient) && { neededFromClient }),
    }))
    .sort((one, other) => one.order - other.order);
};

const setCheckpointStatus = (command: SetCheckpointStatus, { checkpoints }: DeliveryBlock): Outcome => {
  const { websiteId, checkpointId, status, at } = command;
  const checkpoint = checkpoints.find(({ id }) => id === checkpointId);
  if (checkpoint === undefined) return refusals.deliveryCheckpointNotFound(checkpointId);
  if (checkpoint.status === status) return [];
  const data = {
    websiteId,
    checkpointId,
    status,
    previousStatus: checkpoint.status,
    ...(status === 'done' && { completedAt: at }),
  };
  return [{ type: 'DeliveryCheckpointStatusSet', data }];
};

const undoDeliveryChange = ({ revision, before }: UndoDeliveryChange, block: DeliveryBlock): Outcome => {
  if (revision === 0) return refusals.invalidBody('revision', 'is the set-up, which cannot be undone');
  if (before === null) return refusals.invalidBody('revision', 'is not a change of this delivery block');
  if (changesBetween(block, before).length === 0) return [];
  return [{ type: 'DeliveryUndone', data: { ...contentOf(before), revision } }];
};

const decide = (command: DeliveryCommand, state: DeliveryState): Outcome => {
  if (command.type === 'ReplaceDelivery') return replaceDelivery(command, state);
  if (state.stage === 'notSetUp') return refusals.deliveryNotSetUp(command.websiteId);
  switch (command.type) {
    case 'SetCheckpointStatus':
      return setCheckpointStatus(command, state.block);
    case 'UndoDeliveryChange':
      return undoDeliveryChange(command, state.block);
    default:
      return command satisfies never;
  }
};

export const deliveryDecider: Decider<DeliveryState, DeliveryCommand, DeliveryEvent> = { ...deliveryFold, decide };
