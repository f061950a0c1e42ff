import type { DeliveryChange } from '@doorstep/sdk';
import { useQuery } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { useParams, useSearchParams } from 'react-router';
import { Button } from '../../theme/Button.js';
import { dayText, momentText } from '../../ui/dates.js';
import { PageHead } from '../../ui/PageHead.js';
import { PageTitle } from '../../ui/PageTitle.js';
import { HeadingBone, RowBones, Skeleton } from '../../ui/skeletons.js';
import { Loaded, StateCard } from '../../ui/states.js';
import { useMayWrite } from '../../ui/useMayWrite.js';
import { websiteQuery } from '../website/queries.js';
import { historyWords } from './changeWords.js';
import { AsItWas } from './parts/AsItWas.js';
import { ChangeRow } from './parts/ChangeRow.js';
import { Forecast } from './parts/Forecast.js';
import { Readers } from './parts/Readers.js';
import { UndoDialog } from './parts/UndoDialog.js';
import { historyQuery } from './queries.js';
import classes from './history.module.css';

/** How many changes are shown at first, and more each time. */
const step = 30;

const HistoryBones = (): ReactNode => (
  <Skeleton>
    <HeadingBone />
    <RowBones rows={8} />
  </Skeleton>
);

interface ChangesProps {
  readonly websiteId: string;
  /** Oldest first. */
  readonly history: readonly DeliveryChange[];
  readonly mayWrite: boolean;
}

const Changes = ({ websiteId, history, mayWrite }: ChangesProps): ReactNode => {
  const { t } = useTranslation();
  const [search, setSearch] = useSearchParams();
  const [shown, setShown] = useState(step);
  const at = search.get('at');
  // In the address: the notice of a change that cannot be taken back alone leads to the question.
  const undoing = Number(search.get('undo'));
  const setUndoing = (revision: number | null): void =>
    setSearch(
      { ...(at !== null && { at }), ...(revision !== null && { undo: String(revision) }) },
      { replace: true, preventScrollReset: true },
    );
  const words = historyWords(history, (time) => dayText(time, 'day'));
  const newestFirst = history.toReversed();
  const newest = newestFirst[0]?.revision ?? 0;
  return (
    <div className={at === null ? undefined : classes['split']}>
      <section className={classes['section']} aria-labelledby="history-changes">
        <h2 id="history-changes">{t('history.changes', { count: history.length })}</h2>
        <ol className={`card ${classes['log'] ?? ''}`} reversed>
          {newestFirst.slice(0, shown).map((entry) => (
            <ChangeRow
              key={entry.revision}
              entry={entry}
              words={words.get(entry.revision) ?? []}
              isShown={entry.at === at}
              mayWrite={mayWrite}
              onUndo={() => setUndoing(entry.revision)}
            />
          ))}
        </ol>
        {history.length > shown && (
          <div>
            <Button onClick={() => setShown(shown + step)}>{t('history.earlier')}</Button>
          </div>
        )}
      </section>
      {at !== null && <AsItWas websiteId={websiteId} at={at} onClose={() => setSearch({})} />}
      {mayWrite && undoing > 0 && undoing <= newest && (
        <UndoDialog websiteId={websiteId} revision={undoing} after={newest - undoing} onClose={() => setUndoing(null)} />
      )}
    </div>
  );
};

/** What changed of a plan: who did it, why, who has seen it, and what past deliveries say. */
const HistoryPage = (): ReactNode => {
  const { t } = useTranslation();
  const { websiteId = '' } = useParams();
  const isWriter = useMayWrite();
  const website = useQuery(websiteQuery(websiteId));
  const history = useQuery(historyQuery(websiteId));
  return (
    <Loaded query={website} skeleton={<HistoryBones />}>
      {({ name, archivedAt }) => (
        <Loaded query={history} skeleton={<HistoryBones />}>
          {(entries) => {
            const last = entries.at(-1);
            return (
              <>
                <PageTitle title="titles.history" of={name} />
                <PageHead
                  title={name}
                  sub={t('titles.history')}
                  lead={
                    last === undefined
                      ? undefined
                      : t('history.last', { when: momentText(last.at), who: last.actor.name ?? last.actor.subject })
                  }
                />
                {last === undefined ? (
                  <StateCard title={t('history.none')}>{t('history.noneText')}</StateCard>
                ) : (
                  <>
                    <Changes websiteId={websiteId} history={entries} mayWrite={isWriter && archivedAt === undefined} />
                    <Readers websiteId={websiteId} newest={last.revision} />
                    <Forecast websiteId={websiteId} />
                  </>
                )}
              </>
            );
          }}
        </Loaded>
      )}
    </Loaded>
  );
};

export default HistoryPage;
