import type { Upcaster } from '../defineStream.js';

export const contentUpcasters = {
  ContentPublished: [
    // Version 1 did not say as of which revision the document was read.
    (data) => data,
  ],
} satisfies Record<string, readonly Upcaster[]>;
