import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { Button } from '../../../theme/Button.js';
import { FaultLine } from '../../../ui/FaultLine.js';
import classes from '../documents.module.css';
import { uploadFault, type Upload } from '../useUploads.js';

/** A file on its way, or why it was not taken. */
export const UploadRow = ({
  upload: { name, share, error },
  onForget,
}: {
  readonly upload: Upload;
  readonly onForget: () => void;
}): ReactNode => {
  const { t } = useTranslation();
  const fault = uploadFault(error);
  return (
    <li className={classes['row']}>
      <div className={classes['file']}>
        <span className={classes['name']}>{name}</span>
        {error === undefined ? (
          <progress aria-label={t('documents.uploading', { name })} value={share} max={1} />
        ) : (
          <div className="small muted">{fault === undefined ? <FaultLine error={error} /> : <p role="alert">{t(fault)}</p>}</div>
        )}
      </div>
      {error !== undefined && <Button onClick={onForget}>{t('common.close')}</Button>}
    </li>
  );
};
