import type { AnyCommand, Decider } from '../../commands/decider.js';
import type { Recorded } from '../../events/envelope.js';
import type { SeoRunEvent } from '../../events/seoRun/seoRun.events.js';
import { seoRunStream } from '../../events/seoRun/seoRun.stream.js';
import type { StreamFold } from '../../events/fold.js';
import { attemptStarted, isUnderWay, leaseRenewed, noAttempts, type Attempts } from '../../events/attempts.js';
import { decideRenewal, decideStart, type RenewLease, type StartAttempt } from '../lease.js';

/**
 * A run of the schedule: one worker at a time requests a scan of each website, until all are
 * requested.
 */
export type SeoRunState = { readonly stage: 'none' | 'over' } | OpenRun;

export interface OpenRun {
  readonly stage: 'open';
  readonly attempts: Attempts;
  /** The last website that is known to be done. */
  readonly after?: string;
}

export type SeoRunCommand = AnyCommand & { readonly dueAt: string } & (
    { readonly type: 'RequestRun' } | (RunOutcome & { readonly attempt: number })
  );

/**
 * What a worker reports about an attempt. Reports that are late, repeated, or about an attempt that
 * is no longer current change nothing.
 */
export type RunOutcome =
  | StartAttempt
  /** `after`: the last website that was dealt with. */
  | (RenewLease & { readonly after?: string | undefined })
  | { readonly type: 'CompleteRun' };

type Command<Type extends SeoRunCommand['type']> = Extract<SeoRunCommand, { type: Type }>;

const evolve = (state: SeoRunState, event: Recorded<SeoRunEvent>): SeoRunState => {
  if (event.type === 'SeoRunDue') return { stage: 'open', attempts: noAttempts };
  if (state.stage !== 'open') return state;
  switch (event.type) {
    case 'SeoRunStarted':
      return { ...state, attempts: attemptStarted(state.attempts, event) };
    case 'SeoRunLeaseRenewed': {
      const { after } = event.data;
      return { ...state, attempts: leaseRenewed(state.attempts, event), ...(after !== undefined && { after }) };
    }
    case 'SeoRunCompleted':
      return { stage: 'over' };
    default:
      return state;
  }
};

/**
 * The stream is named after the time, so only one of the processes that find it due appends this.
 */
const request = ({ dueAt }: Command<'RequestRun'>, { stage }: SeoRunState): readonly SeoRunEvent[] =>
  stage === 'none' ? [{ type: 'SeoRunDue', data: { dueAt } }] : [];

const start = (command: Command<'StartAttempt'>, { attempts }: OpenRun): readonly SeoRunEvent[] =>
  decideStart(attempts, command, (lease) => [{ type: 'SeoRunStarted', data: { dueAt: command.dueAt, ...lease } }]);

const renewLease = (command: Command<'RenewLease'>, { attempts }: OpenRun): readonly SeoRunEvent[] => {
  const { dueAt, after } = command;
  const progress = after === undefined ? {} : { after };
  return decideRenewal(attempts, command, (lease) => [{ type: 'SeoRunLeaseRenewed', data: { dueAt, ...lease, ...progress } }]);
};

const complete = ({ dueAt, attempt }: Command<'CompleteRun'>, { attempts }: OpenRun): readonly SeoRunEvent[] =>
  isUnderWay(attempts, attempt) ? [{ type: 'SeoRunCompleted', data: { dueAt, attempt } }] : [];

const decide = (command: SeoRunCommand, state: SeoRunState): readonly SeoRunEvent[] => {
  if (command.type === 'RequestRun') return request(command, state);
  if (state.stage !== 'open') return [];
  switch (command.type) {
    case 'StartAttempt':
      return start(command, state);
    case 'RenewLease':
      return renewLease(command, state);
    case 'CompleteRun':
      return complete(command, state);
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
