import type { PreviewEvent } from '../../events/preview/preview.events.js';
import { previewFold, type PreviewState } from '../../events/preview/preview.state.js';
import type { Decider } from '../decider.js';
import type { PreviewCommand } from './preview.commands.js';

const decide = ({ previewId, websiteId, expiresAt }: PreviewCommand, state: PreviewState): readonly PreviewEvent[] =>
  state.expiresAt === undefined ? [{ type: 'ContentPreviewed', data: { previewId, websiteId, expiresAt } }] : [];

export const previewDecider: Decider<PreviewState, PreviewCommand, PreviewEvent> = { ...previewFold, decide };
