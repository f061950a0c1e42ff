import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { Link } from 'react-router';
import { base } from '../../../page.js';
import { pathTo } from '../../../paths.js';
import { Button } from '../../../theme/Button.js';

interface PersonLinksProps {
  readonly websiteId: string;
  readonly email: string;
  readonly name: string;
  /** Somebody who is only invited has nothing to look at yet. */
  readonly mayLook?: boolean;
}

/** What an admin may ask about a person. */
export const PersonLinks = ({ websiteId, email, name, mayLook = true }: PersonLinksProps): ReactNode => {
  const { t } = useTranslation();
  return (
    <>
      <Button
        component={Link}
        to={`${pathTo('people', { websiteId })}?access=${encodeURIComponent(email)}`}
        variant="subtle"
        color="gray"
        aria-label={t('people.whyNamed', { name })}
      >
        {t('people.why')}
      </Button>
      {mayLook && (
        // In a tab of its own: it stays "as them" until it is closed.
        <Button
          component="a"
          href={`${base}/app${pathTo('status', { websiteId })}?as=${encodeURIComponent(email)}`}
          target="_blank"
          rel="noreferrer noopener"
          variant="subtle"
          color="gray"
          aria-label={t('people.openAsNamed', { name })}
          title={t('people.openAsHint')}
        >
          {t('people.openAs')}
        </Button>
      )}
    </>
  );
};
