import type { AuditEntry } from '@doorstep/sdk';
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { Link } from 'react-router';
import { pathTo } from '../../../paths.js';
import { momentText, Time } from '../../../ui/dates.js';
import lists from '../../../ui/lists.module.css';
import { clientNamesQuery, websiteNamesQuery } from '../queries.js';
import classes from './AuditRows.module.css';
import { sentenceOf } from './sentence.js';

const idsIn = (entries: readonly AuditEntry[], read: (entry: AuditEntry) => unknown): readonly string[] =>
  [...new Set(entries.map(read).filter((id): id is string => typeof id === 'string'))].sort();

/** A page of the audit, with the names of whom and what it is about. */
export const AuditRows = ({ entries }: { readonly entries: readonly AuditEntry[] }): ReactNode => {
  const { data: clients = {} } = useQuery(clientNamesQuery(idsIn(entries, ({ data }) => data['clientId'] ?? data['claimedBy'])));
  const { data: websites = {} } = useQuery(websiteNamesQuery(idsIn(entries, ({ websiteId }) => websiteId)));
  return entries.map((entry) => <AuditRow key={entry.id} entry={entry} clients={clients} websites={websites} />);
};

type Names = Readonly<Record<string, string>>;

const AuditRow = ({
  entry,
  clients,
  websites,
}: {
  readonly entry: AuditEntry;
  readonly clients: Names;
  readonly websites: Names;
}): ReactNode => {
  const { t } = useTranslation();
  const { at, actor, websiteId, type, data, requestId } = entry;
  const website = websiteId === undefined ? undefined : websites[websiteId];
  return (
    <li className={`${lists['row'] ?? ''} ${classes['row'] ?? ''}`}>
      <Time at={at} kind="moment" className={`muted small ${classes['when'] ?? ''}`}>
        {momentText(at)}
      </Time>
      <div className={lists['what']}>
        <p>
          <b>{sentenceOf(entry, clients, t)}</b>
        </p>
        <p className="muted small">
          {t('audit.by', { who: actor.name ?? actor.subject })}, {t(`audit.vias.${actor.via}`)}
          {actor.program !== undefined && ` (${actor.program})`}
        </p>
        <details>
          <summary className="muted small">{t('audit.details')}</summary>
          <p className="small">
            <code>{type}</code> · {t('audit.request')} <code>{requestId}</code>
          </p>
          <pre className={classes['data']}>{JSON.stringify(data, null, 2)}</pre>
        </details>
      </div>
      {websiteId !== undefined && (
        <p className={classes['website']}>
          {website === undefined ? <code>{websiteId}</code> : <Link to={pathTo('status', { websiteId })}>{website}</Link>}
        </p>
      )}
    </li>
  );
};
