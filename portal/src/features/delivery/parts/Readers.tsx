import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { momentText, Time } from '../../../ui/dates.js';
import { Loaded } from '../../../ui/states.js';
import { visibleChangesQuery } from '../../status/queries.js';
import classes from '../history.module.css';
import { readersQuery } from '../queries.js';

/** Who has looked at the plan, and which state of it they know. */
export const Readers = ({ websiteId, newest }: { readonly websiteId: string; readonly newest: number }): ReactNode => {
  const { t } = useTranslation();
  const readers = useQuery(readersQuery(websiteId));
  const { data: visible } = useQuery(visibleChangesQuery(websiteId));
  return (
    <section className={classes['section']} aria-labelledby="history-readers">
      <h2 id="history-readers">{t('history.readers')}</h2>
      <Loaded query={readers}>
        {(people) =>
          people.length === 0 ? (
            <p className="muted">{t(visible?.areReceiptsKept === false ? 'history.notKept' : 'history.nobodyLooked')}</p>
          ) : (
            <div className={`card ${classes['table'] ?? ''}`} tabIndex={0} role="group" aria-labelledby="history-readers">
              <table>
                <thead>
                  <tr>
                    <th scope="col">{t('history.who')}</th>
                    <th scope="col">{t('history.saw')}</th>
                    <th scope="col">{t('history.firstSeen')}</th>
                    <th scope="col">{t('history.lastSeen')}</th>
                  </tr>
                </thead>
                <tbody>
                  {people.map(({ subject, name, email, revision, firstAt, lastAt }) => (
                    <tr key={subject}>
                      <th scope="row">{name ?? email ?? subject}</th>
                      <td>{revision >= newest ? t('history.sawAll') : t('history.sawNot', { count: newest - revision })}</td>
                      <td>
                        <Time at={firstAt} kind="moment">
                          {momentText(firstAt)}
                        </Time>
                      </td>
                      <td>
                        <Time at={lastAt} kind="moment">
                          {momentText(lastAt)}
                        </Time>
                      </td>
                    </tr>
                  ))}
                </tbody>
              </table>
            </div>
          )
        }
      </Loaded>
    </section>
  );
};
