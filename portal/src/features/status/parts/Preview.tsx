import type { DeliveryBlock } from '@doorstep/sdk';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { buttonLook } from '../../../ui/buttonLook.js';
import { useIsAdmin } from '../../../ui/useMayWrite.js';
import classes from '../status.module.css';

/** The address as people read it. */
const shortened = (url: string): string => url.replace(/^https?:\/\//, '').replace(/\/$/, '');

/** Where one sees how far it is; nothing where there is none. */
export const Preview = ({
  block: { previewUrl, previewUrlUnavailable, showPreviewUrl },
}: {
  readonly block: DeliveryBlock;
}): ReactNode => {
  const { t } = useTranslation();
  const isAdmin = useIsAdmin();
  if (previewUrl === undefined && previewUrlUnavailable !== true) return null;
  return (
    <section className={`card ${classes['preview'] ?? ''}`}>
      <div>
        <h2>{t('status.preview')}</h2>
        {previewUrl === undefined ? (
          <p className="small muted">{t('status.previewUnavailable')}</p>
        ) : (
          <p className={`small muted ${classes['url'] ?? ''}`} title={previewUrl}>
            {shortened(previewUrl)}
          </p>
        )}
        {isAdmin && !showPreviewUrl && <p className="small muted">{t('status.previewHidden')}</p>}
      </div>
      {previewUrl !== undefined && (
        <a className={buttonLook()} href={previewUrl} target="_blank" rel="noopener noreferrer">
          {t('status.openPreview')}
          <span aria-hidden="true">&nbsp;↗</span>
        </a>
      )}
    </section>
  );
};
