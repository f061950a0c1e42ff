import { DoorstepError, type ChangeWebsiteRequest, type Feature, type Features, type Tier, type Website } from '@doorstep/sdk';
import { useState, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { TextInput } from '../../../theme/TextInput.js';
import { fieldErrors } from '../../../ui/fieldErrors.js';
import { SaveBar } from '../../../ui/SaveBar.js';
import { useNotice } from '../../../ui/notices.js';
import { isHexColour } from '../../website/contrast.js';
import { ColourField } from '../../website/parts/ColourField.js';
import { TierChoice } from '../../website/parts/TierChoice.js';
import { isSlug } from '../../website/slug.js';
import { useUpdateWebsite } from '../mutations.js';
import classes from '../SettingsPage.module.css';

interface Form {
  readonly name: string;
  readonly slug: string;
  readonly tier: Tier;
  readonly features: readonly Feature[];
  readonly brandColor: string;
}

const formOf = ({ name, slug, tier, features, brandColor = '' }: Website): Form => ({ name, slug, tier, features, brandColor });

const featuresOf = ({ tiers }: Features, tier: Tier): readonly Feature[] =>
  tiers.find((one) => one.tier === tier)?.features ?? [];

/** What a change of tier does, as the service does it: what is new is on, what was switched off stays off. */
const onTier = (form: Form, tier: Tier, plan: Features): Form => ({
  ...form,
  tier,
  features: featuresOf(plan, tier).filter(
    (feature) => form.features.includes(feature) || !featuresOf(plan, form.tier).includes(feature),
  ),
});

/** What is different, as it is sent. */
const changesOf = (before: Form, after: Form): ChangeWebsiteRequest => {
  const isSame = before.features.length === after.features.length && before.features.every((one) => after.features.includes(one));
  return {
    ...(after.name.trim() !== before.name && { name: after.name.trim() }),
    ...(after.slug !== before.slug && { slug: after.slug }),
    ...(after.tier !== before.tier && { tier: after.tier }),
    ...((!isSame || after.tier !== before.tier) && { features: [...after.features] }),
    ...(after.brandColor !== before.brandColor && { brandColor: after.brandColor === '' ? null : after.brandColor }),
  };
};

interface GeneralProps {
  readonly website: Website;
  readonly plan: Features;
}

/** Name, address, tier, features and colour. */
export const General = ({ website, plan }: GeneralProps): ReactNode => {
  const { t } = useTranslation();
  const notify = useNotice();
  const update = useUpdateWebsite(website.id);
  const saved = formOf(website);
  const [edited, setEdited] = useState<Form>();
  const form = edited ?? saved;
  const changes = changesOf(saved, form);
  const isSound = form.name.trim() !== '' && isSlug(form.slug) && (form.brandColor === '' || isHexColour(form.brandColor));
  const faults = fieldErrors(update.error);
  const isTaken = update.error instanceof DoorstepError && update.error.code === 'slug_taken';
  const change = (part: Partial<Form>): void => {
    update.reset();
    setEdited({ ...form, ...part });
  };
  const slugFault = (): string | undefined => {
    if (isTaken) return t('websiteForm.slugTaken', { slug: form.slug });
    return isSlug(form.slug) ? faults['slug'] : t('websiteForm.slugRule');
  };
  return (
    <section className={`card ${classes['section'] ?? ''}`} aria-labelledby="settings-general">
      <h2 id="settings-general">{t('settings.general.title')}</h2>
      <div className={classes['fields']}>
        <TextInput
          label={t('websiteForm.name')}
          description={t('settings.general.nameText')}
          value={form.name}
          maxLength={200}
          autoComplete="off"
          error={form.name.trim() === '' ? t('websiteForm.nameNeeded') : faults['name']}
          onChange={({ currentTarget }) => change({ name: currentTarget.value })}
        />
        <TextInput
          label={t('websiteForm.slug')}
          description={t(changes.slug === undefined ? 'settings.general.slugText' : 'settings.general.slugMoves', {
            slug: website.slug,
          })}
          value={form.slug}
          maxLength={63}
          autoComplete="off"
          autoCapitalize="none"
          spellCheck={false}
          error={slugFault()}
          onChange={({ currentTarget }) => change({ slug: currentTarget.value.toLowerCase() })}
        />
      </div>
      <TierChoice tiers={plan.tiers} value={form.tier} onChange={(tier) => setEdited(onTier(form, tier, plan))} />
      <fieldset className={classes['features']}>
        <legend>{t('settings.general.features')}</legend>
        {plan.features.map(({ feature, lowestTier }) => {
          const isOffered = featuresOf(plan, form.tier).includes(feature);
          return (
            <label key={feature} className={classes['check']}>
              <input
                type="checkbox"
                checked={form.features.includes(feature)}
                disabled={!isOffered}
                onChange={({ currentTarget }) =>
                  change({
                    features: currentTarget.checked
                      ? [...form.features, feature]
                      : form.features.filter((one) => one !== feature),
                  })
                }
              />
              <span>
                {t(`websiteForm.features.${feature}`)}
                {!isOffered && (
                  <span className="small muted">
                    {' '}
                    {t('settings.general.fromTier', { tier: t(`websiteForm.tiers.${lowestTier}`) })}
                  </span>
                )}
              </span>
            </label>
          );
        })}
      </fieldset>
      <ColourField value={form.brandColor} onChange={(brandColor) => change({ brandColor })} error={faults['brandColor']} />
      <SaveBar
        dirty={Object.keys(changes).length > 0}
        saving={update.isPending}
        error={update.error}
        onDiscard={() => {
          update.reset();
          setEdited(undefined);
        }}
        onSave={() => {
          if (!isSound) return;
          update.mutate(changes, {
            onSuccess: () => {
              setEdited(undefined);
              notify({ words: t('settings.general.saved') });
            },
          });
        }}
      />
    </section>
  );
};
