import { useId, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { Link } from 'react-router';
import { useMe } from '../../features/me/queries.js';
import { chooseLanguage, languages, type Language } from '../../i18n/i18n.js';
import { pathTo } from '../../paths.js';
import { signOut } from '../../session/session.js';
import classes from './AccountMenu.module.css';

/** Each language says its own name. */
const namesOf: Readonly<Record<Language, string>> = { en: 'English', de: 'Deutsch' };

/** Who is signed in, and what is theirs alone. */
export const AccountMenu = ({ place }: { readonly place: 'top' | 'side' }): ReactNode => {
  const { t, i18n } = useTranslation();
  const id = useId();
  const { client, email, subject, role, websites } = useMe();
  const who = client?.name ?? email ?? subject;
  return (
    <div className={classes['account']}>
      <button type="button" className={classes[place]} popoverTarget={id} aria-label={t('frame.account', { who })}>
        <span className={classes['letter']} aria-hidden="true">
          {who.slice(0, 1).toLocaleUpperCase()}
        </span>
        {place === 'side' && <span className={classes['name']}>{who}</span>}
      </button>
      <div
        id={id}
        popover="auto"
        className={`${classes['menu'] ?? ''} ${classes[`${place}Menu`] ?? ''}`}
        onClick={({ currentTarget, target }) => {
          if (target instanceof HTMLAnchorElement) currentTarget.hidePopover();
        }}
      >
        <p className={classes['who']}>
          {client?.name !== undefined && <b>{client.name}</b>}
          <span className="muted">{email ?? subject}</span>
        </p>
        {role !== 'admin' && (
          <>
            {websites.length > 1 && <Link to={pathTo('home')}>{t('frame.yourWebsites')}</Link>}
            <Link to={pathTo('apiKeys')}>{t('titles.apiKeys')}</Link>
            <Link to={pathTo('connect')}>{t('titles.connect')}</Link>
          </>
        )}
        <div className={classes['languages']} role="group" aria-label={t('frame.language')}>
          {(Object.keys(languages) as Language[]).map((language) => (
            <button
              key={language}
              type="button"
              lang={language}
              aria-pressed={i18n.language === language}
              onClick={() => chooseLanguage(language)}
            >
              {namesOf[language]}
            </button>
          ))}
        </div>
        <button type="button" onClick={() => void signOut()}>
          {t('frame.signOut')}
        </button>
      </div>
    </div>
  );
};
