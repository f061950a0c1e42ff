import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { Checkbox } from '../../../theme/Checkbox.js';
import { Textarea } from '../../../theme/Textarea.js';
import { calendarDay, dayText } from '../../../ui/dates.js';
import { DayField } from '../../../ui/DayField.js';
import classes from '../delivery.module.css';
import type { Editor } from '../useEditor.js';

interface EtaFieldsProps {
  readonly editor: Editor;
  readonly issues: Readonly<Partial<Record<string, string>>>;
  /** The last time that the day moved, with what clients read of the reason. */
  readonly lastMove: { readonly from: string; readonly reason?: string | undefined } | undefined;
}

/** The day, and why it moved: asked for as soon as it does. */
export const EtaFields = ({ editor, issues, lastMove }: EtaFieldsProps): ReactNode => {
  const { t } = useTranslation();
  const { block, shown, isDirty } = editor;
  const isMoved = shown.estimatedCompletionAt !== block.estimatedCompletionAt;
  return (
    <div className={classes['pair']}>
      <DayField
        label={t('delivery.readyBy')}
        required
        withAsterisk={false}
        inputWrapperOrder={['label', 'input', 'description', 'error']}
        value={shown.estimatedCompletionAt}
        error={issues['estimatedCompletionAt']}
        description={isMoved ? t('delivery.wasBefore', { day: dayText(block.estimatedCompletionAt, 'day') }) : undefined}
        onChange={(value) => {
          // There is always a day.
          if (value === '') return;
          const isBack = calendarDay(value, 'day') === calendarDay(block.estimatedCompletionAt, 'day');
          editor.edit('estimatedCompletionAt', isBack ? block.estimatedCompletionAt : value);
        }}
      />
      {isDirty ? (
        <div className={classes['why']}>
          <Textarea
            label={t(isMoved ? 'delivery.whyMoved' : 'delivery.whyChanged')}
            value={editor.reason}
            maxLength={1000}
            autosize
            minRows={1}
            error={issues['reason']}
            onChange={({ currentTarget: { value } }) => editor.setReason(value)}
          />
          <Checkbox
            label={t('delivery.clientsMayRead')}
            checked={editor.isReasonVisible}
            onChange={({ currentTarget: { checked } }) => editor.setReasonVisible(checked)}
          />
        </div>
      ) : (
        lastMove !== undefined && (
          <div>
            <p className={classes['label']}>{t('delivery.whyMoved')}</p>
            <p className="muted small">
              {lastMove.reason === undefined
                ? t('delivery.movedSilently', { day: dayText(lastMove.from, 'day') })
                : t('delivery.clientsRead', { day: dayText(lastMove.from, 'day'), reason: lastMove.reason })}
            </p>
          </div>
        )
      )}
    </div>
  );
};
