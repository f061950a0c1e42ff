import type { AccessExplanation } from '@doorstep/sdk';
import { useQuery } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { useSearchParams } from 'react-router';
import { Button } from '../../../theme/Button.js';
import { TextInput } from '../../../theme/TextInput.js';
import forms from '../../../ui/forms.module.css';
import lists from '../../../ui/lists.module.css';
import { Loaded } from '../../../ui/states.js';
import { accessQuery } from '../queries.js';
import classes from './AccessCard.module.css';

/** What may this person see, and why? */
export const AccessCard = ({ websiteId, email }: { readonly websiteId: string; readonly email: string }): ReactNode => {
  const { t } = useTranslation();
  const [, setSearch] = useSearchParams();
  const [typed, setTyped] = useState(email);
  return (
    <section className={`card ${forms['card'] ?? ''} ${forms['form'] ?? ''}`} aria-labelledby="access">
      <h2 id="access">{t('people.accessTitle')}</h2>
      <form
        className={forms['fields']}
        onSubmit={(event) => {
          event.preventDefault();
          setSearch({ access: typed.trim() });
        }}
      >
        <TextInput
          type="email"
          label={t('people.email')}
          required
          withAsterisk={false}
          autoComplete="off"
          value={typed}
          onChange={({ currentTarget: { value } }) => setTyped(value)}
        />
        <div>
          <Button type="submit">{t('people.explain')}</Button>
        </div>
      </form>
      {email !== '' && <Explained websiteId={websiteId} email={email} />}
    </section>
  );
};

const Explained = ({ websiteId, email }: { readonly websiteId: string; readonly email: string }): ReactNode => {
  const { t } = useTranslation();
  const query = useQuery(accessQuery(websiteId, email));
  return (
    <Loaded query={query}>
      {({ person, invitations, areas }) => (
        <>
          <p role="status">
            <b>{person.name ?? email}</b>{' '}
            {t(
              invitations.length > 0 && person.standing === 'stranger'
                ? 'people.invitedOnly'
                : `people.standings.${person.standing}`,
            )}
            {person.roleFrom === 'nothing' && ` ${t('people.roleUnknown')}`}
          </p>
          <ul className={classes['areas']}>
            {areas.map((area) => (
              <Area key={area.area} area={area} />
            ))}
          </ul>
        </>
      )}
    </Loaded>
  );
};

type AreaOf = AccessExplanation['areas'][number];

const Area = ({ area: { area, may, operations } }: { readonly area: AreaOf }): ReactNode => {
  const { t } = useTranslation();
  return (
    <li>
      <details>
        <summary className={lists['summary']}>
          <span className={classes['area']} lang="en">
            {area}
          </span>
          <span className="muted">{t(`people.may.${may}`)}</span>
        </summary>
        <ul className={classes['operations']}>
          {operations.map(({ operationId, summary, allowed, rule }) => (
            <li key={operationId}>
              <b>{t(allowed ? 'people.yes' : 'people.no')}</b> <span lang="en">{summary}</span>
              <p className="muted small">{t(`people.rules.${allowed ? 'allowed' : 'refused'}.${rule}`)}</p>
            </li>
          ))}
        </ul>
      </details>
    </li>
  );
};
