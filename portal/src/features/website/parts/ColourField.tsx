import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { TextInput } from '../../../theme/TextInput.js';
import { numberText } from '../../../ui/numbers.js';
import { inkOn, isHexColour } from '../contrast.js';
import classes from './ColourField.module.css';

interface ColourFieldProps {
  /** `#RRGGBB`; empty: the template's own. */
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly error?: ReactNode;
  readonly disabled?: boolean;
}

/** The colour of a website, typed or picked, and how text reads on it. */
export const ColourField = ({ value, onChange, error, disabled = false }: ColourFieldProps): ReactNode => {
  const { t } = useTranslation();
  const isColour = isHexColour(value);
  const { ink, ratio } = inkOn(isColour ? value : '#000000');
  return (
    <div>
      <div className={classes['row']}>
        <TextInput
          className={classes['text'] ?? ''}
          label={t('websiteForm.colour')}
          description={t('websiteForm.colourText')}
          placeholder="#7a4b2a"
          value={value}
          disabled={disabled}
          error={value !== '' && !isColour ? t('websiteForm.colourRule') : error}
          onChange={({ currentTarget }) => onChange(currentTarget.value.trim())}
        />
        <input
          type="color"
          className={classes['picker']}
          aria-label={t('websiteForm.pickColour')}
          value={isColour ? value.toLowerCase() : '#7a4b2a'}
          disabled={disabled}
          onChange={({ currentTarget }) => onChange(currentTarget.value)}
        />
      </div>
      {isColour && (
        <p className={classes['preview']}>
          <span className={classes['swatch']} style={{ background: value, color: ink }}>
            {t('websiteForm.sample')}
          </span>
          <span className="small muted">
            {t('websiteForm.contrast', {
              ratio: numberText(ratio, { maximumFractionDigits: 1 }),
            })}
          </span>
        </p>
      )}
    </div>
  );
};
