import { useInfiniteQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { useSearchParams } from 'react-router';
import { Button } from '../../theme/Button.js';
import { FaultLine } from '../../ui/FaultLine.js';
import lists from '../../ui/lists.module.css';
import { More } from '../../ui/More.js';
import { numberText } from '../../ui/numbers.js';
import { PageHead } from '../../ui/PageHead.js';
import { HeadingBone, RowBones, Skeleton } from '../../ui/skeletons.js';
import { Loaded, StateCard } from '../../ui/states.js';
import { auditFilterIn, type AuditFilter } from './filter.js';
import { useExport, type ExportFormat } from './mutations.js';
import { AuditRows } from './parts/AuditRows.js';
import { FilterForm } from './parts/FilterForm.js';
import { auditQuery } from './queries.js';
import { useAnnounce } from '../../ui/Announcer.js';

/** Who changed what, when, and by which way. */
const AuditPage = (): ReactNode => {
  const [search] = useSearchParams();
  // Another filter is another list.
  return <AuditOf key={search.toString()} filter={auditFilterIn(search)} />;
};

const AuditOf = ({ filter }: { readonly filter: AuditFilter }): ReactNode => {
  const { t } = useTranslation();
  const announce = useAnnounce();
  const list = useInfiniteQuery(auditQuery(filter));
  const pages = list.data?.pages ?? [];
  const saving = useExport();
  const exportAs = (format: ExportFormat): void =>
    saving.mutate({ format, filter }, { onSuccess: () => announce(t('audit.exported')) });
  return (
    <>
      <Loaded
        query={list}
        skeleton={
          <Skeleton>
            <HeadingBone />
          </Skeleton>
        }
      >
        {({ pages: [{ total = 0 } = {}] }) => (
          <PageHead
            title={t('audit.title', { count: total, formatted: numberText(total) })}
            lead={t('audit.lead')}
            actions={
              <>
                <Button loading={saving.isPending} disabled={total === 0} onClick={() => exportAs('csv')}>
                  {t('audit.csv')}
                </Button>
                <Button loading={saving.isPending} disabled={total === 0} onClick={() => exportAs('ndjson')}>
                  {t('audit.ndjson')}
                </Button>
              </>
            }
          />
        )}
      </Loaded>
      <FilterForm filter={filter} error={list.error} />
      <FaultLine error={saving.error} />
      {saving.isPending && <p>{t('audit.exporting', { formatted: numberText(Math.round(saving.bytes / 100_000) / 10) })}</p>}
      {list.isPending && (
        <Skeleton>
          <RowBones rows={8} />
        </Skeleton>
      )}
      {pages[0]?.items.length === 0 && <StateCard title={t('audit.none')}>{t('audit.noneText')}</StateCard>}
      {(pages[0]?.items.length ?? 0) > 0 && (
        <ol className={`card ${lists['rows'] ?? ''}`}>
          {pages.map(({ items }, index) => (
            // By its place: a page that begins with a newer change is still the same one, and keeps its names.
            <AuditRows key={index} entries={items} />
          ))}
        </ol>
      )}
      <More list={list} />
      <p className="muted small">{t('audit.exportHint')}</p>
    </>
  );
};

export default AuditPage;
