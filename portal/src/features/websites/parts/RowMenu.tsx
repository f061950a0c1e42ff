import type { Website } from '@doorstep/sdk';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { Link } from 'react-router';
import { pathTo } from '../../../paths.js';
import { ActionIcon } from '../../../theme/ActionIcon.js';
import { Menu } from '../../../theme/Menu.js';
import { useMayWrite } from '../../../ui/useMayWrite.js';
import { useArchiving } from '../mutations.js';

const pages = ['delivery', 'people', 'provisioning', 'settings'] as const;

/** Where one goes from a website, and what can be done with all of it. */
export const RowMenu = ({ website }: { readonly website: Website }): ReactNode => {
  const { t } = useTranslation();
  const mayWrite = useMayWrite();
  const archiving = useArchiving();
  const isArchived = website.archivedAt !== undefined;
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <ActionIcon size={36} aria-label={t('websites.menu', { name: website.name })} loading={archiving.isPending}>
          <span aria-hidden="true">⋯</span>
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        {pages.map((page) => (
          <Menu.Item key={page} component={Link} to={pathTo(page, { websiteId: website.id })}>
            {t(`titles.${page}`)}
          </Menu.Item>
        ))}
        {mayWrite && (
          <>
            <Menu.Divider />
            <Menu.Item onClick={() => archiving.mutate({ website, archived: !isArchived })}>
              {t(isArchived ? 'websites.restore' : 'websites.archive')}
            </Menu.Item>
          </>
        )}
      </Menu.Dropdown>
    </Menu>
  );
};
