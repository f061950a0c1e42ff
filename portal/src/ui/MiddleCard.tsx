import type { ReactNode } from 'react';
import { Logo } from './Logo.js';
import classes from './MiddleCard.module.css';

/** A page that is one card: a question, and one answer. */
export const MiddleCard = ({ title, children }: { readonly title: string; readonly children: ReactNode }): ReactNode => (
  <main className={classes['middle']}>
    <div className={classes['card']}>
      <Logo />
      <h1>{title}</h1>
      {children}
    </div>
  </main>
);
