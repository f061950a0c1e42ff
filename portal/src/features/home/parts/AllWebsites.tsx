import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { Link } from 'react-router';
import { pathTo } from '../../../paths.js';
import { Table } from '../../../theme/Table.js';
import { Time } from '../../../ui/dates.js';
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
        <Table verticalSpacing={11} horizontalSpacing={16}>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>{t('home.name')}</Table.Th>
              <Table.Th>{t('home.progress')}</Table.Th>
              <Table.Th className={classes['wide']}>{t('home.now')}</Table.Th>
              <Table.Th>{t('home.ready')}</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {websites.map(({ id, name, status, deliverySummary: delivery }) => (
              <Table.Tr key={id}>
                <Table.Td>
                  <Link to={pathTo('status', { websiteId: id })}>{name}</Link>
                </Table.Td>
                <Table.Td className="muted">
                  {delivery === undefined ? (
                    t(status === 'provisioning' ? 'home.beingBuilt' : 'home.noPlan')
                  ) : (
                    <ProgressBar counts={delivery.counts} size="small" />
                  )}
                </Table.Td>
                <Table.Td className={classes['wide']}>{delivery?.current?.label}</Table.Td>
                <Table.Td className="muted" data-label={t('home.ready')}>
                  {delivery === undefined ? t('home.notSet') : <Time at={delivery.estimatedCompletionAt} kind="day" />}
                </Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </div>
      {total > websites.length && (
        <p className="small">
          <Link to={pathTo('websites')}>{t('home.all', { count: total })}</Link>
        </p>
      )}
    </section>
  );
};
