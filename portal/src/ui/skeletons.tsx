import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import classes from './skeletons.module.css';

/** Tells screen readers that something comes; the bones in it show after 150 ms. */
export const Skeleton = ({ children }: { readonly children: ReactNode }): ReactNode => {
  const { t } = useTranslation();
  return (
    <div className={classes['skeleton']} role="status" aria-label={t('common.waiting')} data-pending>
      {children}
    </div>
  );
};

/** A line of text to come. Lengths as in CSS. */
export const Bone = ({ width = '100%', height = '1em' }: { readonly width?: string; readonly height?: string }): ReactNode => (
  <span className={classes['bone']} style={{ width, height }} />
);

/** A heading to come. */
export const HeadingBone = (): ReactNode => <Bone width="min(100%, 320px)" height="2rem" />;

/** Rows of a list or a table to come, in their card. */
export const RowBones = ({ rows = 4 }: { readonly rows?: number }): ReactNode => (
  <div className={`card ${classes['rows'] ?? ''}`}>
    {Array.from({ length: rows }, (_, row) => (
      <div key={row} className={classes['row']}>
        <Bone width="30%" />
        <Bone width="55%" />
      </div>
    ))}
  </div>
);
