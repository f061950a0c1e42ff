import type { Document } from '@doorstep/sdk';
import { useState, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { Button } from '../../../theme/Button.js';
import { Time } from '../../../ui/dates.js';
import { sizeText } from '../../../ui/numbers.js';
import classes from '../documents.module.css';
import { typeText } from '../fileWords.js';
import { RenameForm } from './RenameForm.js';

interface DocumentRowProps {
  readonly document: Document;
  readonly mayChange: boolean;
  readonly onPreview: () => void;
  readonly onDownload: () => void;
  readonly onDelete: () => void;
}

/** A document: what it is, and what can be done with it. */
export const DocumentRow = ({ document, mayChange, onPreview, onDownload, onDelete }: DocumentRowProps): ReactNode => {
  const { t } = useTranslation();
  const [isRenamed, setRenamed] = useState(false);
  const { name, contentType, size, createdAt, previewable } = document;
  if (isRenamed) {
    return (
      <li className={classes['row']}>
        <RenameForm document={document} onDone={() => setRenamed(false)} />
      </li>
    );
  }
  return (
    <li className={classes['row']}>
      <div className={classes['file']}>
        <span className={classes['name']}>{name}</span>
        <span className="small muted">
          {typeText(contentType, name)} · {sizeText(size)} · <Time at={createdAt} kind="moment" />
        </span>
      </div>
      <div className={classes['actions']}>
        {previewable && (
          <Button onClick={onPreview} aria-label={t('documents.previewOf', { name })}>
            {t('documents.preview')}
          </Button>
        )}
        <Button onClick={onDownload} aria-label={t('documents.downloadOf', { name })}>
          {t('documents.download')}
        </Button>
        {mayChange && (
          <>
            <Button variant="subtle" color="gray" onClick={() => setRenamed(true)} aria-label={t('documents.renameOf', { name })}>
              {t('common.rename')}
            </Button>
            <Button variant="subtle" color="gray" onClick={onDelete} aria-label={t('documents.deleteOf', { name })}>
              {t('documents.delete')}
            </Button>
          </>
        )}
      </div>
    </li>
  );
};
