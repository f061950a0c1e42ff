import type { DeliveryBlock } from '@doorstep/sdk';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useAnnounce } from '../../ui/Announcer.js';
import { useNotice } from '../../ui/notices.js';
import { EditConflict, useDeliveryWrite } from './mutations.js';
import type { SavedDelivery } from './queries.js';
import {
  after,
  edited,
  emptyDraft,
  isEmpty,
  renewed,
  unsaved,
  withDraft,
  withoutStep,
  type Draft,
  type EditPath,
  type Operation,
} from './steps.js';
import { useTakeBack } from './useTakeBack.js';

/** What was not saved, and why. */
interface Failure {
  readonly operation: Operation['type'] | 'undo';
  readonly error: unknown;
}

/** What was saved last by this page, to be taken back with one press. */
interface LastWrite {
  readonly written: SavedDelivery;
  readonly isUndo: boolean;
}

export interface Editor {
  /** As the service has it, with the changes that are under way. */
  readonly block: DeliveryBlock;
  /** As it is once what was edited is saved. */
  readonly shown: DeliveryBlock;
  readonly draft: Draft;
  readonly isDirty: boolean;
  readonly isSaving: boolean;
  /** Something is being saved or taken back: what `last` is, is not known before the answer. */
  readonly isBusy: boolean;
  readonly reason: string;
  readonly isReasonVisible: boolean;
  readonly setReason: (reason: string) => void;
  readonly setReasonVisible: (visible: boolean) => void;
  readonly edit: (path: EditPath, value: string) => void;
  readonly discard: () => void;
  /** Saves what was edited. */
  readonly save: (draft?: Draft) => Promise<boolean>;
  /** Saves a change at once. */
  readonly run: (operation: Operation) => Promise<SavedDelivery | null>;
  readonly failure: Failure | null;
  /** Somebody else changed what is edited here; a person has to compare. */
  readonly isComparing: boolean;
  readonly stopComparing: () => void;
  /** Undefined when nothing was saved here, or somebody else saved after it. */
  readonly last: LastWrite | undefined;
  /** Takes it back; rejects when the service does not. */
  readonly takeBack: (change: LastWrite) => Promise<void>;
  /** Takes it back, unless the editor is busy; `failure` says why not. */
  readonly undo: (change: LastWrite) => Promise<void>;
}

/** What is not saved, as the service is given it. */
type Kept = Pick<Extract<Operation, { type: 'edit' }>, 'draft' | 'reason' | 'reasonVisible'>;

const nothing: Kept = { draft: emptyDraft, reason: '', reasonVisible: false };

/**
 * What an operator does with a delivery block. Status, order, new and removed steps are saved at once;
 * words and days are kept until they are saved together, so that one change carries one reason.
 */
export const useEditor = (websiteId: string, saved: DeliveryBlock): Editor => {
  const { t } = useTranslation();
  const announce = useAnnounce();
  const notify = useNotice();
  const { mutateAsync: write } = useDeliveryWrite(websiteId);
  const undo = useTakeBack(websiteId);
  const [underWay, setUnderWay] = useState<readonly Operation[]>([]);
  const [isTakingBack, setTakingBack] = useState(false);
  const [kept, setKept] = useState(nothing);
  const { draft, reason, reasonVisible } = kept;
  const [failure, setFailure] = useState<Failure | null>(null);
  const [isComparing, setComparing] = useState(false);
  const [last, setLast] = useState<LastWrite>();

  const [renewedAt, setRenewedAt] = useState(saved.revision);
  if (renewedAt !== saved.revision) {
    setRenewedAt(saved.revision);
    setKept({ ...kept, draft: renewed(draft, saved) });
  }

  // Shown before the service has answered; when it refuses, they are gone by themselves.
  const block = underWay.reduce(after, saved);
  // An edit begins from what is saved: the edits that are under way may be refused.
  const editable = underWay.filter(({ type }) => type !== 'edit').reduce(after, saved);

  const run = async (operation: Operation): Promise<SavedDelivery | null> => {
    setFailure(null);
    setUnderWay((others) => [...others, operation]);
    try {
      const written = await write(operation);
      setLast({ written, isUndo: false });
      announce(t('delivery.saved'));
      return written;
    } catch (error) {
      if (error instanceof EditConflict) setComparing(true);
      else setFailure({ operation: operation.type, error });
      return null;
    } finally {
      setUnderWay((others) => others.filter((other) => other !== operation));
    }
  };

  const discard = (): void => {
    setKept(nothing);
    setFailure(null);
  };

  const save = async (merged = draft): Promise<boolean> => {
    setComparing(false);
    if (isEmpty(merged)) {
      discard();
      return true;
    }
    setKept({ ...kept, draft: merged });
    // What was edited of a step that is about to go would be saved against its removal.
    const toSave = underWay.reduce((rest, other) => (other.type === 'remove' ? withoutStep(rest, other.stepId) : rest), merged);
    if (isEmpty(toSave)) return true;
    const sent = { ...kept, draft: toSave };
    const written = await run({ type: 'edit', ...sent });
    if (written === null) return false;
    // What was typed meanwhile stays.
    setKept((now) => ({
      ...(now.reason === sent.reason ? nothing : now),
      draft: unsaved(now.draft, toSave, written.data),
    }));
    return true;
  };

  const takeBack = async (change: LastWrite): Promise<void> => {
    setFailure(null);
    setTakingBack(true);
    try {
      const written = await undo(change.written);
      if (written === null) return;
      const isUndo = !change.isUndo;
      setLast({ written, isUndo });
      announce(t(isUndo ? 'delivery.undone' : 'delivery.saved'));
    } finally {
      setTakingBack(false);
    }
  };

  const isBusy = underWay.length > 0 || isTakingBack;

  return {
    block,
    shown: withDraft(block, draft),
    draft,
    isDirty: !isEmpty(draft),
    isSaving: underWay.some(({ type }) => type === 'edit'),
    isBusy,
    reason,
    isReasonVisible: reasonVisible,
    setReason: (words) => setKept((now) => ({ ...now, reason: words })),
    setReasonVisible: (visible) => setKept((now) => ({ ...now, reasonVisible: visible })),
    edit: (path, value) => setKept((now) => ({ ...now, draft: edited(now.draft, editable, path, value) })),
    discard,
    save,
    run: async (operation) => {
      const written = await run(operation);
      if (written === null) return null;
      setKept((now) => {
        const rest = operation.type === 'remove' ? withoutStep(now.draft, operation.stepId) : now.draft;
        return { ...now, draft: renewed(rest, written.data) };
      });
      return written;
    },
    failure,
    isComparing,
    stopComparing: () => setComparing(false),
    last: last?.written.data.revision === saved.revision && saved.revision > 0 ? last : undefined,
    takeBack,
    undo: async (change) => {
      if (isBusy) return;
      // Its notice would offer to take back what is taken back now.
      notify(null);
      try {
        await takeBack(change);
      } catch (error) {
        setFailure({ operation: 'undo', error });
      }
    },
  };
};
