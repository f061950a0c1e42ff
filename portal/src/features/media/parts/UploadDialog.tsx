import { useEffect, useRef, useState, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { Button } from '../../../theme/Button.js';
import { Progress } from '../../../theme/Progress.js';
import { Textarea } from '../../../theme/Textarea.js';
import { FaultLine } from '../../../ui/FaultLine.js';
import { fieldErrors } from '../../../ui/fieldErrors.js';
import { FormDialog } from '../../../ui/FormDialog.js';
import { useNotice } from '../../../ui/notices.js';
import { sizeText } from '../../../ui/numbers.js';
import { useUpload } from '../mutations.js';
import classes from './dialogs.module.css';

interface UploadDialogProps {
  readonly file: File;
  /** How many come after it. */
  readonly left: number;
  readonly websiteId: string;
  /** Goes on with the next one. */
  readonly onNext: () => void;
  /** Leaves the rest out too. */
  readonly onClose: () => void;
}

/** Asks what a file shows, and uploads it. */
export const UploadDialog = ({ file, left, websiteId, onNext, onClose }: UploadDialogProps): ReactNode => {
  const { t } = useTranslation();
  const notify = useNotice();
  const upload = useUpload(websiteId);
  const [alt, setAlt] = useState('');
  const [hasTried, setTried] = useState(false);
  const [share, setShare] = useState(0);
  const stop = useRef<AbortController>(null);
  useEffect(() => () => stop.current?.abort(), []);
  const isImage = file.type.startsWith('image/');
  const text = alt.trim();
  const issues = fieldErrors(upload.error);
  const submit = (): void => {
    setTried(true);
    if (isImage && text === '') return;
    setShare(0);
    stop.current = new AbortController();
    upload.mutate(
      { file, alt: text, onProgress: setShare, signal: stop.current.signal },
      {
        onSuccess: ({ name }) => {
          notify({ words: t('media.uploaded', { name }) });
          onNext();
        },
      },
    );
  };
  return (
    <FormDialog dirty={text !== '' || upload.isPending} onClose={onClose} title={t('media.upload')}>
      <form
        className={classes['form']}
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          submit();
        }}
      >
        <p>
          <b>{file.name}</b> <span className="muted">{sizeText(file.size)}</span>
          {left > 0 && <span className="muted"> · {t('media.left', { count: left })}</span>}
        </p>
        <Textarea
          data-autofocus
          autosize
          minRows={2}
          maxRows={6}
          label={t('media.alt')}
          description={t('media.altHelp')}
          required={isImage}
          value={alt}
          error={issues['alt'] ?? (hasTried && isImage && text === '' ? t('media.altMissing') : undefined)}
          onChange={(event) => setAlt(event.currentTarget.value)}
        />
        {upload.isPending && (
          <div>
            <Progress value={share * 100} aria-label={t('media.sending')} />
            <p className="small muted">{share < 1 ? t('media.sent', { share }) : t('media.preparing')}</p>
          </div>
        )}
        {issues['file'] !== undefined && (
          <p role="alert">
            <b>{t('media.refused')}</b> {issues['file']}
          </p>
        )}
        {issues['file'] === undefined && issues['alt'] === undefined && <FaultLine error={upload.error} />}
        <div className={classes['actions']}>
          <Button onClick={onClose}>{t('common.cancel')}</Button>
          {left > 0 && upload.error !== null && <Button onClick={onNext}>{t('media.leaveOut')}</Button>}
          <Button type="submit" variant="filled" loading={upload.isPending}>
            {t('media.upload')}
          </Button>
        </div>
      </form>
    </FormDialog>
  );
};
