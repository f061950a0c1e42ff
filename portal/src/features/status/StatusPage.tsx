import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { useParams } from 'react-router';
import { countsOf, Mark, ProgressBar } from '../../ui/marks.js';
import { Time, dayText, relativeText } from '../../ui/dates.js';
import { Loaded } from '../../ui/states.js';
import { deliveryQuery } from '../delivery/queries.js';

const StatusPage = (): ReactNode => {
  const { t } = useTranslation();
  const { websiteId = '' } = useParams();
  const delivery = useQuery(deliveryQuery(websiteId));
  return (
    <Loaded query={delivery}>
      {({ estimatedCompletionAt, checkpoints }) => (
        <>
          <h1>{t('status.readyBy', { day: dayText(estimatedCompletionAt, 'day') })}</h1>
          <p>{relativeText(estimatedCompletionAt, 'day')}</p>
          <ProgressBar counts={countsOf(checkpoints)} />
          <ol>
            {checkpoints.map(({ id, label, status, dueAt }) => (
              <li key={id}>
                <Mark status={status} /> {label} {dueAt !== undefined && <Time at={dueAt} kind="day" />}
              </li>
            ))}
          </ol>
        </>
      )}
    </Loaded>
  );
};

export default StatusPage;
