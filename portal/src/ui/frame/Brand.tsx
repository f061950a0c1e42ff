import type { ReactNode } from 'react';
import { Link } from 'react-router';
import { brandName } from '../../page.js';
import { pathTo } from '../../paths.js';
import { Logo } from '../Logo.js';
import classes from './Frame.module.css';

/**
 * The agency, which leads to the first page.
 * @param website of which the page is, where nothing else around it says so
 */
export const Brand = ({ website }: { readonly website?: string | undefined }): ReactNode => (
  <div className={classes['whose']}>
    <Link to={pathTo('home')} className={classes['brand']}>
      <Logo />
      <b>{brandName}</b>
    </Link>
    {website !== undefined && <span className={classes['site']}>{website}</span>}
  </div>
);
