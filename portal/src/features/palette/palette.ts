const listeners = new Set<() => void>();

/** Opens the palette: any website, person or page by a few letters. */
export const openPalette = (): void => {
  for (const listener of listeners) listener();
};

/** @returns what ends the subscription */
export const onOpenPalette = (listener: () => void): (() => void) => {
  listeners.add(listener);
  return () => listeners.delete(listener);
};

document.addEventListener('keydown', (event) => {
  if (!(event.metaKey || event.ctrlKey) || event.shiftKey || event.altKey || event.key.toLowerCase() !== 'k') return;
  event.preventDefault();
  openPalette();
});
