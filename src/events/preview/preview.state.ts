import type { StreamFold } from '../fold.js';
import type { PreviewEvent } from './preview.events.js';
import { previewStream } from './preview.stream.js';

export interface PreviewState {
  /** Absent until it is recorded. */
  readonly expiresAt?: string;
}

export const previewFold: StreamFold<PreviewState, PreviewEvent, { readonly previewId: string }> = {
  name: 'preview',
  stream: previewStream,
  initialState: {},
  evolve: (_, { data: { expiresAt } }) => ({ expiresAt }),
};
