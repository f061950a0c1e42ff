import { useInfiniteQuery } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { useSearchParams } from 'react-router';
import { Button } from '../../theme/Button.js';
import lists from '../../ui/lists.module.css';
import { More } from '../../ui/More.js';
import { PageHead } from '../../ui/PageHead.js';
import { SearchForm } from '../../ui/SearchForm.js';
import { HeadingBone, RowBones, Skeleton } from '../../ui/skeletons.js';
import { Loaded, StateCard } from '../../ui/states.js';
import { useMayWrite } from '../../ui/useMayWrite.js';
import { ClientRow } from './parts/ClientRow.js';
import { CreateDialog } from './parts/CreateDialog.js';
import { clientsQuery } from './queries.js';

/** The people whom the agency works for, and their websites. */
const ClientsPage = (): ReactNode => {
  const [search] = useSearchParams();
  const q = search.get('q') ?? '';
  const [isCreating, setCreating] = useState(false);
  return (
    <>
      <ClientsOf key={q} q={q} onCreate={() => setCreating(true)} />
      {isCreating && <CreateDialog onClose={() => setCreating(false)} />}
    </>
  );
};

const ClientsOf = ({ q, onCreate }: { readonly q: string; readonly onCreate: () => void }): ReactNode => {
  const { t } = useTranslation();
  const [, setSearch] = useSearchParams();
  const mayWrite = useMayWrite();
  const list = useInfiniteQuery(clientsQuery(q));
  const create = mayWrite ? (
    <Button variant="filled" onClick={onCreate}>
      {t('clients.create')}
    </Button>
  ) : undefined;
  return (
    <>
      <Loaded
        query={list}
        skeleton={
          <Skeleton>
            <HeadingBone />
            <RowBones />
          </Skeleton>
        }
      >
        {({ pages }) => {
          const { total = 0 } = pages[0] ?? {};
          return (
            <>
              <PageHead
                title={t(q === '' ? 'clients.title' : 'clients.titleFound', { count: total, q })}
                lead={t('clients.lead')}
                actions={create}
              />
              {(total > 0 || q !== '') && (
                <SearchForm
                  key={q}
                  searched={q}
                  label={t('clients.search')}
                  all={t('clients.all')}
                  onSearch={(text) => setSearch(text === '' ? {} : { q: text })}
                />
              )}
              {total > 0 && (
                <ul className={`card ${lists['rows'] ?? ''}`}>
                  {pages
                    .flatMap(({ items }) => items)
                    .map((client) => (
                      <ClientRow key={client.id} client={client} />
                    ))}
                </ul>
              )}
              {total === 0 && q === '' && <StateCard title={t('clients.none')}>{t('clients.noneText')}</StateCard>}
              {total === 0 && q !== '' && <StateCard title={t('clients.noMatch')}>{t('clients.noMatchText')}</StateCard>}
              <More list={list} />
            </>
          );
        }}
      </Loaded>
    </>
  );
};

export default ClientsPage;
