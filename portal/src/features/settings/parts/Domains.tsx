import type { Domain } from '@doorstep/sdk';
import { useQuery } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { inReadersLanguage } from '../../../i18n/serviceWords.js';
import { Button } from '../../../theme/Button.js';
import { TextInput } from '../../../theme/TextInput.js';
import { useAnnounce } from '../../../ui/Announcer.js';
import { ConfirmDialog } from '../../../ui/ConfirmDialog.js';
import { CopyField } from '../../../ui/CopyField.js';
import { FaultLine } from '../../../ui/FaultLine.js';
import { fieldErrors } from '../../../ui/fieldErrors.js';
import { useLeaveGuard } from '../../../ui/leaving.js';
import { RowBones, Skeleton } from '../../../ui/skeletons.js';
import { Loaded } from '../../../ui/states.js';
import { useAddDomain, useRemoveDomain, useVerifyDomain } from '../mutations.js';
import { domainsQuery } from '../queries.js';
import classes from '../SettingsPage.module.css';

const Records = ({ domain: { records } }: { readonly domain: Domain }): ReactNode => {
  const { t } = useTranslation();
  return records.map(({ type, name, value, purpose, found }) => (
    <div key={`${type} ${name} ${value}`} className={classes['record']}>
      <p className="small">
        <b>{type}</b> · {t(`settings.domains.purpose.${purpose}`)} ·{' '}
        <span className="muted">{t(found ? 'settings.domains.found' : 'settings.domains.notFound')}</span>
      </p>
      <CopyField label={t('settings.domains.recordName')} value={name} />
      <CopyField label={t('settings.domains.recordValue')} value={value} />
    </div>
  ));
};

interface DomainItemProps {
  readonly domain: Domain;
  readonly mayChange: boolean;
}

const DomainItem = ({ domain, mayChange }: DomainItemProps): ReactNode => {
  const { t } = useTranslation();
  const announce = useAnnounce();
  const verify = useVerifyDomain(domain.websiteId);
  const remove = useRemoveDomain(domain.websiteId);
  const [isRemoving, setRemoving] = useState(false);
  const isPending = domain.status === 'pending';
  const problem = verify.data?.problem ?? domain.problem;
  return (
    <li className={classes['item']}>
      <div className={classes['itemHead']}>
        <b>{domain.domain}</b>
        <span className="muted">{t(`settings.domains.status.${domain.status}`)}</span>
        {mayChange && (
          <span className={classes['actions']}>
            <Button
              loading={verify.isPending}
              onClick={() =>
                verify.mutate(domain.domain, { onSuccess: ({ status }) => announce(t(`settings.domains.status.${status}`)) })
              }
            >
              {t(isPending ? 'settings.domains.verify' : 'settings.domains.check')}
            </Button>
            <Button onClick={() => setRemoving(true)}>{t('common.remove')}</Button>
          </span>
        )}
      </div>
      {isPending && <p className="small">{t('settings.domains.setRecords')}</p>}
      {problem !== undefined && <p className="small">{inReadersLanguage(problem)}</p>}
      {verify.data?.status === 'pending' && problem === undefined && <p className="small">{t('settings.domains.notYet')}</p>}
      <FaultLine error={verify.error} />
      {isPending ? (
        <Records domain={domain} />
      ) : (
        <details>
          <summary>{t('settings.domains.records')}</summary>
          <Records domain={domain} />
        </details>
      )}
      <ConfirmDialog
        opened={isRemoving}
        onClose={() => setRemoving(false)}
        title={t('settings.domains.removeTitle', { domain: domain.domain })}
        action={t('common.remove')}
        pending={remove.isPending}
        error={remove.error}
        onConfirm={() => remove.mutate(domain.domain, { onSuccess: () => setRemoving(false) })}
      >
        <p>{t('settings.domains.removeText')}</p>
      </ConfirmDialog>
    </li>
  );
};

const AddDomain = ({ websiteId }: { readonly websiteId: string }): ReactNode => {
  const { t } = useTranslation();
  const add = useAddDomain(websiteId);
  const [domain, setDomain] = useState('');
  useLeaveGuard(domain.trim() !== '');
  const fault = fieldErrors(add.error)['domain'];
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        if (domain.trim() !== '') add.mutate(domain.trim(), { onSuccess: () => setDomain('') });
      }}
    >
      <div className={classes['row']}>
        <TextInput
          className={classes['grow'] ?? ''}
          label={t('settings.domains.add')}
          placeholder="www.corner-bakery.example"
          value={domain}
          autoComplete="off"
          autoCapitalize="none"
          spellCheck={false}
          inputMode="url"
          error={fault}
          onChange={({ currentTarget }) => {
            add.reset();
            setDomain(currentTarget.value);
          }}
        />
        <Button type="submit" loading={add.isPending}>
          {t('settings.domains.addAction')}
        </Button>
      </div>
      {fault === undefined && <FaultLine error={add.error} />}
    </form>
  );
};

interface DomainsProps {
  readonly websiteId: string;
  readonly mayChange: boolean;
}

/** The hostnames of a website: what is to be set in DNS, and whether it is there. */
export const Domains = ({ websiteId, mayChange }: DomainsProps): ReactNode => {
  const { t } = useTranslation();
  const domains = useQuery(domainsQuery(websiteId));
  return (
    <section className={`card ${classes['section'] ?? ''}`} aria-labelledby="settings-domains">
      <header>
        <h2 id="settings-domains">{t('settings.domains.title')}</h2>
        <p className="muted">{t('settings.domains.text')}</p>
      </header>
      <Loaded
        query={domains}
        skeleton={
          <Skeleton>
            <RowBones rows={2} />
          </Skeleton>
        }
      >
        {(all) =>
          all.length === 0 ? (
            <p>{t('settings.domains.none')}</p>
          ) : (
            <ul className={classes['items']}>
              {all.map((domain) => (
                <DomainItem key={domain.domain} domain={domain} mayChange={mayChange} />
              ))}
            </ul>
          )
        }
      </Loaded>
      {mayChange && <AddDomain websiteId={websiteId} />}
    </section>
  );
};
