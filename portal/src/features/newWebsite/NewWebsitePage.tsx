import { DoorstepError, type CreateWebsiteRequest, type Tier, type Website } from '@doorstep/sdk';
import { useDebouncedValue } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { useNavigate } from 'react-router';
import { pathTo } from '../../paths.js';
import { Button } from '../../theme/Button.js';
import { TextInput } from '../../theme/TextInput.js';
import { FaultLine } from '../../ui/FaultLine.js';
import { PageHead } from '../../ui/PageHead.js';
import { RowBones, Skeleton } from '../../ui/skeletons.js';
import { Loaded } from '../../ui/states.js';
import { fieldErrors } from '../../ui/fieldErrors.js';
import { forgetUnsaved, useLeaveGuard } from '../../ui/leaving.js';
import { useMayWrite } from '../../ui/useMayWrite.js';
import { isHexColour } from '../website/contrast.js';
import { ClientField } from '../website/parts/ClientField.js';
import { ColourField } from '../website/parts/ColourField.js';
import { TierChoice } from '../website/parts/TierChoice.js';
import { isSlug, suggestedSlug } from '../website/slug.js';
import classes from './NewWebsitePage.module.css';
import { useCreateWebsite } from './mutations.js';
import { Plan } from './parts/Plan.js';
import { TemplateChoice } from './parts/TemplateChoice.js';
import { featuresQuery, planQuery, templatesQuery } from './queries.js';

/** Names with commas or spaces between, each once. */
const namesIn = (text: string): string[] => [...new Set(text.split(/[\s,]+/).filter((name) => name !== ''))];

/** Leads to the first field that is not as it should be, once it says so. */
const showFault = (form: HTMLFormElement): void => {
  requestAnimationFrame(() => {
    const field = form.querySelector<HTMLElement>('[aria-invalid="true"]');
    const folded = field?.closest('details');
    if (folded) folded.open = true;
    field?.focus();
  });
};

const NewWebsitePage = (): ReactNode => {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const mayWrite = useMayWrite();
  const features = useQuery(featuresQuery);
  const templates = useQuery(templatesQuery);
  const [name, setName] = useState('');
  const [typedSlug, setTypedSlug] = useState<string>();
  const [clientId, setClientId] = useState<string | null>(null);
  const [tier, setTier] = useState<Tier>('starter');
  const [templateId, setTemplateId] = useState<string>();
  const [colour, setColour] = useState('');
  const [collaborators, setCollaborators] = useState('');
  const [isSent, setSent] = useState(false);
  const create = useCreateWebsite();

  useLeaveGuard([name, typedSlug ?? '', clientId ?? '', colour, collaborators].some((value) => value !== ''));

  const slug = typedSlug ?? suggestedSlug(name);
  const template = templateId ?? templates.data?.[0]?.id;
  const names = namesIn(collaborators);
  const body: CreateWebsiteRequest = {
    name: name.trim(),
    slug,
    tier,
    ...(template !== undefined && { templateId: template }),
    ...(clientId !== null && { clientId }),
    ...(colour !== '' && { brandColor: colour }),
    ...(names.length > 0 && { collaborators: names }),
  };
  const isSound = body.name !== '' && isSlug(slug) && (colour === '' || isHexColour(colour));
  // Asked when the typing pauses, not with each key.
  const [asked] = useDebouncedValue(JSON.stringify(body), 250);
  const isAsked = asked === JSON.stringify(body);
  const plan = useQuery({ ...planQuery(JSON.parse(asked) as CreateWebsiteRequest), enabled: isSound && isAsked && mayWrite });

  const error = create.error ?? (isAsked ? plan.error : null);
  const faults = fieldErrors(error);
  const isTaken = error instanceof DoorstepError && error.code === 'slug_taken';
  const slugFault = (): string | undefined => {
    if (isTaken) return t('websiteForm.slugTaken', { slug });
    if (slug !== '' && !isSlug(slug)) return t('websiteForm.slugRule');
    return isSent && slug === '' ? t('websiteForm.slugNeeded') : faults['slug'];
  };
  // What no field shows.
  const isElsewhere = error !== null && !isTaken && ['name', 'slug', 'brandColor'].every((field) => faults[field] === undefined);

  const leadTo = ({ id }: Website): void => {
    forgetUnsaved();
    void navigate(pathTo('provisioning', { websiteId: id }));
  };

  const changed =
    <T,>(set: (value: T) => void) =>
    (value: T): void => {
      create.reset();
      set(value);
    };

  return (
    <>
      <PageHead title={t('newWebsite.title')} lead={t('newWebsite.lead')} />
      <form
        className={classes['split']}
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          setSent(true);
          if (!isSound) showFault(event.currentTarget);
          else create.mutate(body, { onSuccess: leadTo });
        }}
      >
        <div className={`card ${classes['form'] ?? ''}`}>
          <TextInput
            label={t('websiteForm.name')}
            value={name}
            maxLength={200}
            required
            withAsterisk={false}
            autoComplete="off"
            data-autofocus
            error={isSent && body.name === '' ? t('websiteForm.nameNeeded') : faults['name']}
            onChange={({ currentTarget }) => changed(setName)(currentTarget.value)}
          />
          <TextInput
            label={t('websiteForm.slug')}
            description={t('newWebsite.slugText')}
            value={slug}
            maxLength={63}
            autoComplete="off"
            autoCapitalize="none"
            spellCheck={false}
            error={slugFault()}
            onChange={({ currentTarget }) =>
              changed(setTypedSlug)(currentTarget.value === '' ? undefined : currentTarget.value.toLowerCase())
            }
          />
          <Loaded
            query={features}
            skeleton={
              <Skeleton>
                <RowBones rows={2} />
              </Skeleton>
            }
          >
            {({ tiers }) => <TierChoice tiers={tiers} value={tier} onChange={changed(setTier)} />}
          </Loaded>
          <Loaded
            query={templates}
            skeleton={
              <Skeleton>
                <RowBones rows={3} />
              </Skeleton>
            }
          >
            {(all) => <TemplateChoice templates={all} value={template} onChange={changed(setTemplateId)} />}
          </Loaded>
          <details>
            <summary>{t('newWebsite.more')}</summary>
            <div className={classes['more']}>
              <ClientField value={clientId} onChange={changed(setClientId)} description={t('newWebsite.clientText')} />
              <ColourField value={colour} onChange={changed(setColour)} error={faults['brandColor']} />
              <TextInput
                label={t('newWebsite.collaborators')}
                description={t('newWebsite.collaboratorsText')}
                value={collaborators}
                autoComplete="off"
                autoCapitalize="none"
                spellCheck={false}
                onChange={({ currentTarget }) => changed(setCollaborators)(currentTarget.value)}
              />
            </div>
          </details>
        </div>
        <section className={`card ${classes['aside'] ?? ''}`} aria-labelledby="new-website-plan">
          <h2 id="new-website-plan">{t('newWebsite.plan.title')}</h2>
          {isSound && plan.data !== undefined ? (
            <Plan body={body} plan={plan.data} />
          ) : (
            <p className="muted">
              {body.name === ''
                ? t('newWebsite.plan.nothingYet')
                : t(isSound && error === null ? 'common.waiting' : 'newWebsite.plan.refused')}
            </p>
          )}
          {isElsewhere && <FaultLine error={error} />}
          <Button
            type="submit"
            variant="filled"
            className={classes['submit'] ?? ''}
            loading={create.isPending}
            disabled={!mayWrite}
          >
            {t('newWebsite.create')}
          </Button>
        </section>
      </form>
    </>
  );
};

export default NewWebsitePage;
