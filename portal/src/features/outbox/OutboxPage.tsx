import { DoorstepError, type OutboxMail } from '@doorstep/sdk';
import { useInfiniteQuery } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { useSearchParams } from 'react-router';
import { Button } from '../../theme/Button.js';
import { Tabs } from '../../theme/Tabs.js';
import { momentText, Time } from '../../ui/dates.js';
import lists from '../../ui/lists.module.css';
import { More } from '../../ui/More.js';
import { PageHead } from '../../ui/PageHead.js';
import { SearchForm } from '../../ui/SearchForm.js';
import { HeadingBone, RowBones, Skeleton } from '../../ui/skeletons.js';
import { Loaded, StateCard } from '../../ui/states.js';
import classes from './OutboxPage.module.css';
import { MailLook } from './parts/MailLook.js';
import { outboxQuery } from './queries.js';

/** The mails that the service wrote, where it keeps them instead of sending them. */
const OutboxPage = (): ReactNode => {
  const [search] = useSearchParams();
  const to = search.get('to') ?? '';
  return <OutboxOf key={to} to={to} />;
};

const OutboxOf = ({ to }: { readonly to: string }): ReactNode => {
  const { t } = useTranslation();
  const [, setSearch] = useSearchParams();
  const list = useInfiniteQuery(outboxQuery(to));
  const { error } = list;
  // With a mail server there is no such list.
  if (error instanceof DoorstepError && error.status === 404) {
    return <PageHead title={t('outbox.sent')} lead={t('outbox.sentText')} />;
  }
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
        const items = pages.flatMap((page) => page.items);
        return (
          <>
            <PageHead
              title={items.length === 0 ? t('outbox.titleNone') : t('outbox.title')}
              lead={t('outbox.lead')}
              actions={<Button onClick={() => void list.refetch()}>{t('outbox.refresh')}</Button>}
            />
            {(items.length > 0 || to !== '') && (
              <SearchForm
                key={to}
                searched={to}
                label={t('outbox.to')}
                all={t('outbox.all')}
                onSearch={(text) => setSearch(text === '' ? {} : { to: text })}
              />
            )}
            {items.length === 0 && (
              <StateCard title={t(to === '' ? 'outbox.none' : 'outbox.noneTo')}>{t('outbox.noneText')}</StateCard>
            )}
            {items.length > 0 && (
              <ul className={`card ${lists['rows'] ?? ''}`}>
                {items.map((mail) => (
                  <Mail key={mail.id} mail={mail} />
                ))}
              </ul>
            )}
            <More list={list} />
          </>
        );
      }}
    </Loaded>
  );
};

const Mail = ({ mail }: { readonly mail: OutboxMail }): ReactNode => {
  const { to, subject, at } = mail;
  const [isOpen, setOpen] = useState(false);
  return (
    <li className={`${lists['row'] ?? ''} ${classes['mail'] ?? ''}`}>
      <details className={lists['what']} onToggle={({ currentTarget: { open } }) => setOpen(open)}>
        <summary className={lists['summary']}>
          <b>{subject}</b> <span className={`muted small ${classes['to'] ?? ''}`}>{to}</span>
        </summary>
        {isOpen && <MailParts mail={mail} />}
      </details>
      <Time at={at} kind="moment" className="muted small">
        {momentText(at)}
      </Time>
    </li>
  );
};

const MailParts = ({ mail: { html, text, links } }: { readonly mail: OutboxMail }): ReactNode => {
  const { t } = useTranslation();
  return (
    <Tabs defaultValue="look" keepMounted={false}>
      <Tabs.List>
        <Tabs.Tab value="look">{t('outbox.look')}</Tabs.Tab>
        <Tabs.Tab value="text">{t('outbox.text')}</Tabs.Tab>
      </Tabs.List>
      <Tabs.Panel value="look">
        <MailLook html={html} />
      </Tabs.Panel>
      <Tabs.Panel value="text">
        <p className={classes['text']}>{text}</p>
        {links.length > 0 && (
          <ul className={classes['links']} aria-label={t('outbox.links')}>
            {links.map((link) => (
              <li key={link}>
                <a href={link} target="_blank" rel="noreferrer noopener">
                  {link}
                </a>
              </li>
            ))}
          </ul>
        )}
      </Tabs.Panel>
    </Tabs>
  );
};

export default OutboxPage;
