import type { CheckpointStatus, ProvisioningJob, ProvisioningReceipt, StepStatus } from '@doorstep/sdk';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { inReadersLanguage } from '../../../i18n/serviceWords.js';
import { momentText } from '../../../ui/dates.js';
import { Mark } from '../../../ui/marks.js';
import { clockText, durationText } from '../duration.js';
import classes from './Steps.module.css';

export type Step = ProvisioningJob['steps'][number];

const marks: Readonly<Record<StepStatus, CheckpointStatus>> = {
  pending: 'pending',
  running: 'in_progress',
  failed: 'in_progress',
  succeeded: 'done',
};

const between = ({ startedAt, finishedAt }: Step): string | undefined =>
  startedAt === undefined || finishedAt === undefined ? undefined : durationText(Date.parse(finishedAt) - Date.parse(startedAt));

const When = ({ step, isOver }: { readonly step: Step; readonly isOver: boolean }): ReactNode => {
  const { t } = useTranslation();
  const { status, finishedAt, nextAttemptAt } = step;
  if (status === 'succeeded') return between(step) ?? t('provisioning.step.succeeded');
  if (status === 'failed') {
    return finishedAt === undefined
      ? t('provisioning.step.failed')
      : t('provisioning.step.failedAt', { time: momentText(finishedAt) });
  }
  if (status === 'running') {
    return nextAttemptAt === undefined
      ? t('provisioning.step.running')
      : t('provisioning.step.nextAttempt', { time: clockText(nextAttemptAt) });
  }
  return t(isOver ? 'provisioning.step.notReached' : 'provisioning.step.pending');
};

/** What stands at a provider, and whether it is there now. */
const Receipt = ({ receipt }: { readonly receipt: ProvisioningReceipt }): ReactNode => {
  const { t } = useTranslation();
  const { name, id, names, requestId, now, nowReason } = receipt;
  const what = [...new Set([name, id].filter((text) => text !== undefined))].join(', ');
  return (
    <p className={`small muted ${classes['note'] ?? ''}`}>
      {names === undefined ? what : names.join(', ')}
      {what !== '' && ' · '}
      {t(`provisioning.now.${now}`)}
      {nowReason !== undefined && ` (${inReadersLanguage(nowReason)})`}
      {' · '}
      {t('provisioning.request')} <code>{requestId}</code>
    </p>
  );
};

interface StepsProps {
  readonly job: ProvisioningJob;
  /** For admins. */
  readonly receipts: readonly ProvisioningReceipt[];
}

/** The steps of a run, each with how it went. */
export const Steps = ({ job, receipts }: StepsProps): ReactNode => {
  const { t } = useTranslation();
  const isOver = job.status === 'failed';
  return (
    <ol className={`card ${classes['log'] ?? ''}`}>
      {job.steps.map((step) => (
        <li key={step.id} className={classes['step']} data-step={step.id} data-status={step.status}>
          <Mark status={marks[step.status]} />
          <div>
            <p className={classes['name']}>{t(`provisioning.steps.${step.id}`)}</p>
            {step.attempts > 1 && <p className="small muted">{t('provisioning.attempts', { count: step.attempts })}</p>}
            {step.error !== undefined && step.status !== 'succeeded' && (
              <p className={`small ${classes['note'] ?? ''}`}>{inReadersLanguage(step.error)}</p>
            )}
            {receipts
              .filter((receipt) => receipt.step === step.id)
              .map((receipt) => (
                <Receipt key={`${receipt.kind} ${receipt.id ?? ''} ${receipt.requestId}`} receipt={receipt} />
              ))}
          </div>
          <span className={`small muted num ${classes['when'] ?? ''}`}>
            <When step={step} isOver={isOver} />
          </span>
        </li>
      ))}
    </ol>
  );
};
