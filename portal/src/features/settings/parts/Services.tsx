import type { AttachServiceRequest, Feature, Service, ServiceKind, Website } from '@doorstep/sdk';
import { useQuery } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { Button } from '../../../theme/Button.js';
import { TextInput } from '../../../theme/TextInput.js';
import { ConfirmDialog } from '../../../ui/ConfirmDialog.js';
import { FaultLine } from '../../../ui/FaultLine.js';
import { fieldErrors } from '../../../ui/fieldErrors.js';
import { useLeaveGuard } from '../../../ui/leaving.js';
import { RowBones, Skeleton } from '../../../ui/skeletons.js';
import { Loaded } from '../../../ui/states.js';
import { useAttachService, useDetachService } from '../mutations.js';
import { servicesQuery } from '../queries.js';
import classes from '../SettingsPage.module.css';

const kinds = ['commerce', 'scheduling', 'analytics'] as const satisfies readonly (ServiceKind & Feature)[];

/** What is asked for a service: one thing that names it, and the secret that opens it. */
interface Fields {
  readonly named: string;
  readonly secret: string;
}

const requestOf = (kind: ServiceKind, { named, secret }: Fields): AttachServiceRequest => {
  const text = named.trim();
  switch (kind) {
    case 'commerce':
      return { kind, shopDomain: text, ...(secret !== '' && { secrets: { adminToken: secret } }) };
    case 'scheduling':
      return {
        kind,
        ...(text !== '' && { eventTypeIds: text.split(/[\s,]+/).map(Number) }),
        ...(secret !== '' && { secrets: { apiKey: secret } }),
      };
    case 'analytics':
      return { kind, ...(text !== '' && { siteId: text }) };
  }
};

const fieldOf: Readonly<Record<ServiceKind, string>> = {
  commerce: 'shopDomain',
  scheduling: 'eventTypeIds',
  analytics: 'siteId',
};

const nameOf = ({ shopDomain, eventTypeIds, siteId }: Service): string | undefined =>
  shopDomain ?? siteId ?? eventTypeIds?.join(', ');

interface AttachProps {
  readonly websiteId: string;
  readonly kind: ServiceKind;
  readonly onDone: () => void;
}

const Attach = ({ websiteId, kind, onDone }: AttachProps): ReactNode => {
  const { t } = useTranslation();
  const attach = useAttachService(websiteId);
  const [fields, setFields] = useState<Fields>({ named: '', secret: '' });
  useLeaveGuard(fields.named.trim() !== '' || fields.secret !== '');
  const faults = Object.entries(fieldErrors(attach.error));
  const fault = faults.find(([field]) => field.startsWith(fieldOf[kind]))?.[1];
  const secretFault = faults.find(([field]) => field.startsWith('secrets'))?.[1];
  return (
    <form
      className={classes['fields']}
      onSubmit={(event) => {
        event.preventDefault();
        attach.mutate(requestOf(kind, fields), { onSuccess: onDone });
      }}
    >
      <TextInput
        label={t(`settings.services.named.${kind}`)}
        description={t(`settings.services.namedText.${kind}`)}
        value={fields.named}
        required={kind === 'commerce'}
        withAsterisk={false}
        autoComplete="off"
        autoCapitalize="none"
        spellCheck={false}
        error={fault}
        onChange={({ currentTarget }) => setFields({ ...fields, named: currentTarget.value })}
      />
      {kind !== 'analytics' && (
        <TextInput
          type="password"
          label={t(`settings.services.secret.${kind}`)}
          description={t('settings.services.secretText')}
          value={fields.secret}
          autoComplete="new-password"
          error={secretFault}
          onChange={({ currentTarget }) => setFields({ ...fields, secret: currentTarget.value })}
        />
      )}
      <div>
        {fault === undefined && secretFault === undefined && <FaultLine error={attach.error} />}
        <div className={classes['row']}>
          <Button type="submit" loading={attach.isPending}>
            {t('settings.services.attach')}
          </Button>
          <Button onClick={onDone}>{t('common.cancel')}</Button>
        </div>
      </div>
    </form>
  );
};

interface KindProps {
  readonly website: Website;
  readonly kind: (typeof kinds)[number];
  readonly service: Service | undefined;
  readonly mayChange: boolean;
}

const Kind = ({ website, kind, service, mayChange }: KindProps): ReactNode => {
  const { t } = useTranslation();
  const detach = useDetachService(website.id);
  const [step, setStep] = useState<'attach' | 'detach'>();
  const isOn = website.features.includes(kind);
  const standing =
    service === undefined
      ? t(isOn ? 'settings.services.none' : 'settings.services.featureOff', { feature: t(`websiteForm.features.${kind}`) })
      : [
          nameOf(service),
          service.secretNames.length > 0 && t('settings.services.secrets', { names: service.secretNames.join(', ') }),
        ]
          .filter(Boolean)
          .join(' · ');
  return (
    <li className={classes['item']}>
      <div className={classes['itemHead']}>
        <b>{t(`settings.services.kinds.${kind}`)}</b>
        <span className="muted">{standing}</span>
        {mayChange && step !== 'attach' && (
          <span className={classes['actions']}>
            {isOn && (
              <Button onClick={() => setStep('attach')}>
                {t(service === undefined ? 'settings.services.attach' : 'settings.services.replace')}
              </Button>
            )}
            {service !== undefined && <Button onClick={() => setStep('detach')}>{t('settings.services.detach')}</Button>}
          </span>
        )}
      </div>
      {step === 'attach' && <Attach websiteId={website.id} kind={kind} onDone={() => setStep(undefined)} />}
      {service !== undefined && (
        <ConfirmDialog
          opened={step === 'detach'}
          onClose={() => setStep(undefined)}
          title={t('settings.services.detachTitle', { kind: t(`settings.services.kinds.${kind}`) })}
          action={t('settings.services.detach')}
          pending={detach.isPending}
          error={detach.error}
          onConfirm={() => detach.mutate(service.id, { onSuccess: () => setStep(undefined) })}
        >
          <p>{t('settings.services.detachText')}</p>
        </ConfirmDialog>
      )}
    </li>
  );
};

interface ServicesProps {
  readonly website: Website;
  readonly mayChange: boolean;
}

/** What outside belongs to a website: one of each kind. */
export const Services = ({ website, mayChange }: ServicesProps): ReactNode => {
  const { t } = useTranslation();
  const services = useQuery(servicesQuery(website.id));
  return (
    <section className={`card ${classes['section'] ?? ''}`} aria-labelledby="settings-services">
      <header>
        <h2 id="settings-services">{t('settings.services.title')}</h2>
        <p className="muted">{t('settings.services.text')}</p>
      </header>
      <Loaded
        query={services}
        skeleton={
          <Skeleton>
            <RowBones rows={3} />
          </Skeleton>
        }
      >
        {(all) => (
          <ul className={classes['items']}>
            {kinds.map((kind) => (
              <Kind
                key={kind}
                website={website}
                kind={kind}
                service={all.find((one) => one.kind === kind)}
                mayChange={mayChange}
              />
            ))}
          </ul>
        )}
      </Loaded>
    </section>
  );
};
