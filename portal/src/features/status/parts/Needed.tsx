import type { Checkpoint, Website } from '@doorstep/sdk';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { Link } from 'react-router';
import { brandName } from '../../../page.js';
import { pathTo } from '../../../paths.js';
import { buttonLook } from '../../../ui/buttonLook.js';
import { useMe } from '../../me/queries.js';
import classes from '../status.module.css';

interface NeededProps {
  readonly website: Website;
  readonly checkpoints: readonly Checkpoint[];
}

/** What the client is asked for, and where they can give it. Renders nothing when that is nothing. */
export const Needed = ({ website: { id, via, role, features }, checkpoints }: NeededProps): ReactNode => {
  const { t } = useTranslation();
  const isAdmin = useMe().role === 'admin';
  const needed = checkpoints.filter(({ neededFromClient: what = '' }) => what !== '');
  if (needed.length === 0) return null;
  const writesContent = (via === 'owner' || role === 'editor') && features.includes('content');
  return (
    <section className={classes['needed']}>
      <div>
        <h2>{t(isAdmin ? 'status.neededFromClient' : 'status.needed')}</h2>
        {needed.length === 1 ? (
          <p>{needed[0]?.neededFromClient}</p>
        ) : (
          <ul>
            {needed.map(({ id: step, label, neededFromClient }) => (
              <li key={step}>
                {label}: {neededFromClient}
              </li>
            ))}
          </ul>
        )}
        {!isAdmin && !writesContent && <p className="small muted">{t('status.sendIt', { brand: brandName })}</p>}
      </div>
      {writesContent && (
        <Link className={buttonLook('primary')} to={pathTo('content', { websiteId: id })}>
          {t('status.addIt')}
        </Link>
      )}
    </section>
  );
};
