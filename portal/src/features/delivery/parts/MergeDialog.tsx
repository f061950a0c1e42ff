import { useState, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { Button } from '../../../theme/Button.js';
import { Modal } from '../../../theme/Modal.js';
import { Radio } from '../../../theme/Radio.js';
import { dayText } from '../../../ui/dates.js';
import classes from '../delivery.module.css';
import { conflictsOf, merged, stepPath, type Conflict } from '../steps.js';
import type { Editor } from '../useEditor.js';

const useWords = (editor: Editor) => {
  const { t } = useTranslation();
  const { draft } = editor;

  const nameOf = ({ path }: Conflict): string => {
    if (path === 'estimatedCompletionAt') return t('delivery.readyBy');
    if (path === 'previewUrlOverride') return t('delivery.override');
    const [, stepId = '', field] = path.split('.');
    // As it was when its name began to be edited: both new ones stand below.
    const label = draft.edits[stepPath(stepId, 'label')]?.from ?? draft.steps[stepId]?.label ?? stepId;
    if (field === 'label') return t('delivery.fieldOf', { label, field: t('delivery.stepName') });
    if (field === 'dueAt') return t('delivery.fieldOf', { label, field: t('delivery.dueDate') });
    return field === undefined ? label : t('delivery.fieldOf', { label, field: t('delivery.needed') });
  };

  const valueOf = ({ path }: Conflict, value: string | null | undefined): string => {
    if (value === undefined) return t('delivery.wasRemoved');
    if (value === null || value === '') return t('delivery.nothing');
    return path === 'estimatedCompletionAt' || path.endsWith('.dueAt') ? dayText(value, 'day') : value;
  };
  return { nameOf, valueOf };
};

/** Of each part that two people changed: which one is kept. */
export const MergeDialog = ({ editor }: { readonly editor: Editor }): ReactNode => {
  const { t } = useTranslation();
  const [taken, setTaken] = useState<ReadonlySet<string>>(new Set());
  const { nameOf, valueOf } = useWords(editor);
  const { block, draft } = editor;
  const conflicts = conflictsOf(draft, block);
  const choose = (path: string, isTheirs: boolean): void => {
    const next = new Set(taken);
    if (isTheirs) next.add(path);
    else next.delete(path);
    setTaken(next);
  };
  const save = (): void => {
    const mine = new Set(conflicts.map(({ path }) => path).filter((path) => !taken.has(path)));
    void editor.save(merged(draft, block, mine));
  };
  return (
    <Modal
      opened={editor.isComparing}
      onClose={editor.stopComparing}
      title={t('delivery.conflict')}
      size="lg"
      closeButtonProps={{ 'aria-label': t('common.close') }}
    >
      <div className={classes['conflicts']}>
        <p>{t('delivery.conflictText')}</p>
        {conflicts.map((conflict) => {
          const { path, from, mine, theirs } = conflict;
          return (
            <Radio.Group
              key={path}
              label={nameOf(conflict)}
              description={theirs === undefined ? undefined : t('delivery.before', { value: valueOf(conflict, from) })}
              value={taken.has(path) ? 'theirs' : 'mine'}
              onChange={(value) => choose(path, value === 'theirs')}
            >
              <div className={classes['pair']}>
                <Radio value="mine" label={t('delivery.keepMine')} description={valueOf(conflict, mine)} />
                <Radio value="theirs" label={t('delivery.takeTheirs')} description={valueOf(conflict, theirs)} />
              </div>
            </Radio.Group>
          );
        })}
        <div className={classes['actions']}>
          <Button onClick={editor.stopComparing}>{t('common.cancel')}</Button>
          <Button variant="filled" onClick={save}>
            {t('common.save')}
          </Button>
        </div>
      </div>
    </Modal>
  );
};
