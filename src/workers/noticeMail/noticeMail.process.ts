import type { AnyCommand, Decider } from '../../commands/decider.js';
import type { Recorded } from '../../events/envelope.js';
import type { NoticeMailEvent } from '../../events/noticeMail/noticeMail.events.js';
import { noticeMailStream } from '../../events/noticeMail/noticeMail.stream.js';
import type { StreamFold } from '../../events/fold.js';
import { attemptFailed, attemptStarted, isUnderWay, leaseRenewed, noAttempts, type Attempts } from '../../events/attempts.js';
import { decideLease, retryFor, type LeaseCommand } from '../lease.js';

export interface NoticeMailState {
  readonly stage: 'open' | 'sent' | 'dropped' | 'givenUp';
  readonly attempts: Attempts;
}

/** What a worker reports about an attempt. */
export type NoticeOutcome =
  LeaseCommand | { readonly type: 'RecordSent' } | { readonly type: 'RecordDropped'; readonly reason: string };

/** Outcomes that come late, twice, or from another attempt than the current one change nothing. */
export type NoticeMailCommand = AnyCommand & { readonly noticeId: string; readonly attempt: number } & NoticeOutcome;

const evolve = (state: NoticeMailState, event: Recorded<NoticeMailEvent>): NoticeMailState => {
  switch (event.type) {
    case 'NoticeMailStarted':
      return { ...state, attempts: attemptStarted(state.attempts, event) };
    case 'NoticeMailLeaseRenewed':
      return { ...state, attempts: leaseRenewed(state.attempts, event) };
    case 'NoticeMailSent':
      return { ...state, stage: 'sent' };
    case 'NoticeMailDropped':
      return { ...state, stage: 'dropped' };
    case 'NoticeMailFailed':
      return {
        stage: event.data.nextAttemptAt === undefined ? 'givenUp' : state.stage,
        attempts: attemptFailed(state.attempts, event),
      };
    default:
      return event satisfies never;
  }
};

/** As long as for an invitation: a mail server may be away for a day. */
const retry = retryFor(24 * 3_600_000, 15 * 60_000);

const decide = (command: NoticeMailCommand, { stage, attempts }: NoticeMailState): readonly NoticeMailEvent[] => {
  const { noticeId, attempt } = command;
  if (stage !== 'open') return [];
  switch (command.type) {
    case 'RecordSent':
      return isUnderWay(attempts, attempt) ? [{ type: 'NoticeMailSent', data: { noticeId, attempt } }] : [];
    case 'RecordDropped':
      return isUnderWay(attempts, attempt)
        ? [{ type: 'NoticeMailDropped', data: { noticeId, attempt, reason: command.reason } }]
        : [];
    default:
      return decideLease<NoticeMailEvent>(
        attempts,
        command,
        {
          started: (lease) => [{ type: 'NoticeMailStarted', data: { noticeId, ...lease } }],
          renewed: (lease) => [{ type: 'NoticeMailLeaseRenewed', data: { noticeId, ...lease } }],
          failed: (failure) => [{ type: 'NoticeMailFailed', data: { noticeId, ...failure } }],
        },
        retry,
      );
  }
};

export const noticeMailFold: StreamFold<NoticeMailState, NoticeMailEvent, { readonly noticeId: string }> = {
  name: 'noticeMail',
  stream: noticeMailStream,
  initialState: { stage: 'open', attempts: noAttempts },
  evolve,
};

/** Stream `notice-mail-<noticeId>`: one mail. */
export const noticeMailProcess: Decider<NoticeMailState, NoticeMailCommand, NoticeMailEvent> = { ...noticeMailFold, decide };
