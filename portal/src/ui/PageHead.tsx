import type { ReactNode } from 'react';
import classes from './PageHead.module.css';

interface PageHeadProps {
  /** What the page says first: the answer to the question that brings its reader. */
  readonly title: ReactNode;
  /** Beside the heading, quietly: the page's name where the heading is the website's ("Corner Bakery · Delivery"). */
  readonly sub?: ReactNode;
  /** Beneath, where the heading needs a sentence more. */
  readonly lead?: ReactNode;
  /** Buttons, at the right; one of them at most is `filled`. */
  readonly actions?: ReactNode;
}

/** The head of a page: its one h1, and what can be done with all of it. */
export const PageHead = ({ title, sub, lead, actions }: PageHeadProps): ReactNode => (
  <div className={classes['head']}>
    <h1>{title}</h1>
    {sub !== undefined && <span className={`muted ${classes['sub'] ?? ''}`}>{sub}</span>}
    {actions !== undefined && <div className={classes['actions']}>{actions}</div>}
    {lead !== undefined && <p className={`muted ${classes['lead'] ?? ''}`}>{lead}</p>}
  </div>
);
