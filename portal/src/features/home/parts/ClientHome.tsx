import type { Invitation, Website } from '@doorstep/sdk';
import { useInfiniteQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { Link, Navigate } from 'react-router';
import { brandName } from '../../../page.js';
import { pathTo } from '../../../paths.js';
import { signIn } from '../../../session/session.js';
import { Button } from '../../../theme/Button.js';
import { dayText, daysUntil } from '../../../ui/dates.js';
import { ProgressBar } from '../../../ui/marks.js';
import { More } from '../../../ui/More.js';
import { PageHead } from '../../../ui/PageHead.js';
import { RowBones, Skeleton } from '../../../ui/skeletons.js';
import { Loaded } from '../../../ui/states.js';
import { useMayWrite } from '../../../ui/useMayWrite.js';
import { useMe } from '../../me/queries.js';
import { onlyWebsiteOf, ownWebsitesQuery } from '../queries.js';
import classes from './home.module.css';

const Invitations = ({ invitations }: { readonly invitations: readonly Invitation[] }): ReactNode => {
  const { t } = useTranslation();
  const mayWrite = useMayWrite();
  return (
    <section className={classes['group']}>
      <h2>{t('home.invitations')}</h2>
      <ul className={`card ${classes['rows'] ?? ''}`}>
        {invitations.map(({ id, websiteName = '', expiresAt }) => (
          <li key={id} className={classes['row']}>
            <b>{websiteName}</b>
            <span className="muted">{t('home.validUntil', { day: dayText(expiresAt, 'moment') })}</span>
            {mayWrite && (
              <Button
                component={Link}
                to={pathTo('invitation', { invitationId: id })}
                variant="filled"
                aria-label={t('home.actionOf', { action: t('home.accept'), website: websiteName })}
              >
                {t('home.accept')}
              </Button>
            )}
          </li>
        ))}
      </ul>
    </section>
  );
};

/** "Ready by 22 December, 3 of 6 steps done": the answer of its Status page, in short. */
const AnswerLine = ({ website: { deliverySummary: delivery } }: { readonly website: Website }): ReactNode => {
  const { t } = useTranslation();
  if (delivery === undefined) return t('home.planFollows');
  const { estimatedCompletionAt: eta, counts } = delivery;
  const count = counts.done + counts.in_progress + counts.pending;
  const key = count > 0 && counts.done === count ? 'answerDone' : daysUntil(eta, 'day') < 0 ? 'answerLate' : 'answer';
  return t(`home.${key}`, { day: dayText(eta, 'day'), done: counts.done, count });
};

const Own = ({ website }: { readonly website: Website }): ReactNode => {
  const { id, name, deliverySummary: delivery } = website;
  return (
    <li>
      <Link to={pathTo('status', { websiteId: id })} className={classes['own']}>
        <b>{name}</b>
        <span className="muted">
          <AnswerLine website={website} />
        </span>
        {delivery !== undefined && <ProgressBar counts={delivery.counts} />}
      </Link>
    </li>
  );
};

/** Who has nothing yet: why that may be, and what to do. */
const Nothing = (): ReactNode => {
  const { t } = useTranslation();
  const { email } = useMe();
  if (email === null) {
    return (
      <>
        <PageHead title={t('home.unknown')} lead={t('home.unknownText', { brand: brandName })} />
        <p>
          <Button onClick={() => void signIn({ anew: true })}>{t('home.otherAddress')}</Button>
        </p>
      </>
    );
  }
  return (
    <>
      <PageHead title={t('home.nothingShared')} lead={t('home.nothingSharedText', { brand: brandName, email })} />
      <p>
        <Button onClick={() => void signIn({ anew: true })}>{t('home.otherAddress')}</Button>
      </p>
    </>
  );
};

/** A client's websites. With one, its Status page is what they came for. */
export const ClientHome = (): ReactNode => {
  const { t } = useTranslation();
  const me = useMe();
  const { websites, invitations } = me;
  const only = onlyWebsiteOf(me);
  const isMany = websites.length > 0 && only === undefined;
  const own = useInfiniteQuery({ ...ownWebsitesQuery, enabled: isMany });
  if (only !== undefined) return <Navigate to={pathTo('status', { websiteId: only.id })} replace />;
  if (!isMany && invitations.length === 0) return <Nothing />;
  return (
    <>
      <PageHead title={t(isMany ? 'home.yours' : 'home.invited')} />
      {invitations.length > 0 && <Invitations invitations={invitations} />}
      {isMany && (
        <Loaded
          query={own}
          skeleton={
            <Skeleton>
              <RowBones rows={websites.length} />
            </Skeleton>
          }
        >
          {({ pages }) => (
            <>
              <ul className={classes['list']}>
                {pages
                  .flatMap(({ items }) => items)
                  .map((website) => (
                    <Own key={website.id} website={website} />
                  ))}
              </ul>
              <More list={own} />
            </>
          )}
        </Loaded>
      )}
    </>
  );
};
