import type { ReactNode } from 'react';
import { brandLogo, brandName } from '../page.js';
import classes from './Logo.module.css';

/** The agency's logo, or its first letter. Its name stands beside it. */
export const Logo = (): ReactNode =>
  brandLogo === undefined ? (
    <span className={classes['letter']} aria-hidden="true">
      {String.fromCodePoint(brandName.codePointAt(0) ?? 0x20).toLocaleUpperCase()}
    </span>
  ) : (
    <img className={classes['picture']} src={brandLogo} alt="" />
  );
