import { useEffect } from 'react';

const unsaved = new Set<object>();

/** Whether a page holds something that would be lost. */
export const hasUnsaved = (): boolean => unsaved.size > 0;

/** While `dirty`, leaving the page (a link, Back, closing the tab) asks first. `SaveBar` does it by itself. */
export const useLeaveGuard = (dirty: boolean): void => {
  useEffect(() => {
    if (!dirty) return undefined;
    const form = {};
    unsaved.add(form);
    const ask = (event: BeforeUnloadEvent): void => event.preventDefault();
    window.addEventListener('beforeunload', ask);
    return () => {
      unsaved.delete(form);
      window.removeEventListener('beforeunload', ask);
    };
  }, [dirty]);
};
