import { lazy, Suspense, useEffect, useState, type ReactNode } from 'react';
import { onOpenPalette } from './palette.js';

const Palette = lazy(() => import('./Palette.js'));

/** Where the palette opens; loaded the first time. */
export const PaletteHost = (): ReactNode => {
  const [isOpen, setOpen] = useState(false);
  useEffect(() => onOpenPalette(() => setOpen(true)), []);
  return <Suspense>{isOpen && <Palette onClose={() => setOpen(false)} />}</Suspense>;
};
