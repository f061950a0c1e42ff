import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { Link } from 'react-router';
import { pathTo } from '../paths.js';
import { MiddleCard } from './MiddleCard.js';

/** There is no such page. */
export const NotFoundPage = (): ReactNode => {
  const { t } = useTranslation();
  return (
    <MiddleCard title={t('notFound.title')}>
      <p className="muted">{t('notFound.text')}</p>
      <p>
        <Link to={pathTo('home')}>{t('notFound.home')}</Link>
      </p>
    </MiddleCard>
  );
};
