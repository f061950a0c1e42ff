import type { Website } from '@doorstep/sdk';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { Link } from 'react-router';
import { pathTo } from '../../../paths.js';
import { dayText } from '../../../ui/dates.js';
import classes from '../status.module.css';

/** What is out of the ordinary about the website: it is being built, or archived. Renders nothing otherwise. */
export const Standing = ({ website: { id, status, archivedAt } }: { readonly website: Website }): ReactNode => {
  const { t } = useTranslation();
  if (archivedAt !== undefined) {
    return (
      <div className={`card ${classes['standing'] ?? ''}`}>
        <b>{t('status.archived', { day: dayText(archivedAt, 'moment') })}</b> {t('status.archivedText')}
      </div>
    );
  }
  if (status === 'active') return null;
  return (
    <div className={`card ${classes['standing'] ?? ''}`}>
      <b>{t('status.built')}</b> <Link to={pathTo('provisioning', { websiteId: id })}>{t('status.watchBuilt')}</Link>
    </div>
  );
};
