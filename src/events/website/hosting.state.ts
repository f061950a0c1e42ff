import type { StreamFold } from '../fold.js';
import type { WebsiteEvent } from './website.events.js';
import { websiteStream } from './website.stream.js';

/** The hosting project that a website was activated with, its deletion notwithstanding. */
interface HostingState {
  readonly hosting?: Extract<WebsiteEvent, { type: 'WebsiteActivated' }>['data']['hosting'];
}

export const hostingFold: StreamFold<HostingState, WebsiteEvent, { readonly websiteId: string }> = {
  name: 'websiteHosting',
  stream: websiteStream,
  initialState: {},
  evolve: (state, { type, data }) => (type === 'WebsiteActivated' ? { hosting: data.hosting } : state),
};
