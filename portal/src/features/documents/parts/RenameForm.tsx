import type { Document } from '@doorstep/sdk';
import { useState, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { Button } from '../../../theme/Button.js';
import { TextInput } from '../../../theme/TextInput.js';
import { FaultLine } from '../../../ui/FaultLine.js';
import { fieldErrors } from '../../../ui/fieldErrors.js';
import { useLeaveGuard } from '../../../ui/leaving.js';
import { useNotice } from '../../../ui/notices.js';
import classes from '../documents.module.css';
import { useRename } from '../mutations.js';

/** The name of a document, in its row. */
export const RenameForm = ({
  document: { id, websiteId, name: before },
  onDone,
}: {
  readonly document: Document;
  readonly onDone: () => void;
}): ReactNode => {
  const { t } = useTranslation();
  const notify = useNotice();
  const [name, setName] = useState(before);
  const rename = useRename(websiteId, id);
  useLeaveGuard(name !== before);
  const fieldError = fieldErrors(rename.error)['name'];
  const save = (): void => {
    if (name === before) onDone();
    else {
      rename.mutate(name, {
        onSuccess: (document) => {
          notify({ words: t('documents.renamed', { before, name: document.name }) });
          onDone();
        },
      });
    }
  };
  return (
    <form
      className={classes['rename']}
      onSubmit={(event) => {
        event.preventDefault();
        save();
      }}
      onKeyDown={({ key }) => {
        if (key === 'Escape') onDone();
      }}
    >
      <TextInput
        className={classes['field'] ?? ''}
        aria-label={t('documents.newName', { name: before })}
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
        error={fieldError}
        required
        maxLength={200}
        ref={(field) => field?.focus()}
      />
      <Button type="submit" loading={rename.isPending}>
        {t('common.save')}
      </Button>
      <Button variant="subtle" color="gray" onClick={onDone}>
        {t('common.cancel')}
      </Button>
      {fieldError === undefined && <FaultLine error={rename.error} />}
    </form>
  );
};
