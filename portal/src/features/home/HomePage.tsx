import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { Link } from 'react-router';
import { pathTo } from '../../paths.js';
import { useMe } from '../me/queries.js';

const HomePage = (): ReactNode => {
  const { t } = useTranslation();
  const { websites } = useMe();
  return (
    <>
      <h1>{t('titles.home')}</h1>
      <ul>
        {websites.map(({ id, name }) => (
          <li key={id}>
            <Link to={pathTo('status', { websiteId: id })}>{name}</Link>
          </li>
        ))}
      </ul>
    </>
  );
};

export default HomePage;
