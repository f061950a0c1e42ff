import { createContext, use, useCallback, useState, type ReactNode } from 'react';
import classes from './Announcer.module.css';

const Announce = createContext<(words: string) => void>(() => undefined);

/** Says to screen readers what has changed without a new page. */
export const useAnnounce = (): ((words: string) => void) => use(Announce);

export const Announcer = ({ children }: { readonly children: ReactNode }): ReactNode => {
  const [{ words, turn }, setSaid] = useState({ words: '', turn: 0 });
  const announce = useCallback((next: string) => setSaid((said) => ({ words: next, turn: said.turn + 1 })), []);
  return (
    <Announce value={announce}>
      {children}
      {/* A new element for each, so that the same words are said again. */}
      <div className={classes['spoken']} role="status" aria-live="polite">
        <span key={turn}>{words}</span>
      </div>
    </Announce>
  );
};
