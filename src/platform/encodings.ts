import { qualitiesOf } from './qualities.js';

/** Compressed forms of what is sent, by the names of HTTP; the first is preferred. */
export const encodings = ['br', 'gzip'] as const;
export type Encoding = (typeof encodings)[number];

/**
 * The form that a request prefers (RFC 9110, 12.5.3), of those it gives the same quality the smaller
 * one; null for what it is without.
 */
export const acceptedEncoding = (acceptEncoding: string): Encoding | null => {
  const qualities = qualitiesOf(acceptEncoding);
  let best: Encoding | null = null;
  let highest = qualities.get('identity') ?? 0;
  for (const encoding of [...encodings].reverse()) {
    const quality = qualities.get(encoding) ?? qualities.get('*') ?? 0;
    if (quality > 0 && quality >= highest) [best, highest] = [encoding, quality];
  }
  return best;
};
