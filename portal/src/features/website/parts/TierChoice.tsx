import type { Feature, Features, Tier } from '@doorstep/sdk';
import { useId, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import classes from './TierChoice.module.css';

interface TierChoiceProps {
  readonly tiers: Features['tiers'];
  readonly value: Tier;
  readonly onChange: (tier: Tier) => void;
}

/** What a tier has that the one below it has not. */
const addedBy = (tiers: Features['tiers'], index: number): readonly Feature[] =>
  tiers[index]?.features.filter((feature) => !(tiers[index - 1]?.features ?? []).includes(feature)) ?? [];

/** The tiers with what each includes. */
export const TierChoice = ({ tiers, value, onChange }: TierChoiceProps): ReactNode => {
  const { t } = useTranslation();
  const name = useId();
  return (
    <fieldset className={classes['choices']}>
      <legend>{t('websiteForm.tier')}</legend>
      {tiers.map(({ tier }, index) => (
        <label key={tier} className={classes['choice']}>
          <input type="radio" name={name} value={tier} checked={tier === value} onChange={() => onChange(tier)} />
          <b>{t(`websiteForm.tiers.${tier}`)}</b>
          <span className={`small muted ${classes['note'] ?? ''}`}>
            {index > 0 && `${t('websiteForm.tierAdds')} `}
            {addedBy(tiers, index)
              .map((feature) => t(`websiteForm.features.${feature}`))
              .join(', ')}
          </span>
        </label>
      ))}
    </fieldset>
  );
};
