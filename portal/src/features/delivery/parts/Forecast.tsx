import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { dayText } from '../../../ui/dates.js';
import { Loaded } from '../../../ui/states.js';
import classes from '../history.module.css';
import { forecastQuery, savedDeliveryQuery } from '../queries.js';

/** When the open steps will be done, as far as past deliveries tell. */
export const Forecast = ({ websiteId }: { readonly websiteId: string }): ReactNode => {
  const { t } = useTranslation();
  const forecast = useQuery(forecastQuery(websiteId));
  const { data: saved } = useQuery(savedDeliveryQuery(websiteId));
  const labelOf = (id: string): string => saved?.data.checkpoints.find((step) => step.id === id)?.label ?? id;
  return (
    <section className={classes['section']} aria-labelledby="history-forecast">
      <h2 id="history-forecast">{t('history.forecast')}</h2>
      <Loaded query={forecast}>
        {({ checkpoints, etaHeldInPast, finished }) => (
          <>
            <p className="muted">
              {etaHeldInPast === null
                ? t('delivery.tooFew', { count: finished })
                : t('history.held', { held: Math.round(etaHeldInPast * finished), count: finished })}
            </p>
            {checkpoints.length === 0 ? (
              <p className="muted">{t('history.allDone')}</p>
            ) : (
              <div className={`card ${classes['table'] ?? ''}`} tabIndex={0} role="group" aria-labelledby="history-forecast">
                <table>
                  <thead>
                    <tr>
                      <th scope="col">{t('history.step')}</th>
                      <th scope="col">{t('history.usually')}</th>
                      <th scope="col">{t('history.nineOfTen')}</th>
                      <th scope="col">{t('history.cases')}</th>
                    </tr>
                  </thead>
                  <tbody>
                    {checkpoints.map(({ id, medianAt, p90At, cases }) => (
                      <tr key={id}>
                        <th scope="row">{labelOf(id)}</th>
                        {medianAt === null || p90At === null ? (
                          <td colSpan={2} className="muted">
                            {t('history.tooFewCases')}
                          </td>
                        ) : (
                          <>
                            <td>{dayText(medianAt, 'moment')}</td>
                            <td>{dayText(p90At, 'moment')}</td>
                          </>
                        )}
                        <td>{cases}</td>
                      </tr>
                    ))}
                  </tbody>
                </table>
              </div>
            )}
          </>
        )}
      </Loaded>
    </section>
  );
};
