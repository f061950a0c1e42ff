import type { Encoding } from '../../platform/encodings.js';

/** The name of a file's compressed form. */
export const encodedName = (hash: string, encoding: Encoding): string => `${hash}.${encoding}`;
