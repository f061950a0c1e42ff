import type { SeoScan } from '@doorstep/sdk';
import { useId, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { inReadersLanguage } from '../../../i18n/serviceWords.js';
import lists from '../../../ui/lists.module.css';

type Finding = NonNullable<SeoScan['findings']>[number];

const weights = ['error', 'warning', 'notice'] as const;

const FindingRow = ({ finding: { message, advice, affected, pages } }: { readonly finding: Finding }): ReactNode => {
  const { t } = useTranslation();
  return (
    <li className={lists['row']}>
      <div className={lists['what']}>
        <h3>{inReadersLanguage(message)}</h3>
        <p className="muted">{inReadersLanguage(advice)}</p>
        {pages.length > 0 && (
          <details>
            <summary className={lists['summary']}>{t('seo.affected', { count: affected })}</summary>
            <ul>
              {pages.map((page) => (
                <li key={page} className="small">
                  {inReadersLanguage(page)}
                </li>
              ))}
              {affected > pages.length && <li className="small muted">{t('seo.andMore', { count: affected - pages.length })}</li>}
            </ul>
          </details>
        )}
      </div>
    </li>
  );
};

const Weight = ({
  weight,
  findings,
}: {
  readonly weight: (typeof weights)[number];
  readonly findings: readonly Finding[];
}): ReactNode => {
  const { t } = useTranslation();
  const id = useId();
  if (findings.length === 0) return null;
  return (
    <section className={lists['section']} aria-labelledby={id}>
      <h2 id={id}>{t(`seo.weights.${weight}`, { count: findings.length })}</h2>
      <ul className={`card ${lists['rows'] ?? ''}`}>
        {findings.map((finding) => (
          <FindingRow key={finding.rule} finding={finding} />
        ))}
      </ul>
    </section>
  );
};

/** What is to be changed, the gravest first. */
export const Findings = ({ findings }: { readonly findings: readonly Finding[] }): ReactNode =>
  weights.map((weight) => (
    <Weight key={weight} weight={weight} findings={findings.filter(({ severity }) => severity === weight)} />
  ));
