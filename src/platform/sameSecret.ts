import { timingSafeEqual } from 'node:crypto';

/** Compares in a time that tells nothing of where two secrets differ, only whether their lengths do. */
export const isSameSecret = (one: string, other: string): boolean => {
  const [first, second] = [Buffer.from(one), Buffer.from(other)];
  return first.length === second.length && timingSafeEqual(first, second);
};
