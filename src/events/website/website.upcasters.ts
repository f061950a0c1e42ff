import type { Upcaster } from '../defineStream.js';

export const websiteUpcasters = {
  WebsiteCreated: [
    // Version 1 named one collaborator or none; version 2 holds the list.
    ({ collaborator, ...data }) => ({ ...data, collaborators: collaborator === undefined ? [] : [collaborator] }),
  ],
} satisfies Record<string, readonly Upcaster[]>;
