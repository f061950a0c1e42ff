import type { ViewingEvent } from '../../events/viewing/viewing.events.js';
import { viewingFold, type ViewingState } from '../../events/viewing/viewing.state.js';
import type { Decider } from '../decider.js';
import type { RecordViewing } from './viewing.commands.js';

export const viewingDecider: Decider<ViewingState, RecordViewing, ViewingEvent> = {
  ...viewingFold,
  decide: ({ viewingId, email, path, websiteId }, { stage }) =>
    // The id is derived from the command, so one that is there was recorded by this same command.
    stage === 'recorded'
      ? []
      : [{ type: 'PersonViewed', data: { viewingId, email, path, ...(websiteId !== undefined && { websiteId }) } }],
};
