import type { Client } from '@doorstep/sdk';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { Link } from 'react-router';
import { pathTo } from '../../../paths.js';
import lists from '../../../ui/lists.module.css';
import { PersonLinks } from './PersonLinks.js';

interface OwnerRowProps {
  readonly websiteId: string;
  readonly owner: Client | null;
  readonly mayChange: boolean;
}

export const OwnerRow = ({ websiteId, owner, mayChange }: OwnerRowProps): ReactNode => {
  const { t } = useTranslation();
  const name = owner?.name ?? owner?.email ?? '';
  return (
    <div className={`card ${lists['row'] ?? ''}`}>
      <div className={lists['what']}>
        {owner === null ? (
          <p>{t('people.noOwner')}</p>
        ) : (
          <>
            <b>{mayChange ? <Link to={pathTo('client', { clientId: owner.id })}>{name}</Link> : name}</b>
            {owner.name !== undefined && <p className="muted small">{owner.email}</p>}
            <p className="muted small">{t('people.ownerMay')}</p>
          </>
        )}
      </div>
      {mayChange && (
        <div className={lists['aside']}>
          {owner !== null && <PersonLinks websiteId={websiteId} email={owner.email} name={name} />}
          <Link to={pathTo('transfer', { websiteId })}>{t(owner === null ? 'people.offer' : 'people.handOver')}</Link>
        </div>
      )}
    </div>
  );
};
