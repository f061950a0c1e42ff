import type { Upcaster } from '../defineStream.js';

export const apiKeyUpcasters = {
  // Version 2 may name ancestors. Keys of version 1 have none, whoever minted them.
  APIKeyMinted: [(data) => data],
} satisfies Record<string, readonly Upcaster[]>;
