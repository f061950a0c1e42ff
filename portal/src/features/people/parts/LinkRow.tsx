import type { WebsiteClientLink } from '@doorstep/sdk';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { Link } from 'react-router';
import { pathTo } from '../../../paths.js';
import { Button } from '../../../theme/Button.js';
import { NativeSelect } from '../../../theme/NativeSelect.js';
import { useAnnounce } from '../../../ui/Announcer.js';
import { Time } from '../../../ui/dates.js';
import { FaultLine } from '../../../ui/FaultLine.js';
import lists from '../../../ui/lists.module.css';
import { useNotice } from '../../../ui/notices.js';
import { useRemove, useSetRole, useUndoRemove } from '../mutations.js';
import { PersonLinks } from './PersonLinks.js';

/** Somebody who has access: their role, and whatever may be done about it. */
export const LinkRow = ({ link, mayChange }: { readonly link: WebsiteClientLink; readonly mayChange: boolean }): ReactNode => {
  const { t } = useTranslation();
  const { websiteId, clientId, role, email, createdAt } = link;
  const name = link.name ?? email;
  const announce = useAnnounce();
  const notify = useNotice();
  const setRole = useSetRole(websiteId);
  const remove = useRemove(websiteId);
  const undo = useUndoRemove(websiteId);
  const change = (next: WebsiteClientLink['role']): void =>
    setRole.mutate(
      { clientId, role: next },
      { onSuccess: () => announce(t('people.roleChanged', { name, role: t(`people.roles.${next}`) })) },
    );
  const takeAway = (): void =>
    remove.mutate(clientId, {
      onSuccess: () => notify({ words: t('people.removed', { name }), undo: () => undo.mutateAsync(clientId) }),
    });
  return (
    <li className={lists['row']}>
      <div className={lists['what']}>
        <b>{mayChange ? <Link to={pathTo('client', { clientId })}>{name}</Link> : name}</b>
        {link.name !== undefined && <p className="muted small">{email}</p>}
        <p className="muted small">
          {t('people.since')} <Time at={createdAt} kind="moment" />
        </p>
        <FaultLine error={setRole.error ?? remove.error} />
      </div>
      {mayChange ? (
        <div className={lists['aside']}>
          <NativeSelect
            aria-label={t('people.roleOf', { name })}
            value={setRole.isPending ? setRole.variables.role : role}
            onChange={({ currentTarget: { value } }) => change(value === 'editor' ? 'editor' : 'viewer')}
            data={[
              { value: 'viewer', label: t('people.roles.viewer') },
              { value: 'editor', label: t('people.roles.editor') },
            ]}
          />
          <PersonLinks websiteId={websiteId} email={email} name={name} />
          <Button loading={remove.isPending} onClick={takeAway} aria-label={t('people.removeNamed', { name })}>
            {t('common.remove')}
          </Button>
        </div>
      ) : (
        <span>{t(`people.roles.${role}`)}</span>
      )}
    </li>
  );
};
