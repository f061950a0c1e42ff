import type { APIKey } from '@doorstep/sdk';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { Button } from '../../../theme/Button.js';
import { isPast, momentText, Time } from '../../../ui/dates.js';
import lists from '../../../ui/lists.module.css';

interface KeyRowProps {
  readonly apiKey: APIKey;
  /** To name the key that it was minted with. */
  readonly all: readonly APIKey[];
  readonly onRevoke?: () => void;
}

export const KeyRow = ({ apiKey, all, onRevoke }: KeyRowProps): ReactNode => {
  const { t } = useTranslation();
  const { name, prefix, role, scope, expiresAt, lastUsedAt, createdAt, parentId } = apiKey;
  const isOver = expiresAt !== undefined && isPast(expiresAt);
  const parent = all.find(({ id }) => id === parentId);
  return (
    <li className={lists['row']}>
      <div className={lists['what']}>
        <b>{name}</b> <code>{prefix}…</code>
        <p className="muted small">
          {t(`apiKeys.roles.${role}`)} · {t(`apiKeys.scopes.${scope}`)}
          {parentId !== undefined && ` · ${t('apiKeys.mintedWith', { name: parent?.name ?? parentId })}`}
        </p>
        <p className="muted small">
          {t('apiKeys.made')} <Time at={createdAt} kind="moment" /> ·{' '}
          {expiresAt === undefined ? (
            t('apiKeys.noExpiry')
          ) : (
            <>
              {t(isOver ? 'apiKeys.expired' : 'apiKeys.expires')} <Time at={expiresAt} kind="moment" />
            </>
          )}{' '}
          ·{' '}
          {lastUsedAt === undefined ? (
            t('apiKeys.neverUsed')
          ) : (
            <>
              {t('apiKeys.lastUsed')}{' '}
              <Time at={lastUsedAt} kind="moment">
                {momentText(lastUsedAt)}
              </Time>
            </>
          )}
        </p>
      </div>
      {onRevoke !== undefined && (
        <Button onClick={onRevoke} aria-label={t('apiKeys.revokeNamed', { name })}>
          {t('apiKeys.revoke')}
        </Button>
      )}
    </li>
  );
};
