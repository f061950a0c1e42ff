import type { Website } from '@doorstep/sdk';
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { Link } from 'react-router';
import { pathTo } from '../../../paths.js';
import { VisuallyHidden } from '../../../theme/VisuallyHidden.js';
import { Time } from '../../../ui/dates.js';
import { ProgressBar } from '../../../ui/marks.js';
import { ownersQuery } from '../queries.js';
import { standingOf, stepOf } from '../standing.js';
import { RowMenu } from './RowMenu.js';
import classes from './WebsiteTable.module.css';

interface RowProps {
  readonly website: Website;
  readonly owner: string | undefined;
}

const Row = ({ website, owner }: RowProps): ReactNode => {
  const { t } = useTranslation();
  const { id, name, clientId, deliverySummary: delivery } = website;
  return (
    <tr>
      <td className={classes['name']}>
        <Link to={pathTo('status', { websiteId: id })}>{name}</Link>
      </td>
      <td>{standingOf(website, t)}</td>
      <td>{delivery !== undefined && <ProgressBar counts={delivery.counts} size="small" />}</td>
      <td className={classes['wide']}>{stepOf(website, t)}</td>
      <td data-label={t('websites.columns.readyBy')} className={classes['dates']}>
        {delivery === undefined ? (
          <span className="muted">{t('websites.notSet')}</span>
        ) : (
          <Time at={delivery.estimatedCompletionAt} kind="day" />
        )}
      </td>
      <td data-label={t('websites.columns.owner')} className={classes['owner']}>
        {clientId === undefined ? <span className="muted">{t('websites.noOwner')}</span> : (owner ?? '…')}
      </td>
      <td className={classes['menu']}>
        <RowMenu website={website} />
      </td>
    </tr>
  );
};

/** Websites by row; on a phone each is a card. */
export const WebsiteTable = ({ websites }: { readonly websites: readonly Website[] }): ReactNode => {
  const { t } = useTranslation();
  const clientIds = [...new Set(websites.flatMap(({ clientId }) => clientId ?? []))].slice(0, 200);
  const { data: owners = {} } = useQuery(ownersQuery(clientIds));
  return (
    <div className={`card ${classes['card'] ?? ''}`}>
      <table className={classes['table']}>
        <thead>
          <tr>
            <th scope="col">{t('websites.columns.name')}</th>
            <th scope="col">{t('websites.columns.standing')}</th>
            <th scope="col">{t('websites.columns.progress')}</th>
            <th scope="col" className={classes['wide']}>
              {t('websites.columns.step')}
            </th>
            <th scope="col">{t('websites.columns.readyBy')}</th>
            <th scope="col">{t('websites.columns.owner')}</th>
            <th scope="col">
              <VisuallyHidden>{t('websites.columns.more')}</VisuallyHidden>
            </th>
          </tr>
        </thead>
        <tbody>
          {websites.map((website) => (
            <Row
              key={website.id}
              website={website}
              owner={website.clientId === undefined ? undefined : owners[website.clientId]}
            />
          ))}
        </tbody>
      </table>
    </div>
  );
};
