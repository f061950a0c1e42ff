import {
  closestCenter,
  DndContext,
  KeyboardSensor,
  PointerSensor,
  useSensor,
  useSensors,
  type Announcements,
  type DragEndEvent,
  type UniqueIdentifier,
} from '@dnd-kit/core';
import { sortableKeyboardCoordinates, SortableContext, verticalListSortingStrategy } from '@dnd-kit/sortable';
import { useEffect, useRef, useState, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { Button } from '../../../theme/Button.js';
import { useAnnounce } from '../../../ui/Announcer.js';
import { useNotice } from '../../../ui/notices.js';
import classes from '../delivery.module.css';
import { maxSteps, stepPath, type EditedStepField } from '../steps.js';
import type { Editor } from '../useEditor.js';
import { AddStep } from './AddStep.js';
import { StepRow } from './StepRow.js';

interface StepListProps {
  readonly editor: Editor;
  readonly mayWrite: boolean;
  /** What the service says of the fields that were sent. */
  readonly issues: Readonly<Partial<Record<string, string>>>;
}

const only = ({ x: _, ...transform }: { x: number; y: number; scaleX: number; scaleY: number }) => ({ ...transform, x: 0 });

/** The steps: reordered by their grips, with the mouse, by touch or by keys. */
export const StepList = ({ editor, mayWrite, issues }: StepListProps): ReactNode => {
  const { t } = useTranslation();
  const announce = useAnnounce();
  const notify = useNotice();
  const [open, setOpen] = useState<string | null>(null);
  const [isAdding, setAdding] = useState(false);
  const addButton = useRef<HTMLButtonElement>(null);
  const { checkpoints: steps } = editor.shown;
  // Whoever closes the form goes on where they opened it.
  const wasAdding = useRef(false);
  useEffect(() => {
    if (wasAdding.current && !isAdding) addButton.current?.focus();
    wasAdding.current = isAdding;
  }, [isAdding]);
  const sensors = useSensors(
    useSensor(PointerSensor, { activationConstraint: { distance: 4 } }),
    useSensor(KeyboardSensor, { coordinateGetter: sortableKeyboardCoordinates }),
  );

  const ids = steps.map(({ id }) => id);
  const placeOf = (id: UniqueIdentifier | undefined): number => ids.findIndex((other) => other === id) + 1;
  const words = (id: UniqueIdentifier, over: UniqueIdentifier | undefined) => ({
    label: steps.find((step) => step.id === id)?.label ?? '',
    place: placeOf(over ?? id),
    count: steps.length,
  });
  const announcements: Announcements = {
    onDragStart: ({ active }) => t('delivery.pickedUp', words(active.id, undefined)),
    onDragOver: ({ active, over }) => t('delivery.isOver', words(active.id, over?.id)),
    onDragEnd: ({ active, over }) => t('delivery.movedTo', words(active.id, over?.id)),
    onDragCancel: ({ active }) => t('delivery.notMoved', words(active.id, undefined)),
  };

  const drop = ({ active, over }: DragEndEvent): void => {
    const [from, to] = [placeOf(active.id) - 1, placeOf(over?.id) - 1];
    const stepId = ids[from];
    if (stepId === undefined || to < 0 || from === to) return;
    const others = ids.filter((id) => id !== stepId);
    void editor.run({ type: 'move', stepId, after: others[to - 1] ?? null });
  };

  const remove = async (stepId: string, label: string): Promise<void> => {
    setOpen(null);
    // What had the focus is gone.
    addButton.current?.focus();
    const written = await editor.run({ type: 'remove', stepId });
    if (written === null) return;
    notify({ words: t('delivery.removed', { label }), undo: () => editor.takeBack({ written, isUndo: false }) });
  };

  return (
    <section className={classes['field']} aria-labelledby="delivery-steps">
      <h2 id="delivery-steps">{t('delivery.steps')}</h2>
      {steps.length === 0 && <p className="muted">{t('delivery.noSteps')}</p>}
      <DndContext
        sensors={sensors}
        collisionDetection={closestCenter}
        modifiers={[({ transform }) => only(transform)]}
        onDragEnd={drop}
        accessibility={{ announcements, screenReaderInstructions: { draggable: t('delivery.howToMove') } }}
      >
        <SortableContext items={ids} strategy={verticalListSortingStrategy} disabled={!mayWrite}>
          {steps.length > 0 && (
            <ol className={classes['list']}>
              {steps.map((step, index) => {
                const issueOf = (field: EditedStepField): string | undefined => issues[`checkpoints.${String(index)}.${field}`];
                const { id, label } = step;
                return (
                  <StepRow
                    key={id}
                    step={step}
                    isOpen={open === id}
                    mayWrite={mayWrite}
                    issues={{
                      label: label === '' ? t('delivery.nameIsMissing') : issueOf('label'),
                      dueAt: issueOf('dueAt'),
                      neededFromClient: issueOf('neededFromClient'),
                    }}
                    onToggle={() => setOpen(open === id ? null : id)}
                    onStatus={(status) => {
                      announce(t('delivery.statusIs', { label, status: t(`steps.${status}`) }));
                      void editor.run({ type: 'setStatus', stepId: id, status, at: new Date().toISOString() });
                    }}
                    onEdit={(field, value) => editor.edit(stepPath(id, field), value)}
                    onRemove={() => void remove(id, label)}
                  />
                );
              })}
            </ol>
          )}
        </SortableContext>
      </DndContext>
      {isAdding && steps.length < maxSteps && (
        <AddStep
          steps={steps}
          onAdd={async (step) => (await editor.run({ type: 'add', step })) !== null}
          onClose={() => setAdding(false)}
        />
      )}
      {mayWrite && steps.length >= maxSteps && <p className="small muted">{t('delivery.full', { count: maxSteps })}</p>}
      {mayWrite && !isAdding && steps.length < maxSteps && (
        <div>
          <Button ref={addButton} variant="subtle" color="gray" onClick={() => setAdding(true)}>
            {t('delivery.add')}
          </Button>
        </div>
      )}
    </section>
  );
};
