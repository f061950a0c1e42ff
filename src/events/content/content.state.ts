import type { Actor, Recorded } from '../envelope.js';
import type { StreamFold } from '../fold.js';
import type { ContentEvent } from './content.events.js';
import { contentStream, type ContentKey } from './content.stream.js';

/** How many versions can be read and restored (api.md, section 4); the log keeps all. */
export const maxContentVersions = 100;

/** A version without its body, which stands in the event at that revision. */
export interface ContentVersion {
  readonly hash: string;
  readonly revision: bigint;
  /** When it was saved, ISO 8601 UTC, and by whom. */
  readonly at: string;
  readonly actor: Actor;
}

export type ContentState =
  | { readonly stage: 'none' }
  | {
      readonly stage: 'saved';
      /** The newest first, which is what the document holds; never empty. */
      readonly versions: readonly [ContentVersion, ...ContentVersion[]];
      /** Of what was published last. */
      readonly publishedHash?: string;
      /** As of which revision it was read. */
      readonly publishedRevision?: number;
    };

const evolve = (state: ContentState, event: Recorded<ContentEvent>): ContentState => {
  const { hash } = event.data;
  if (event.type === 'ContentPublished') {
    const { revision } = event.data;
    if (state.stage === 'none') return state;
    return { ...state, publishedHash: hash, ...(revision !== undefined && { publishedRevision: revision }) };
  }
  const { at, actor } = event.metadata;
  const version: ContentVersion = { hash, revision: event.revision, at, actor };
  if (state.stage === 'none') return { stage: 'saved', versions: [version] };
  return { ...state, versions: [version, ...state.versions.slice(0, maxContentVersions - 1)] };
};

export const contentFold: StreamFold<ContentState, ContentEvent, ContentKey> = {
  name: 'content',
  snapshotVersion: 1,
  stream: contentStream,
  initialState: { stage: 'none' },
  evolve,
};
