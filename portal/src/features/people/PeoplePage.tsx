import { useInfiniteQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { useParams, useSearchParams } from 'react-router';
import lists from '../../ui/lists.module.css';
import { More } from '../../ui/More.js';
import { PageHead } from '../../ui/PageHead.js';
import { HeadingBone, RowBones, Skeleton } from '../../ui/skeletons.js';
import { Loaded } from '../../ui/states.js';
import { useIsAdmin } from '../../ui/useMayWrite.js';
import { AccessCard } from './parts/AccessCard.js';
import { AddForm } from './parts/AddForm.js';
import { InvitationRow } from './parts/InvitationRow.js';
import { LinkRow } from './parts/LinkRow.js';
import { OwnerRow } from './parts/OwnerRow.js';
import { peopleQuery } from './queries.js';

/** Who may see a website: its owner, linked people, open invitations. */
const PeoplePage = (): ReactNode => {
  const { t } = useTranslation();
  const { websiteId = '' } = useParams();
  const [search] = useSearchParams();
  const mayChange = useIsAdmin();
  const list = useInfiniteQuery(peopleQuery(websiteId));
  const asked = search.get('access') ?? '';
  return (
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
        const owner = pages[0]?.owner ?? null;
        const links = pages.flatMap((page) => page.links);
        // The newest ones come with every page.
        const invitations = new Map(pages.flatMap((page) => page.invitations.map((each) => [each.id, each])));
        const open = [...invitations.values()].filter(({ kind }) => kind === 'client_access');
        const ownerName = owner?.name ?? owner?.email;
        const count = links.length;
        return (
          <>
            <PageHead
              title={
                ownerName === undefined
                  ? t(count === 0 ? 'people.titleNobody' : 'people.titleLinks', { count })
                  : t(count === 0 ? 'people.titleOwner' : list.hasNextPage ? 'people.titleMany' : 'people.title', {
                      owner: ownerName,
                      count,
                    })
              }
              lead={t(mayChange ? 'people.lead' : 'people.leadOwner')}
            />
            {mayChange && (
              <AddForm
                websiteId={websiteId}
                isListed={(added) =>
                  added.kind === 'invited'
                    ? invitations.has(added.invitation.id)
                    : links.some(({ clientId }) => clientId === added.link.clientId)
                }
              />
            )}
            <section className={lists['section']} aria-labelledby="owner">
              <h2 id="owner">{t('people.owner')}</h2>
              <OwnerRow websiteId={websiteId} owner={owner} mayChange={mayChange} />
            </section>
            {count > 0 && (
              <section className={lists['section']} aria-labelledby="links">
                <h2 id="links">{t('people.links')}</h2>
                <ul className={`card ${lists['rows'] ?? ''}`}>
                  {links.map((link) => (
                    <LinkRow key={link.clientId} link={link} mayChange={mayChange} />
                  ))}
                </ul>
                <More list={list} />
              </section>
            )}
            {open.length > 0 && (
              <section className={lists['section']} aria-labelledby="invitations">
                <h2 id="invitations">{t('people.invitations')}</h2>
                <ul className={`card ${lists['rows'] ?? ''}`}>
                  {open.map((invitation) => (
                    <InvitationRow key={invitation.id} invitation={invitation} mayChange={mayChange} />
                  ))}
                </ul>
                {count === 0 && <More list={list} />}
              </section>
            )}
            {mayChange && (owner !== null || count > 0) && <p className="muted small">{t('people.openAsNote')}</p>}
            {mayChange && <AccessCard key={asked} websiteId={websiteId} email={asked} />}
          </>
        );
      }}
    </Loaded>
  );
};

export default PeoplePage;
