import type { Checkpoint, CheckpointStatus } from '@doorstep/sdk';
import { useSortable } from '@dnd-kit/sortable';
import { CSS } from '@dnd-kit/utilities';
import { useId, type ReactNode } from 'react';
import { flushSync } from 'react-dom';
import { useTranslation } from 'react-i18next';
import { Button } from '../../../theme/Button.js';
import { NativeSelect } from '../../../theme/NativeSelect.js';
import { Textarea } from '../../../theme/Textarea.js';
import { TextInput } from '../../../theme/TextInput.js';
import { VisuallyHidden } from '../../../theme/VisuallyHidden.js';
import { dayText } from '../../../ui/dates.js';
import { Mark } from '../../../ui/marks.js';
import classes from '../delivery.module.css';
import type { EditedStepField } from '../steps.js';
import { DueField } from './DueField.js';

const statuses = ['pending', 'in_progress', 'done'] as const;

const isStatus = (value: string): value is CheckpointStatus => statuses.some((status) => status === value);

/** When it was done, or the way to say when it is due. */
const When = ({ step, onOpen }: { readonly step: Checkpoint; readonly onOpen: () => void }): ReactNode => {
  const { t } = useTranslation();
  const { label, status, dueAt, completedAt } = step;
  if (status === 'done') {
    return (
      <span className={`small muted ${classes['when'] ?? ''}`}>
        {completedAt !== undefined && dayText(completedAt, 'moment')}
      </span>
    );
  }
  return (
    <button type="button" className={`small muted ${classes['when'] ?? ''}`} onClick={onOpen}>
      <VisuallyHidden>{label}: </VisuallyHidden>
      {dueAt === undefined ? t('delivery.setDate') : t('delivery.due', { day: dayText(dueAt, 'day') })}
    </button>
  );
};

interface StepRowProps {
  readonly step: Checkpoint;
  readonly isOpen: boolean;
  readonly mayWrite: boolean;
  /** What the service says of its fields. */
  readonly issues: Readonly<Record<EditedStepField, string | undefined>>;
  readonly onToggle: () => void;
  readonly onStatus: (status: CheckpointStatus) => void;
  readonly onEdit: (field: EditedStepField, value: string) => void;
  readonly onRemove: () => void;
}

/** A step: dragged by its grip, its status chosen at once, its words and its day behind its name. */
export const StepRow = ({ step, isOpen, mayWrite, issues, onToggle, onStatus, onEdit, onRemove }: StepRowProps): ReactNode => {
  const { t } = useTranslation();
  const details = useId();
  const { id, label, status, neededFromClient } = step;
  const showDue = (): void => {
    if (!isOpen) flushSync(onToggle);
    document.getElementById(details)?.querySelector<HTMLInputElement>('input[type="date"]')?.focus();
  };
  const { attributes, listeners, setNodeRef, setActivatorNodeRef, transform, transition, isDragging } = useSortable({
    id,
    disabled: !mayWrite,
    attributes: { roleDescription: t('delivery.movable') },
  });
  return (
    <li
      ref={setNodeRef}
      className={`${classes['step'] ?? ''} ${isDragging ? (classes['dragged'] ?? '') : ''}`}
      style={{ transform: CSS.Translate.toString(transform), transition }}
    >
      {mayWrite ? (
        <button
          type="button"
          ref={setActivatorNodeRef}
          {...attributes}
          {...listeners}
          className={classes['grip']}
          aria-label={t('delivery.move', { label })}
        >
          <span aria-hidden="true">⋮⋮</span>
        </button>
      ) : (
        // Its place stays: what follows keeps its columns.
        <span />
      )}
      <Mark status={status} />
      <button
        type="button"
        className={classes['name']}
        aria-expanded={isOpen}
        aria-controls={isOpen ? details : undefined}
        onClick={onToggle}
      >
        <span className={status === 'in_progress' ? classes['now'] : undefined}>{label}</span>
        {neededFromClient !== undefined && (
          <span className="small muted">{t('delivery.neededShort', { what: neededFromClient })}</span>
        )}
      </button>
      <When step={step} onOpen={showDue} />
      <NativeSelect
        className={classes['status']}
        aria-label={t('delivery.statusOf', { label })}
        value={status}
        disabled={!mayWrite}
        onChange={({ currentTarget: { value } }) => {
          if (isStatus(value)) onStatus(value);
        }}
        data={statuses.map((value) => ({ value, label: t(`steps.${value}`) }))}
      />
      {isOpen && (
        <div id={details} className={classes['details']} role="group" aria-label={label}>
          <TextInput
            label={t('delivery.stepName')}
            value={label}
            maxLength={200}
            required
            withAsterisk={false}
            error={issues.label}
            onChange={({ currentTarget: { value } }) => onEdit('label', value)}
          />
          <DueField value={step.dueAt} error={issues.dueAt} onChange={(value) => onEdit('dueAt', value)} />
          {status === 'done' ? (
            <p className={`small muted ${classes['wide'] ?? ''}`}>{t('delivery.doneNeedsNothing')}</p>
          ) : (
            <Textarea
              className={classes['wide'] ?? ''}
              label={t('delivery.needed')}
              description={t('delivery.neededHint')}
              value={neededFromClient ?? ''}
              maxLength={300}
              autosize
              minRows={1}
              error={issues.neededFromClient}
              onChange={({ currentTarget: { value } }) => onEdit('neededFromClient', value)}
            />
          )}
          {mayWrite && (
            <div className={classes['wide']}>
              <Button variant="subtle" color="gray" onClick={onRemove}>
                {t('delivery.remove', { label })}
              </Button>
            </div>
          )}
        </div>
      )}
    </li>
  );
};
