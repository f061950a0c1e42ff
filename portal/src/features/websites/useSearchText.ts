import { useDebouncedCallback } from '@mantine/hooks';
import { useState } from 'react';

/** A pause in the typing, in ms: the service is asked then, and not with each key. */
const pause = 200;

/**
 * The text of a search that stands in the address. What is typed is kept here: the address follows when
 * the typing pauses, and what it says is shown later still, when more has been typed.
 * @param searched what the address says
 * @returns what is typed, and what takes it
 */
export const useSearchText = (
  searched: string,
  onSearch: (text: string) => void,
): readonly [typed: string, type: (text: string) => void] => {
  const [typed, setTyped] = useState(searched);
  const [sent, setSent] = useState(searched);
  const [shown, setShown] = useState(searched);
  if (shown !== searched) {
    setShown(searched);
    // Not by typing: Back, or a button that clears the search.
    if (searched !== sent) {
      setSent(searched);
      setTyped(searched);
    }
  }
  const send = useDebouncedCallback((text: string, page: string) => {
    // The page that was opened meanwhile has another address, or this one leads elsewhere by now.
    if (location.pathname !== page || text !== typed) return;
    setSent(text);
    onSearch(text);
  }, pause);
  const type = (text: string): void => {
    setTyped(text);
    send(text, location.pathname);
  };
  return [typed, type];
};
