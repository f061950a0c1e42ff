import type { Checkpoint } from '@doorstep/sdk';
import { useEffect, useRef, useState, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { Button } from '../../../theme/Button.js';
import { TextInput } from '../../../theme/TextInput.js';
import { useLeaveGuard } from '../../../ui/leaving.js';
import classes from '../delivery.module.css';
import { newStepId } from '../steps.js';
import { DueField } from './DueField.js';

interface AddStepProps {
  readonly steps: readonly Checkpoint[];
  /** @returns whether it was added */
  readonly onAdd: (step: Checkpoint) => Promise<boolean>;
  readonly onClose: () => void;
}

/** New steps at the end of the plan, one after the other. */
export const AddStep = ({ steps, onAdd, onClose }: AddStepProps): ReactNode => {
  const { t } = useTranslation();
  const [label, setLabel] = useState('');
  const [dueAt, setDueAt] = useState('');
  const [isAdding, setAdding] = useState(false);
  const name = useRef<HTMLInputElement>(null);
  useEffect(() => name.current?.focus(), []);
  const isTyped = label.trim() !== '' || dueAt !== '';
  useLeaveGuard(isTyped);
  const add = async (): Promise<void> => {
    const words = label.trim();
    if (words === '' || isAdding) return;
    setAdding(true);
    const step: Checkpoint = { id: newStepId(words, steps), label: words, order: 0, status: 'pending' };
    const isAdded = await onAdd(dueAt === '' ? step : { ...step, dueAt });
    setAdding(false);
    name.current?.focus();
    if (!isAdded) return;
    // What was typed meanwhile is the next one's.
    setLabel((now) => (now === label ? '' : now));
    setDueAt((now) => (now === dueAt ? '' : now));
  };
  return (
    <form
      className={classes['adding']}
      onSubmit={(event) => {
        event.preventDefault();
        void add();
      }}
      onKeyDown={({ key }) => {
        if (key === 'Escape' && !isTyped) onClose();
      }}
    >
      <TextInput
        label={t('delivery.newStep')}
        value={label}
        maxLength={200}
        required
        withAsterisk={false}
        ref={name}
        onChange={({ currentTarget: { value } }) => setLabel(value)}
      />
      <DueField value={dueAt === '' ? undefined : dueAt} onChange={setDueAt} />
      <div className={classes['wide']}>
        <Button type="submit" loading={isAdding}>
          {t('delivery.addIt')}
        </Button>{' '}
        <Button variant="subtle" color="gray" onClick={onClose}>
          {t('common.close')}
        </Button>
      </div>
    </form>
  );
};
