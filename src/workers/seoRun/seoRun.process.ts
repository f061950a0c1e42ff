import type { AnyCommand, Decider } from '../../commands/decider.js';
import type { Recorded } from '../../events/envelope.js';
import type { SeoRunEvent } from '../../events/seoRun/seoRun.events.js';
import { isUnderWay, leaseFrom, mayStart, noAttempts, renewed, started, type Attempts, type Token } from '../attempts.js';
import { seoRunStream } from '../../events/seoRun/seoRun.stream.js';
import type { StreamFold } from '../../events/fold.js';

/** What a time of the calendar asks for: a request for a scan of each website, made by one worker at a time, until all are made. */
export type SeoRunState = { readonly stage: 'none' | 'over' } | OpenRun;

export interface OpenRun {
  readonly stage: 'open';
  readonly attempts: Attempts;
  /** The last website that is known to be dealt with. */
  readonly after?: string;
}

export type SeoRunCommand = AnyCommand & { readonly dueAt: string } & (
    { readonly type: 'AskForRun' } | (RunOutcome & { readonly attempt: number })
  );

/** What a worker says of an attempt. What comes late, twice, or of an attempt that is no longer the current one changes nothing. */
export type RunOutcome =
  | { readonly type: 'StartRun'; readonly worker: string; readonly waitedOut?: Token | undefined }
  | { readonly type: 'RenewLease'; readonly lease: Token; readonly after?: string | undefined }
  | { readonly type: 'CompleteRun' };

const evolve = (state: SeoRunState, event: Recorded<SeoRunEvent>): SeoRunState => {
  if (event.type === 'SeoRunDue') return { stage: 'open', attempts: noAttempts };
  if (state.stage !== 'open') return state;
  switch (event.type) {
    case 'SeoRunStarted':
      return { ...state, attempts: started(state.attempts, event) };
    case 'SeoRunLeaseRenewed': {
      const { after } = event.data;
      return { ...state, attempts: renewed(state.attempts, event), ...(after !== undefined && { after }) };
    }
    case 'SeoRunCompleted':
      return { stage: 'over' };
    default:
      return state;
  }
};

const decide = (command: SeoRunCommand, state: SeoRunState): readonly SeoRunEvent[] => {
  const { dueAt, at } = command;
  // The stream is named after the time: of all processes that find it due, one writes this.
  if (command.type === 'AskForRun') return state.stage === 'none' ? [{ type: 'SeoRunDue', data: { dueAt } }] : [];
  if (state.stage !== 'open') return [];
  const { attempts } = state;
  const { attempt } = command;
  if (command.type === 'StartRun') {
    if (!mayStart(attempts, command)) return [];
    return [{ type: 'SeoRunStarted', data: { dueAt, attempt, worker: command.worker, leaseUntil: leaseFrom(at) } }];
  }
  if (!isUnderWay(attempts, attempt)) return [];
  switch (command.type) {
    case 'RenewLease': {
      const { lease, after } = command;
      if (attempts.lease.token !== lease) return [];
      const progress = after === undefined ? {} : { after };
      return [{ type: 'SeoRunLeaseRenewed', data: { dueAt, attempt, leaseUntil: leaseFrom(at), ...progress } }];
    }
    case 'CompleteRun':
      return [{ type: 'SeoRunCompleted', data: { dueAt, attempt } }];
    default:
      return command satisfies never;
  }
};

export const seoRunFold: StreamFold<SeoRunState, SeoRunEvent, { readonly dueAt: string }> = {
  name: 'seoRun',
  stream: seoRunStream,
  initialState: { stage: 'none' },
  evolve,
};

/** Stream `seo-run-<dueAt>`. */
export const seoRunProcess: Decider<SeoRunState, SeoRunCommand, SeoRunEvent> = { ...seoRunFold, decide };
