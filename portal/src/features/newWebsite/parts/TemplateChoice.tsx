import type { Template } from '@doorstep/sdk';
import { useId, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { inReadersLanguage } from '../../../i18n/serviceWords.js';
import { base } from '../../../page.js';
import classes from '../../website/parts/TierChoice.module.css';

/** The service's own pictures alone: nothing is asked of others. */
const pictureOf = ({ id, picture }: Template): string | undefined => {
  const own = `/templates/${id}/picture`;
  return picture?.endsWith(own) === true ? base + own : undefined;
};

interface TemplateChoiceProps {
  readonly templates: readonly Template[];
  readonly value: string | undefined;
  readonly onChange: (templateId: string) => void;
}

export const TemplateChoice = ({ templates, value, onChange }: TemplateChoiceProps): ReactNode => {
  const { t } = useTranslation();
  const name = useId();
  return (
    <fieldset className={classes['choices']}>
      <legend>{t('newWebsite.template')}</legend>
      {templates.map((template) => {
        const picture = pictureOf(template);
        return (
          <label key={template.id} className={classes['choice']}>
            {picture !== undefined && <img className={classes['picture']} src={picture} alt="" />}
            <input
              type="radio"
              name={name}
              value={template.id}
              checked={template.id === value}
              onChange={() => onChange(template.id)}
            />
            <b>{inReadersLanguage(template.name)}</b>
            <span className={`small muted ${classes['note'] ?? ''}`}>{inReadersLanguage(template.description)}</span>
          </label>
        );
      })}
    </fieldset>
  );
};
