import type { Upcaster } from '../defineStream.js';

// Version 2 holds the website's slug of then; a retry of version 1 kept the job's.
const withoutSlug: Upcaster = (data) => data;
// Version 3 holds other collaborators, when the retry named some.
const withoutCollaborators: Upcaster = (data) => data;

export const provisioningUpcasters = {
  ProvisioningRetried: [withoutSlug, withoutCollaborators],
} satisfies Record<string, readonly Upcaster[]>;
