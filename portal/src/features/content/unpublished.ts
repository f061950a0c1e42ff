import type { ContentDocument } from '@doorstep/sdk';

/** Whether somebody has saved what the site does not show yet. */
export const isUnpublished = ({ updatedAt, hash, publishedHash }: ContentDocument): boolean =>
  updatedAt !== undefined && hash !== publishedHash;
