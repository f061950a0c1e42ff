import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { Link } from 'react-router';
import { pathTo } from '../../../paths.js';
import { Time } from '../../../ui/dates.js';
import lists from '../../../ui/lists.module.css';
import { ProgressBar } from '../../../ui/marks.js';
import type { Some } from '../queries.js';
import classes from './home.module.css';

/** The newest websites of the agency, and the way to all. */
export const AllWebsites = ({ some: { websites, total } }: { readonly some: Some }): ReactNode => {
  const { t } = useTranslation();
  return (
    <section className={classes['group']}>
      <h2>{t('home.group', { title: t('home.allWebsites'), count: total })}</h2>
      <div className={`card ${classes['table'] ?? ''}`}>
        <table className={lists['table']}>
          <thead>
            <tr>
              <th scope="col">{t('home.name')}</th>
              <th scope="col">{t('home.progress')}</th>
              <th scope="col" className={classes['wide']}>
                {t('home.now')}
              </th>
              <th scope="col">{t('home.ready')}</th>
            </tr>
          </thead>
          <tbody>
            {websites.map(({ id, name, status, provisioningSummary, deliverySummary: delivery }) => (
              <tr key={id}>
                <td>
                  <Link to={pathTo('status', { websiteId: id })}>{name}</Link>
                </td>
                <td className="muted">
                  {delivery === undefined ? (
                    t(
                      provisioningSummary?.status === 'failed'
                        ? 'home.buildingStopped'
                        : status === 'provisioning'
                          ? 'home.beingBuilt'
                          : 'home.noPlan',
                    )
                  ) : (
                    <ProgressBar counts={delivery.counts} size="small" />
                  )}
                </td>
                <td className={classes['wide']}>{delivery?.current?.label}</td>
                <td className="muted" data-label={delivery === undefined ? undefined : t('home.ready')}>
                  {delivery === undefined ? t('home.notSet') : <Time at={delivery.estimatedCompletionAt} kind="day" />}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {total > websites.length && (
        <p className="small">
          <Link to={pathTo('websites')}>{t('home.all', { count: total })}</Link>
        </p>
      )}
    </section>
  );
};
