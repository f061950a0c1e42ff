import { useEffect, useState, type ReactNode } from 'react';
import { onOpenPalette } from './palette.js';
import { Palette } from './Palette.js';

/** Where the palette opens. */
export const PaletteHost = (): ReactNode => {
  const [isOpen, setOpen] = useState(false);
  useEffect(() => onOpenPalette(() => setOpen(true)), []);
  return isOpen && <Palette onClose={() => setOpen(false)} />;
};
