import type { StreamFold } from '../fold.js';
import type { WebsiteEvent } from './website.events.js';
import { websiteStream } from './website.stream.js';

/** The hosting project and the repository that a website was activated with, its deletion notwithstanding. */
type HostingState = Partial<Pick<Extract<WebsiteEvent, { type: 'WebsiteActivated' }>['data'], 'hosting' | 'repository'>>;

export const hostingFold: StreamFold<HostingState, WebsiteEvent, { readonly websiteId: string }> = {
  name: 'websiteHosting',
  stream: websiteStream,
  initialState: {},
  evolve: (state, { type, data }) =>
    type === 'WebsiteActivated' ? { hosting: data.hosting, repository: data.repository } : state,
};
