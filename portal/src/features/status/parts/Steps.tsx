import type { Checkpoint } from '@doorstep/sdk';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { dayText, daysUntil, Time } from '../../../ui/dates.js';
import { Mark } from '../../../ui/marks.js';
import classes from '../status.module.css';

/** How a step stands, at the end of its row: when it was done, when it is due, or in words. */
const When = ({ checkpoint: { status, dueAt, completedAt } }: { readonly checkpoint: Checkpoint }): ReactNode => {
  const { t } = useTranslation();
  if (status === 'done' && completedAt !== undefined) {
    return (
      <>
        <span className={classes['spoken']}>{t('steps.done')} </span>
        <Time at={completedAt} kind="moment" />
      </>
    );
  }
  if (status !== 'pending') return t(status === 'done' ? 'status.done' : 'status.underWay');
  if (dueAt === undefined) return t('status.toCome');
  return (
    <Time at={dueAt} kind="day">
      {t(daysUntil(dueAt, 'day') < 0 ? 'status.wasDue' : 'status.due', { day: dayText(dueAt, 'day') })}
    </Time>
  );
};

/** The steps of the plan, in their order. */
export const Steps = ({ checkpoints }: { readonly checkpoints: readonly Checkpoint[] }): ReactNode => {
  const { t } = useTranslation();
  return (
    <section className={classes['steps']}>
      <h2>{t('status.plan')}</h2>
      {checkpoints.length === 0 && <p className="muted">{t('status.noSteps')}</p>}
      <ol>
        {checkpoints.map((checkpoint) => {
          const { id, label, status, dueAt } = checkpoint;
          return (
            <li key={id} className={classes[status]} {...(status === 'in_progress' && { 'aria-current': 'step' as const })}>
              <Mark status={status} />
              <div className={classes['step']}>
                <b>{label}</b>
                <span className={`small muted ${classes['when'] ?? ''}`}>
                  <When checkpoint={checkpoint} />
                </span>
              </div>
              {status === 'in_progress' && dueAt !== undefined && (
                <p className={`small muted ${classes['note'] ?? ''}`}>
                  <Time at={dueAt} kind="day">
                    {t(daysUntil(dueAt, 'day') < 0 ? 'status.wasDueNote' : 'status.dueNote', { day: dayText(dueAt, 'day') })}
                  </Time>
                </p>
              )}
            </li>
          );
        })}
      </ol>
    </section>
  );
};
