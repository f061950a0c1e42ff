import type { Upcaster } from '../defineStream.js';

export const redeployUpcasters = {
  // Version 2 may say that the build had failed; of version 1 that is not known.
  RedeployStarted: [(data) => data],
} satisfies Record<string, readonly Upcaster[]>;
