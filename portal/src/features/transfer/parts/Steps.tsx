import type { Invitation } from '@doorstep/sdk';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { Mark } from '../../../ui/marks.js';
import classes from './Steps.module.css';

const steps = ['offer', 'open', 'accept', 'moved'] as const;

/** What each side does, in order, and how far it has come. */
export const Steps = ({ transfer }: { readonly transfer: Invitation | undefined }): ReactNode => {
  const { t } = useTranslation();
  const done = transfer === undefined ? 0 : transfer.status === 'accepted' ? steps.length : 1;
  return (
    <ol className={`card ${classes['steps'] ?? ''}`}>
      {steps.map((step, index) => {
        const status = index < done ? 'done' : index === done ? 'in_progress' : 'pending';
        return (
          <li key={step} aria-current={status === 'in_progress' ? 'step' : undefined}>
            <Mark status={status} />
            <div>
              <p>
                <b>
                  {index + 1}. {t(`transfer.steps.${step}.title`)}
                </b>{' '}
                <span className="muted small">
                  {t(`transfer.steps.${step}.who`)} · {t(`steps.${status}`)}
                </span>
              </p>
              <p className="muted">{t(`transfer.steps.${step}.text`)}</p>
            </div>
          </li>
        );
      })}
    </ol>
  );
};
