import type { Client } from '@doorstep/sdk';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { Link, useNavigate, useParams } from 'react-router';
import { pathTo } from '../../paths.js';
import { Button } from '../../theme/Button.js';
import { TextInput } from '../../theme/TextInput.js';
import { ConfirmByTyping } from '../../ui/ConfirmByTyping.js';
import { Time } from '../../ui/dates.js';
import { FaultLine } from '../../ui/FaultLine.js';
import { fieldErrors } from '../../ui/fieldErrors.js';
import forms from '../../ui/forms.module.css';
import { forgetUnsaved, useLeaveGuard } from '../../ui/leaving.js';
import lists from '../../ui/lists.module.css';
import { More } from '../../ui/More.js';
import { useNotice } from '../../ui/notices.js';
import { PageHead } from '../../ui/PageHead.js';
import { HeadingBone, RowBones, Skeleton } from '../../ui/skeletons.js';
import { Loaded } from '../../ui/states.js';
import { useMayWrite } from '../../ui/useMayWrite.js';
import { useChange, useErase, useExportClient } from './mutations.js';
import { clientQuery, websitesOfClientQuery } from './queries.js';

const card = `card ${forms['card'] ?? ''} ${forms['form'] ?? ''}`;

/** One person: their websites, name and address, and everything that is kept about them. */
const ClientPage = (): ReactNode => {
  const { clientId = '' } = useParams();
  const query = useQuery(clientQuery(clientId));
  return (
    <Loaded
      query={query}
      skeleton={
        <Skeleton>
          <HeadingBone />
          <RowBones />
        </Skeleton>
      }
    >
      {(client) => <Person client={client} />}
    </Loaded>
  );
};

const Person = ({ client }: { readonly client: Client }): ReactNode => {
  const { t } = useTranslation();
  const mayWrite = useMayWrite();
  const { id, name, email, createdAt } = client;
  const saving = useExportClient(id);
  return (
    <>
      <PageHead
        title={name ?? email}
        sub={name === undefined ? undefined : email}
        lead={
          <>
            {t('clients.since')} <Time at={createdAt} kind="moment" />
          </>
        }
      />
      <Websites clientId={id} />
      {/* What is typed belongs to what the service has. */}
      {mayWrite && <ChangeForm key={`${name ?? ''} ${email}`} client={client} />}
      <section className={card} aria-labelledby="data">
        <h2 id="data">{t('clients.data')}</h2>
        <p>{t('clients.dataText')}</p>
        <FaultLine error={saving.error} />
        <div className={forms['actions']}>
          <Button loading={saving.isPending} onClick={() => saving.mutate()}>
            {t('clients.export')}
          </Button>
          <Link to={`${pathTo('audit')}?actor=${encodeURIComponent(email)}`}>{t('clients.audit')}</Link>
        </div>
      </section>
      {mayWrite && <Erase client={client} />}
    </>
  );
};

const Websites = ({ clientId }: { readonly clientId: string }): ReactNode => {
  const { t } = useTranslation();
  const query = useInfiniteQuery(websitesOfClientQuery(clientId));
  return (
    <section className={lists['section']} aria-labelledby="websites">
      <h2 id="websites">{t('clients.websites')}</h2>
      <Loaded query={query}>
        {({ pages }) => {
          const websites = pages.flatMap(({ items }) => items);
          return websites.length === 0 ? (
            <p className="muted">{t('clients.noWebsites')}</p>
          ) : (
            <>
              <ul className={`card ${lists['rows'] ?? ''}`}>
                {websites.map((website) => (
                  <li key={website.id} className={lists['row']}>
                    <span className={lists['what']}>
                      <Link to={pathTo('status', { websiteId: website.id })}>{website.name}</Link>
                    </span>
                    <span className="muted">{t(website.clientId === clientId ? 'clients.owns' : 'clients.linked')}</span>
                    <Link to={pathTo('people', { websiteId: website.id })}>{t('titles.people')}</Link>
                  </li>
                ))}
              </ul>
              <More list={query} />
            </>
          );
        }}
      </Loaded>
    </section>
  );
};

