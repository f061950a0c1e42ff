import { useEffect, useId, type ReactNode, type RefObject } from 'react';
import classes from './NativeDialog.module.css';

interface NativeDialogProps {
  /** Closed by its owner, whose buttons it has: that gives the focus back to where it was. */
  readonly dialog: RefObject<HTMLDialogElement | null>;
  readonly title: string;
  readonly children: ReactNode;
  /** Buttons. */
  readonly actions: ReactNode;
  readonly onClose: () => void;
}

/**
 * A dialog of the browser itself, because it has to lie over every other one. Without Mantine it is small
 * enough to come with the first file: what it asks must not depend on code that may not come any more.
 */
export const NativeDialog = ({ dialog, title, children, actions, onClose }: NativeDialogProps): ReactNode => {
  const id = useId();
  useEffect(() => dialog.current?.showModal(), [dialog]);
  return (
    <dialog ref={dialog} className={classes['dialog']} aria-labelledby={id} onClose={onClose}>
      <div className={classes['content']}>
        <h2 id={id}>{title}</h2>
        {children}
        <div className={classes['actions']}>{actions}</div>
      </div>
    </dialog>
  );
};
