import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { brandName } from '../page.js';
import type { Route } from '../routes.js';

/** The title of the window. A page with a name of its own renders another one after it. */
export const PageTitle = ({ title, of }: { readonly title: Route['title']; readonly of?: string }): ReactNode => {
  const { t } = useTranslation();
  return <title>{[t(title), of, brandName].filter(Boolean).join(' · ')}</title>;
};
