import { createContext, use, useCallback, useEffect, useMemo, useState, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { useAnnounce } from './Announcer.js';
import { FaultLine } from './FaultLine.js';
import classes from './notices.module.css';

export interface Notice {
  /** What has happened: "The step is done." */
  readonly words: string;
  /** Takes it back, within the time that the notice stays. Where that fails, another notice says why. */
  readonly undo?: () => unknown;
}

/** Why something was not done, where no button is left to stand beside. */
interface Failure {
  readonly error: unknown;
}

/** Long enough to read it and reach the button by keys; while it is hovered or focused it stays. */
const shownForMs = 12_000;

const Notify = createContext<(notice: Notice | Failure | null) => void>(() => undefined);

/**
 * Says at the bottom of the window what has happened, with an Undo where there is one. The next one replaces it;
 * `null`: what it says does not hold any more.
 */
export const useNotice = (): ((notice: Notice | Failure | null) => void) => use(Notify);

/** Where the notices stand. */
export const Notices = ({ children }: { readonly children: ReactNode }): ReactNode => {
  const { t } = useTranslation();
  const announce = useAnnounce();
  const [shown, setShown] = useState<Notice | Failure | null>(null);
  const [isHeld, setHeld] = useState(false);
  const close = useCallback(() => {
    setShown(null);
    setHeld(false);
  }, []);
  const notify = useMemo(
    () =>
      (notice: Notice | Failure | null): void => {
        if (notice === null) {
          close();
          return;
        }
        setShown(notice);
        // An error's line announces itself.
        if ('words' in notice) announce(notice.words);
      },
    [announce, close],
  );
  useEffect(() => {
    if (shown === null || isHeld) return undefined;
    const timer = setTimeout(close, shownForMs);
    return () => clearTimeout(timer);
  }, [shown, isHeld, close]);
  const undo = shown !== null && 'undo' in shown ? shown.undo : undefined;
  const takeBack = async (): Promise<void> => {
    close();
    try {
      await undo?.();
    } catch (error) {
      setShown({ error });
    }
  };
  return (
    <Notify value={notify}>
      {children}
      {shown !== null && (
        <section
          className={classes['notice']}
          aria-label={t('ui.notice')}
          onMouseEnter={() => setHeld(true)}
          onMouseLeave={() => setHeld(false)}
          onFocus={() => setHeld(true)}
          onBlur={() => setHeld(false)}
          onKeyDown={({ key }) => {
            if (key === 'Escape') close();
          }}
        >
          {'error' in shown ? <FaultLine error={shown.error} /> : <span>{shown.words}</span>}
          {undo !== undefined && (
            <button type="button" onClick={() => void takeBack()}>
              {t('common.undo')}
            </button>
          )}
          <button type="button" aria-label={t('common.close')} onClick={close}>
            <span aria-hidden="true">×</span>
          </button>
        </section>
      )}
    </Notify>
  );
};
