import type { StreamFold } from '../fold.js';
import type { ViewingEvent } from './viewing.events.js';
import { viewingStream } from './viewing.stream.js';

export interface ViewingState {
  readonly stage: 'none' | 'recorded';
}

export const viewingFold: StreamFold<ViewingState, ViewingEvent, { readonly viewingId: string }> = {
  name: 'viewing',
  stream: viewingStream,
  initialState: { stage: 'none' },
  evolve: () => ({ stage: 'recorded' }),
};
