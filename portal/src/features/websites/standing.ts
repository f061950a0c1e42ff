import type { Website } from '@doorstep/sdk';
import type { TFunction } from 'i18next';
import { dayText, daysUntil } from '../../ui/dates.js';

/** How a website stands, in words: the most pressing thing first. */
export const standingOf = (website: Website, t: TFunction): string => {
  const { archivedAt, purgeAt, provisioningSummary: provisioning, deliverySummary: delivery, status } = website;
  if (purgeAt !== undefined) return t('websites.standing.deletedOn', { day: dayText(purgeAt, 'moment') });
  if (archivedAt !== undefined) return t('websites.standing.archivedOn', { day: dayText(archivedAt, 'moment') });
  if (provisioning?.status === 'failed') return t('websites.standing.stopped');
  if (status === 'provisioning')
    return t(provisioning?.status === 'queued' ? 'websites.standing.queued' : 'websites.standing.built');
  if (delivery === undefined) return t('websites.standing.noPlan');
  const { counts, estimatedCompletionAt, lateFrom = estimatedCompletionAt, neededFromClient } = delivery;
  if (counts.pending + counts.in_progress === 0 && counts.done > 0) return t('websites.standing.done');
  const days = daysUntil(estimatedCompletionAt, 'day');
  if (days < 0) return t('websites.standing.late', { count: -days });
  if (daysUntil(lateFrom, 'day') < 0) return t('websites.standing.stepLate');
  if (neededFromClient.length > 0) return t('websites.standing.waiting');
  return t('websites.standing.underWay');
};

/** The step that a website is at: of its building, then of its delivery. */
export const stepOf = ({ provisioningSummary, deliverySummary, status }: Website, t: TFunction): string | undefined => {
  const { step } = provisioningSummary ?? {};
  if (status === 'provisioning' && step !== undefined) return t(`provisioning.steps.${step}`);
  return deliverySummary?.current?.label;
};
