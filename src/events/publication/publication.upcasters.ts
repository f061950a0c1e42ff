import type { Upcaster } from '../defineStream.js';

export const publicationUpcasters = {
  PublicationCommitted: [
    // Documents of version 1 do not say as of which revision they were read.
    (data) => data,
  ],
} satisfies Record<string, readonly Upcaster[]>;
