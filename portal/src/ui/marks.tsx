import type { CheckpointStatus } from '@doorstep/sdk';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import classes from './marks.module.css';

/** How a step stands, by its form: a ring, a half disc, a disc with a tick. Words stand beside it. */
export const Mark = ({ status }: { readonly status: CheckpointStatus }): ReactNode => (
  <span className={`${classes['mark'] ?? ''} ${classes[status] ?? ''}`} aria-hidden="true" />
);

/** How many steps have each status. */
export type Counts = Readonly<Record<CheckpointStatus, number>>;

export const countsOf = (steps: readonly { readonly status: CheckpointStatus }[]): Counts => ({
  done: steps.filter(({ status }) => status === 'done').length,
  in_progress: steps.filter(({ status }) => status === 'in_progress').length,
  pending: steps.filter(({ status }) => status === 'pending').length,
});

/** Three segments: done, under way, to come. */
export const ProgressBar = ({ counts, size }: { readonly counts: Counts; readonly size?: 'small' }): ReactNode => {
  const { t } = useTranslation();
  const parts = [
    ['barDone', counts.done],
    ['barDoing', counts.in_progress],
    ['barTodo', counts.pending],
  ] as const;
  return (
    <div
      className={`${classes['bar'] ?? ''} ${size === undefined ? '' : (classes[size] ?? '')}`}
      role="img"
      aria-label={t('steps.counts', { ...counts })}
    >
      {parts.map(([part, count]) => count > 0 && <i key={part} className={classes[part]} style={{ flex: count }} />)}
    </div>
  );
};
