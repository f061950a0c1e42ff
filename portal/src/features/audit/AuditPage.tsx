import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { useSearchParams } from 'react-router';
import { usePages } from '../../api/pages.js';
import { Button } from '../../theme/Button.js';
import { FaultLine } from '../../ui/FaultLine.js';
import lists from '../../ui/lists.module.css';
import { More } from '../../ui/More.js';
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
  const { t, i18n } = useTranslation();
  const announce = useAnnounce();
  const pages = usePages((cursor) => auditQuery(filter, cursor));
  const saving = useExport();
  const exportAs = (format: ExportFormat): void =>
    saving.mutate({ format, filter }, { onSuccess: () => announce(t('audit.exported')) });
  const formatted = (count: number): string => count.toLocaleString(i18n.language);
  return (
    <>
      <Loaded
        query={pages.first}
        skeleton={
          <Skeleton>
            <HeadingBone />
          </Skeleton>
        }
      >
        {({ total = 0 }) => (
          <PageHead
            title={t('audit.title', { count: total, formatted: formatted(total) })}
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
      <FilterForm filter={filter} error={pages.first.error} />
      <FaultLine error={saving.error} />
      {saving.isPending && <p>{t('audit.exporting', { formatted: formatted(Math.round(saving.bytes / 100_000) / 10) })}</p>}
      {pages.first.isPending && (
        <Skeleton>
          <RowBones rows={8} />
        </Skeleton>
      )}
      {pages.first.data?.items.length === 0 && <StateCard title={t('audit.none')}>{t('audit.noneText')}</StateCard>}
      {(pages.first.data?.items.length ?? 0) > 0 && (
        <ol className={`card ${lists['rows'] ?? ''}`}>
          {pages.loaded.map(({ items }) => (
            <AuditRows key={items[0]?.id} entries={items} />
          ))}
        </ol>
      )}
      <More pages={pages} />
      <p className="muted small">{t('audit.exportHint')}</p>
    </>
  );
};

export default AuditPage;