const ChangeForm = ({ client }: { readonly client: Client }): ReactNode => {
  const { t } = useTranslation();
  const { id, email, pendingEmail, pendingEmailExpiresAt } = client;
  const change = useChange(id);
  const notify = useNotice();
  const [nextName, setName] = useState(client.name ?? '');
  const [nextEmail, setEmail] = useState(email);
  const errors = fieldErrors(change.error);
  const name = nextName.trim();
  const hasNewName = name !== (client.name ?? '');
  const hasNewEmail = nextEmail.trim().toLowerCase() !== email;
  useLeaveGuard(hasNewName || hasNewEmail);
  return (
    <form
      className={card}
      aria-label={t('clients.change')}
      onSubmit={(event) => {
        event.preventDefault();
        change.mutate(
          { ...(hasNewName && { name: name === '' ? null : name }), ...(hasNewEmail && { email: nextEmail.trim() }) },
          {
            onSuccess: () => {
              setEmail(email);
              notify({ words: t(hasNewEmail ? 'clients.confirmationSent' : 'clients.changed', { email: nextEmail.trim() }) });
            },
          },
        );
      }}
    >
      <h2>{t('clients.change')}</h2>
      {pendingEmail !== undefined && pendingEmailExpiresAt !== undefined && (
        <div className={forms['actions']} role="status">
          <p>
            {t('clients.pending', { email: pendingEmail })} <Time at={pendingEmailExpiresAt} kind="moment" />.
          </p>
          <Button onClick={() => change.mutate({ email })}>{t('clients.withdraw')}</Button>
        </div>
      )}
      <div className={`${forms['fields'] ?? ''} ${forms['top'] ?? ''}`}>
        <TextInput
          label={t('clients.name')}
          autoComplete="off"
          value={nextName}
          error={errors['name']}
          onChange={({ currentTarget: { value } }) => setName(value)}
        />
        <TextInput
          type="email"
          label={t('clients.email')}
          required
          withAsterisk={false}
          maxLength={254}
          autoComplete="off"
          value={nextEmail}
          error={errors['email']}
          onChange={({ currentTarget: { value } }) => setEmail(value)}
        />
      </div>
      <p className="muted small">{t('clients.changeText')}</p>
      <FaultLine error={Object.keys(errors).length > 0 ? null : change.error} />
      <div className={forms['actions']}>
        <Button type="submit" variant="filled" disabled={!hasNewName && !hasNewEmail} loading={change.isPending}>
          {t('common.save')}
        </Button>
      </div>
    </form>
  );
};

const Erase = ({ client: { id, email } }: { readonly client: Client }): ReactNode => {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const notify = useNotice();
  const erase = useErase(id);
  const [isAsking, setAsking] = useState(false);
  const leave = async (): Promise<void> => {
    notify({ words: t('clients.erased') });
    forgetUnsaved();
    await navigate(pathTo('clients'), { replace: true });
    erase.forget();
  };
  return (
    <section className={card} aria-labelledby="erase">
      <h2 id="erase">{t('clients.erase')}</h2>
      <p>{t('clients.eraseText')}</p>
      <div>
        <Button onClick={() => setAsking(true)}>{t('clients.eraseAction')}</Button>
      </div>
      <ConfirmByTyping
        opened={isAsking}
        onClose={() => setAsking(false)}
        word={email}
        title={t('clients.eraseTitle', { email })}
        action={t('clients.eraseAction')}
        pending={erase.isPending}
        error={erase.error}
        onConfirm={() => erase.mutate(undefined, { onSuccess: () => void leave() })}
      >
        <p>{t('clients.eraseNow')}</p>
        <ul className={forms['list']}>
          <li>{t('clients.eraseAccess')}</li>
          <li>{t('clients.eraseLog')}</li>
          <li>{t('clients.eraseMails')}</li>
        </ul>
        <p>{t('clients.eraseStays')}</p>
      </ConfirmByTyping>
    </section>
  );
};

export default ClientPage;
