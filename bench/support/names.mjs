import { randomBytes } from 'node:crypto';

const run = randomBytes(4).toString('hex');
let count = 0;

/** A slug that no website has, on an event store either that earlier runs have filled. */
export const nextSlug = () => {
  count += 1;
  return `site-${run}-${count}`;
};
