import type { Document } from '@doorstep/sdk';
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { doorstep } from '../../../api/doorstep.js';
import { Button } from '../../../theme/Button.js';
import { Modal } from '../../../theme/Modal.js';
import { Loaded } from '../../../ui/states.js';
import classes from '../documents.module.css';
import { documentKeys } from '../keys.js';

interface PreviewDialogProps {
  readonly document: Document;
  readonly onDownload: () => void;
  readonly onClose: () => void;
}

/** A PDF or a picture, within the page. */
export const PreviewDialog = ({ document, onDownload, onClose }: PreviewDialogProps): ReactNode => {
  const { t } = useTranslation();
  const { id, websiteId, name, contentType } = document;
  const address = useQuery({
    queryKey: documentKeys.address(websiteId, id),
    // It lapses: each opening of the dialog asks for a new one.
    gcTime: 0,
    staleTime: Infinity,
    queryFn: ({ signal }) => doorstep.websites.documents.url(websiteId, id, { disposition: 'inline' }, { signal }),
  });
  return (
    <Modal opened onClose={onClose} title={name} size="xl" closeButtonProps={{ 'aria-label': t('common.close') }}>
      <div className={classes['preview']}>
        <Loaded query={address}>
          {({ url }) => (contentType === 'application/pdf' ? <iframe src={url} title={name} /> : <img src={url} alt={name} />)}
        </Loaded>
        <div>
          <Button onClick={onDownload}>{t('documents.download')}</Button>
        </div>
      </div>
    </Modal>
  );
};
