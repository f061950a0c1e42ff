import type { Checkpoint, VisibleDeliveryChange } from '@doorstep/sdk';
import type { TFunction } from 'i18next';
import { calendarDay, dayText, daysUntil } from '../../ui/dates.js';

interface Part {
  readonly from: unknown;
  readonly to: unknown;
}

/** What several changes come to: of each part what it was before the first and is after the last. */
const netOf = (newestFirst: readonly VisibleDeliveryChange[]): ReadonlyMap<string, Part> => {
  const net = new Map<string, Part>();
  for (const { changes } of [...newestFirst].reverse()) {
    for (const { path, from, to } of changes) net.set(path, { from: net.has(path) ? net.get(path)?.from : from, to });
  }
  return net;
};

const hasLabel = (value: unknown): value is { readonly label: string } =>
  typeof value === 'object' && value !== null && 'label' in value && typeof value.label === 'string';

const isText = (value: unknown): value is string => typeof value === 'string' && value !== '';

const day = (time: string): string => dayText(time, 'day');

/** Whether a part of the block that is a day became another one, as people read it. */
const isAnotherDay = ({ from, to }: Part): boolean =>
  isText(from) && isText(to) && calendarDay(from, 'day') !== calendarDay(to, 'day');

const stepField = /^checkpoints\.([^.]+)\.(status|label|dueAt|neededFromClient)$/;
const wholeStep = /^checkpoints\.([^.]+)$/;

/** The last time that the date moved; undefined: it never did. */
export const lastMove = (
  newestFirst: readonly VisibleDeliveryChange[],
): { readonly from: string; readonly reason?: string | undefined } | undefined => {
  for (const { changes, reason } of newestFirst) {
    const move = changes.find((part) => part.path === 'estimatedCompletionAt' && isAnotherDay(part));
    if (isText(move?.from)) return { from: move.from, reason };
  }
  return undefined;
};

const statusSentence = (t: TFunction, label: string, { from, to }: Part): string | null => {
  if (from === to) return null;
  if (to === 'done') return t('status.news.done', { label });
  if (from === 'done') return t('status.news.reopened', { label });
  return t(to === 'in_progress' ? 'status.news.underWay' : 'status.news.waits', { label });
};

const dueSentence = (t: TFunction, label: string, part: Part): string | null => {
  const { from, to } = part;
  if (!isText(to)) return isText(from) ? t('status.news.dueRemoved', { label }) : null;
  if (!isText(from)) return t(daysUntil(to, 'day') < 0 ? 'status.news.wasDue' : 'status.news.dueSet', { label, day: day(to) });
  return isAnotherDay(part) ? t('status.news.dueMoved', { label, day: day(to), before: day(from) }) : null;
};

const fieldSentence = (t: TFunction, field: string, label: string, part: Part): string | null => {
  if (field === 'status') return statusSentence(t, label, part);
  if (field === 'dueAt') return dueSentence(t, label, part);
  const { from, to } = part;
  if (from === to) return null;
  if (field === 'label') return isText(from) ? t('status.news.renamed', { from, label }) : null;
  return isText(to) ? t('status.news.needed', { label, what: to }) : null;
};

const dateSentence = (t: TFunction, part: Part, reason: string | undefined): string | null => {
  if (!isAnotherDay(part) || !isText(part.from) || !isText(part.to)) return null;
  const days = { from: day(part.from), to: day(part.to) };
  return reason === undefined ? t('status.news.moved', days) : t('status.news.movedWhy', { ...days, reason });
};

const stepSentence = (t: TFunction, { from, to }: Part): string | null => {
  if (hasLabel(to)) return from === null ? t('status.news.added', { label: to.label }) : null;
  return hasLabel(from) ? t('status.news.removed', { label: from.label }) : null;
};

/**
 * What changed, a sentence each: first the date, then the steps in their order. Steps back and forth
 * come to what they led to.
 * @param checkpoints as they stand now
 */
export const sentencesOf = (
  t: TFunction,
  newestFirst: readonly VisibleDeliveryChange[],
  checkpoints: readonly Checkpoint[],
): readonly string[] => {
  const net = netOf(newestFirst);
  const sentences: (string | null)[] = [];

  const date = net.get('estimatedCompletionAt');
  const reason = newestFirst.find(({ reason: why }) => why !== undefined)?.reason;
  if (date !== undefined) sentences.push(dateSentence(t, date, lastMove(newestFirst)?.reason));
  else if (reason !== undefined) sentences.push(t('status.news.note', { reason }));

  for (const { id, label } of checkpoints) {
    const whole = net.get(`checkpoints.${id}`);
    if (whole !== undefined) {
      sentences.push(stepSentence(t, whole));
      continue;
    }
    for (const [path, part] of net) {
      const [, step, field = ''] = stepField.exec(path) ?? [];
      if (step === id) sentences.push(fieldSentence(t, field, label, part));
    }
  }
  for (const [path, part] of net) {
    if (wholeStep.test(path) && part.to === null) sentences.push(stepSentence(t, part));
  }
  if (net.has('checkpoints')) sentences.push(t('status.news.reordered'));
  const preview = net.get('showPreviewUrl');
  if (preview !== undefined && preview.from !== preview.to) {
    sentences.push(t(preview.to === true ? 'status.news.previewShown' : 'status.news.previewHidden'));
  }
  return sentences.filter((sentence) => sentence !== null);
};
