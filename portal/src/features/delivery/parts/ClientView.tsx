import type { VisibleDeliveryChange, Website } from '@doorstep/sdk';
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { Answer } from '../../status/parts/Answer.js';
import { ownerQuery } from '../queries.js';
import classes from '../delivery.module.css';
import type { Editor } from '../useEditor.js';
import { ForecastLine } from './ForecastLine.js';

interface ClientViewProps {
  readonly website: Website;
  readonly editor: Editor;
  /** What clients read of it, newest first. */
  readonly changes: readonly VisibleDeliveryChange[];
}

/** What the client sees, with what is not saved yet: nobody has to imagine it. */
export const ClientView = ({ website, editor, changes }: ClientViewProps): ReactNode => {
  const { t } = useTranslation();
  const { data: owner } = useQuery(ownerQuery(website.id));
  const { block, shown, reason, isReasonVisible } = editor;
  const words = reason.trim();
  const unsaved: VisibleDeliveryChange = {
    revision: block.revision + 1,
    at: block.updatedAt,
    changes: [{ path: 'estimatedCompletionAt', from: block.estimatedCompletionAt, to: shown.estimatedCompletionAt }],
    ...(isReasonVisible && words !== '' && { reason: words }),
  };
  const isMoved = block.estimatedCompletionAt !== shown.estimatedCompletionAt;
  const name = owner?.name?.split(' ')[0] ?? owner?.email;
  const { showPreviewUrl, previewUrl, previewUrlOverride } = shown;
  const preview = previewUrlOverride ?? previewUrl;
  return (
    <section className={`card ${classes['seen'] ?? ''}`} aria-labelledby="delivery-seen">
      <h2 id="delivery-seen" className={classes['caption']}>
        {name === undefined ? t('delivery.asClientSees') : t('delivery.asSeenBy', { name })}
      </h2>
      <Answer name={website.name} block={shown} changes={isMoved ? [unsaved, ...changes] : changes} heading="h3" />
      <p className="small muted">
        {showPreviewUrl && preview !== undefined
          ? t('delivery.seesPreview', { address: preview.replace(/^https?:\/\//, '') })
          : t('delivery.seesNoPreview')}
      </p>
      <ForecastLine block={block} />
    </section>
  );
};
