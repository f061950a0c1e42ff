import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useId, useRef, useState, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { Button } from '../theme/Button.js';
import { Themed } from '../theme/Themed.js';
import { signInBeside } from './beside.js';
import { signIn } from './session.js';
import classes from './SessionOverDialog.module.css';

/**
 * Asks to sign in again, in a window of its own: what stands on the page is kept, and what could not be
 * asked is asked again. A dialog of the browser itself, because it has to lie over every other one.
 */
const SessionOverDialog = ({ onClose }: { readonly onClose: () => void }): ReactNode => {
  const { t } = useTranslation();
  const client = useQueryClient();
  const id = useId();
  const dialog = useRef<HTMLDialogElement>(null);
  const [isBlocked, setBlocked] = useState(false);
  useEffect(() => dialog.current?.showModal(), []);
  const begin = (): void => {
    const isOpened = signInBeside((isSamePerson) => {
      // Somebody else gets nothing of what stands here.
      if (!isSamePerson) {
        location.reload();
        return;
      }
      dialog.current?.close();
      void client.invalidateQueries();
    });
    setBlocked(!isOpened);
  };
  return (
    <dialog ref={dialog} className={classes['dialog']} aria-labelledby={id} onClose={onClose}>
      <div className={classes['content']}>
        <h2 id={id}>{t('session.over')}</h2>
        <p>{t(isBlocked ? 'session.blocked' : 'session.overKept')}</p>
        <div className={classes['actions']}>
          <Themed>
            <Button onClick={() => dialog.current?.close()}>{t('common.close')}</Button>
            <Button variant="filled" autoFocus onClick={isBlocked ? () => void signIn() : begin}>
              {t(isBlocked ? 'session.signInHere' : 'session.signIn')}
            </Button>
          </Themed>
        </div>
      </div>
    </dialog>
  );
};

export default SessionOverDialog;
