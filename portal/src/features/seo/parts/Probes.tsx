import type { SeoScan } from '@doorstep/sdk';
import { useId, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { inReadersLanguage } from '../../../i18n/serviceWords.js';
import lists from '../../../ui/lists.module.css';

/** What an assistant says to somebody who looks for such a business. */
export const Probes = ({ probes }: { readonly probes: NonNullable<SeoScan['probes']> }): ReactNode => {
  const { t } = useTranslation();
  const id = useId();
  const { status, reason, answers, description } = probes;
  return (
    <section className={lists['section']} aria-labelledby={id}>
      <h2 id={id}>{t('seo.probes.title')}</h2>
      {status === 'notConfigured' && <p className="muted">{t('seo.probes.notConfigured')}</p>}
      {status === 'failed' && (
        <p className="muted">
          {t('seo.probes.failed')} {reason !== undefined && inReadersLanguage(reason)}
        </p>
      )}
      {status === 'answered' && (
        <ul className={`card ${lists['rows'] ?? ''}`}>
          {answers.map(({ question, answer, named }) => (
            <li key={question} className={lists['row']}>
              <div className={lists['what']}>
                <h3>{question}</h3>
                <p className="muted">{answer}</p>
              </div>
              <span className="small">{t(named ? 'seo.probes.named' : 'seo.probes.notNamed')}</span>
            </li>
          ))}
          {description !== undefined && (
            <li className={lists['row']}>
              <div className={lists['what']}>
                <h3>{t('seo.probes.about')}</h3>
                <p className="muted">{description}</p>
              </div>
            </li>
          )}
        </ul>
      )}
    </section>
  );
};
