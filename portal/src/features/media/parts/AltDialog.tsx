import type { Media } from '@doorstep/sdk';
import { useState, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { Button } from '../../../theme/Button.js';
import { Textarea } from '../../../theme/Textarea.js';
import { FaultLine } from '../../../ui/FaultLine.js';
import { fieldErrors } from '../../../ui/fieldErrors.js';
import { FormDialog } from '../../../ui/FormDialog.js';
import { useNotice } from '../../../ui/notices.js';
import { useDescribe } from '../mutations.js';
import classes from './dialogs.module.css';

interface AltDialogProps {
  readonly media: Media;
  readonly websiteId: string;
  readonly onClose: () => void;
}

/** Asks what a picture shows. */
export const AltDialog = ({ media, websiteId, onClose }: AltDialogProps): ReactNode => {
  const { t } = useTranslation();
  const notify = useNotice();
  const describe = useDescribe(websiteId);
  const [alt, setAlt] = useState(media.alt ?? '');
  const text = alt.trim();
  const isMissing = text === '' && media.kind === 'image';
  const issue = fieldErrors(describe.error)['alt'];
  return (
    <FormDialog dirty={text !== (media.alt ?? '')} onClose={onClose} title={t('media.describe')}>
      <form
        className={classes['form']}
        onSubmit={(event) => {
          event.preventDefault();
          describe.mutate(
            { id: media.id, alt: text === '' ? null : text },
            {
              onSuccess: () => {
                notify({ words: t('media.described') });
                onClose();
              },
            },
          );
        }}
      >
        <Textarea
          data-autofocus
          autosize
          minRows={2}
          maxRows={6}
          label={t('media.alt')}
          description={t('media.altHelp')}
          value={alt}
          error={issue}
          onChange={(event) => setAlt(event.currentTarget.value)}
        />
        {issue === undefined && <FaultLine error={describe.error} />}
        <div className={classes['actions']}>
          <Button onClick={onClose}>{t('common.cancel')}</Button>
          <Button type="submit" variant="filled" loading={describe.isPending} disabled={isMissing}>
            {t('common.save')}
          </Button>
        </div>
      </form>
    </FormDialog>
  );
};
