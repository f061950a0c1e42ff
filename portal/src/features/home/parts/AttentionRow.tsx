import type { Website } from '@doorstep/sdk';
import type { TFunction } from 'i18next';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { Link } from 'react-router';
import { inReadersLanguage } from '../../../i18n/serviceWords.js';
import { pathTo, type PageName } from '../../../paths.js';
import { Button } from '../../../theme/Button.js';
import { dayText, daysUntil, isPast, relativeText } from '../../../ui/dates.js';
import { withoutStep } from '../../provisioning/reason.js';
import type { Attention } from '../keys.js';
import classes from './home.module.css';

interface Matter {
  /** What is the matter. */
  readonly words: string;
  /** What to do, and where. */
  readonly action: string;
  readonly page: PageName;
}

/** "2 days ago"; a day that passes today has not gone by for anybody. */
const since = (time: string): string => relativeText(time, 'day');

const failedMatter = ({ provisioningSummary: job }: Website, t: TFunction): Matter => {
  if (job?.status !== 'failed') return { words: t('home.deploymentFailed'), action: t('common.open'), page: 'deployments' };
  const step = job.step === undefined ? '' : t(`home.steps.${job.step}`);
  const reason = job.reason === undefined ? undefined : inReadersLanguage(withoutStep(job.reason, job.step ?? ''));
  return {
    words: t(reason === undefined ? 'home.stopped' : 'home.stoppedWhy', { step, reason }),
    action: t('home.retry'),
    page: 'provisioning',
  };
};

const lateMatter = ({ deliverySummary: delivery }: Website, t: TFunction): Matter => {
  if (delivery === undefined) return { words: '', action: t('home.openPlan'), page: 'delivery' };
  const { estimatedCompletionAt: eta, current } = delivery;
  const day = dayText(eta, 'day');
  if (isPast(eta)) return { words: t('home.missed', { day, since: since(eta) }), action: t('home.setDate'), page: 'delivery' };
  const due = current?.dueAt;
  const words =
    due !== undefined && isPast(due) && daysUntil(due, 'day') <= 0
      ? t('home.stepLate', { step: current?.label, due: dayText(due, 'day'), since: since(due), day })
      : t('home.someStepLate', { day });
  return { words, action: t('home.openPlan'), page: 'delivery' };
};

const waitingMatter = ({ deliverySummary: delivery }: Website, t: TFunction): Matter => ({
  words: t('home.needed', { what: (delivery?.neededFromClient ?? []).map(({ text }) => text).join(' · ') }),
  action: t('common.open'),
  page: 'delivery',
});

const matterOf: Readonly<Record<Attention, (website: Website, t: TFunction) => Matter>> = {
  failed: failedMatter,
  late: lateMatter,
  waiting: waitingMatter,
};

/** A website that needs somebody: what is the matter, and one thing to do. */
export const AttentionRow = ({ website, attention }: { readonly website: Website; readonly attention: Attention }): ReactNode => {
  const { t } = useTranslation();
  const { words, action, page } = matterOf[attention](website, t);
  const params = { websiteId: website.id };
  return (
    <li className={classes['row']}>
      <Link to={pathTo('status', params)}>{website.name}</Link>
      <span className="muted">{words}</span>
      <Button component={Link} to={pathTo(page, params)} aria-label={t('home.actionOf', { action, website: website.name })}>
        {action}
      </Button>
    </li>
  );
};
