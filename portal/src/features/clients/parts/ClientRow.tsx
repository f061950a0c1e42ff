import type { Client } from '@doorstep/sdk';
import { useInfiniteQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { Link } from 'react-router';
import { pathTo } from '../../../paths.js';
import lists from '../../../ui/lists.module.css';
import { websitesOfClientQuery } from '../queries.js';

/** How many websites stand in a row. */
const shown = 3;

export const ClientRow = ({ client: { id, email, name, pendingEmail } }: { readonly client: Client }): ReactNode => {
  const { t } = useTranslation();
  const { data } = useInfiniteQuery(websitesOfClientQuery(id, shown));
  const page = data?.pages[0];
  return (
    <li className={lists['row']}>
      <div className={lists['what']}>
        <b>
          <Link to={pathTo('client', { clientId: id })}>{name ?? email}</Link>
        </b>
        {name !== undefined && <p className="muted small">{email}</p>}
        {pendingEmail !== undefined && <p className="small">{t('clients.pendingShort', { email: pendingEmail })}</p>}
      </div>
      <div className={lists['what']}>
        {page?.items.map((website) => (
          <p key={website.id}>
            <Link to={pathTo('status', { websiteId: website.id })}>{website.name}</Link>{' '}
            <span className="muted small">{t(website.clientId === id ? 'clients.owns' : 'clients.linked')}</span>
          </p>
        ))}
        {page?.items.length === 0 && <p className="muted">{t('clients.noWebsites')}</p>}
        {page?.next !== undefined && <p className="muted small">{t('clients.andMore')}</p>}
      </div>
    </li>
  );
};
