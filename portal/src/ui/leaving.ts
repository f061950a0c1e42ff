import { useEffect } from 'react';

/** Of each form that holds something unsaved, what ends its guard. */
const unsaved = new Set<() => void>();

/** Whether a page holds something that would be lost. */
export const hasUnsaved = (): boolean => unsaved.size > 0;

/** While `dirty`, leaving the page (a link, Back, closing the tab) asks first. `SaveBar` does it by itself. */
export const useLeaveGuard = (dirty: boolean): void => {
  useEffect(() => {
    if (!dirty) return undefined;
    const ask = (event: BeforeUnloadEvent): void => event.preventDefault();
    const end = (): void => {
      unsaved.delete(end);
      window.removeEventListener('beforeunload', ask);
    };
    unsaved.add(end);
    window.addEventListener('beforeunload', ask);
    return end;
  }, [dirty]);
};

/** What stands in the forms was sent, or is of use no more: the page is left without a question. */
export const forgetUnsaved = (): void => {
  for (const end of unsaved) end();
};
