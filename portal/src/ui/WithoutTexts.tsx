import type { ReactNode } from 'react';
import { brandName } from '../page.js';
import { buttonLook } from './buttonLook.js';
import { MiddleCard } from './MiddleCard.js';

/** The texts of no language could be loaded: these few are part of the code, in every language. */
export const WithoutTexts = (): ReactNode => (
  <MiddleCard title={brandName}>
    <p lang="en">This page could not be loaded. Check the connection to the internet, and load it again.</p>
    <p lang="de">Diese Seite konnte nicht geladen werden. Prüfen Sie die Verbindung zum Internet und laden Sie sie neu.</p>
    <button type="button" className={buttonLook('primary')} onClick={() => location.reload()}>
      Reload · Neu laden
    </button>
  </MiddleCard>
);
