import { DoorstepError, type ChangeWebsiteRequest, type Feature, type Features, type Tier, type Website } from '@doorstep/sdk';
import { useState, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { TextInput } from '../../../theme/TextInput.js';
import { differing } from '../../../ui/differing.js';
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

/** What was edited: no more than that, so that what somebody else changes meanwhile stays. */
type Edits = Partial<Omit<Form, 'features'>>;

type Switches = Partial<Record<Feature, boolean>>;

/**
 * The form as it is once the edits are saved. A change of tier does what the service does: what is new is
 * on, what was switched off stays off.
 */
const withEdits = (saved: Form, edits: Edits, switches: Switches, plan: Features): Form => {
  const form = { ...saved, ...edits };
  const offeredBefore = featuresOf(plan, saved.tier);
  const isOn = (feature: Feature): boolean =>
    switches[feature] ?? (saved.features.includes(feature) || !offeredBefore.includes(feature));
  return { ...form, features: featuresOf(plan, form.tier).filter(isOn) };
};

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
  const [edits, setEdits] = useState<Edits>({});
  const [switches, setSwitches] = useState<Switches>({});
  const form = withEdits(saved, edits, switches, plan);
  const changes = changesOf(saved, form);
  const isSound = form.name.trim() !== '' && isSlug(form.slug) && (form.brandColor === '' || isHexColour(form.brandColor));
  const faults = fieldErrors(update.error);
  const isTaken = update.error instanceof DoorstepError && update.error.code === 'slug_taken';
  // A request that is under way is not forgotten: its answer says what is saved.
  const forget = (): void => {
    if (update.isError) update.reset();
  };
  const change = (part: Edits): void => {
    forget();
    setEdits((now) => differing({ ...now, ...part }, update.isPending ? {} : saved));
  };
  const turn = (feature: Feature, isOn: boolean): void => {
    forget();
    const isOnBefore = withEdits(saved, edits, {}, plan).features.includes(feature);
    setSwitches((now) => differing({ ...now, [feature]: isOn }, update.isPending ? {} : { [feature]: isOnBefore }));
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
      <TierChoice tiers={plan.tiers} value={form.tier} onChange={(tier) => change({ tier })} />
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
                onChange={({ currentTarget }) => turn(feature, currentTarget.checked)}
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
          setEdits({});
          setSwitches({});
        }}
        onSave={() => {
          if (!isSound) return;
          update.mutate(changes, {
            onSuccess: () => {
              setEdits((now) => differing(now, edits));
              setSwitches((now) => differing(now, switches));
              notify({ words: t('settings.general.saved') });
            },
          });
        }}
      />
    </section>
  );
};
