import type { AnyCommand, Decider } from '../../commands/decider.js';
import type { Recorded } from '../../events/envelope.js';
import type { SeoEvent, SeoScanResult } from '../../events/seo/seo.events.js';
import {
  failed,
  isUnderWay,
  leaseFrom,
  mayStart,
  noAttempts,
  renewed,
  retryAt,
  started,
  type Attempts,
  type Fault,
  type Token,
} from '../attempts.js';
import { seoStream } from '../../events/seo/seo.stream.js';
import type { StreamFold } from '../../events/fold.js';

/** A website has one scan at a time. */
export type SeoScanState = { readonly stage: 'idle'; readonly scanId?: string } | OpenScan;

export interface OpenScan {
  readonly stage: 'open';
  readonly scanId: string;
  readonly url: string;
  readonly attempts: Attempts;
}

export type SeoScanCommand = AnyCommand & { readonly websiteId: string; readonly scanId: string } & (
    | { readonly type: 'RequestScan'; readonly url: string; readonly trigger: 'request' | 'schedule' }
    | (ScanOutcome & { readonly attempt: number })
  );

/** What a worker says of an attempt. What comes late, twice, or of an attempt that is no longer the current one changes nothing. */
export type ScanOutcome =
  | { readonly type: 'StartScan'; readonly worker: string; readonly waitedOut?: Token | undefined }
  | { readonly type: 'RenewLease'; readonly lease: Token }
  | { readonly type: 'RecordResult'; readonly result: SeoScanResult }
  /** `jitter`: a fraction in [0, 1). */
  | { readonly type: 'RecordFailure'; readonly fault: Fault; readonly jitter: number };

const evolve = (state: SeoScanState, event: Recorded<SeoEvent>): SeoScanState => {
  if (event.type === 'SeoScanRequested') {
    const { scanId, url } = event.data;
    return { stage: 'open', scanId, url, attempts: noAttempts };
  }
  if (state.stage === 'idle') return state;
  switch (event.type) {
    case 'SeoScanStarted':
      return { ...state, attempts: started(state.attempts, event) };
    case 'SeoScanLeaseRenewed':
      return { ...state, attempts: renewed(state.attempts, event) };
    case 'SeoScanAttemptFailed':
      return { ...state, attempts: failed(state.attempts, event) };
    case 'SeoScanCompleted':
    case 'SeoScanFailed':
      return { stage: 'idle', scanId: state.scanId };
    default:
      return state;
  }
};

const decide = (command: SeoScanCommand, state: SeoScanState): readonly SeoEvent[] => {
  const { websiteId, scanId, at } = command;
  const scan = { websiteId, scanId };
  if (command.type === 'RequestScan') {
    // Whoever asks for one while one is under way gets that one.
    if (state.stage === 'open' || state.scanId === scanId) return [];
    return [{ type: 'SeoScanRequested', data: { ...scan, url: command.url, trigger: command.trigger } }];
  }
  if (state.stage !== 'open' || state.scanId !== scanId) return [];
  const { attempts } = state;
  const { attempt } = command;
  if (command.type === 'StartScan') {
    if (!mayStart(attempts, command)) return [];
    return [{ type: 'SeoScanStarted', data: { ...scan, attempt, worker: command.worker, leaseUntil: leaseFrom(at) } }];
  }
  if (!isUnderWay(attempts, attempt)) return [];
  switch (command.type) {
    case 'RenewLease':
      if (attempts.lease.token !== command.lease) return [];
      return [{ type: 'SeoScanLeaseRenewed', data: { ...scan, attempt, leaseUntil: leaseFrom(at) } }];
    case 'RecordResult':
      return [{ type: 'SeoScanCompleted', data: { ...scan, attempt, ...command.result } }];
    case 'RecordFailure': {
      const { error, transient } = command.fault;
      const nextAttemptAt = retryAt(attempts, command.fault, at, command.jitter);
      const again = nextAttemptAt === undefined ? {} : { nextAttemptAt };
      const failure: SeoEvent = { type: 'SeoScanAttemptFailed', data: { ...scan, attempt, error, transient, ...again } };
      if (nextAttemptAt !== undefined) return [failure];
      return [failure, { type: 'SeoScanFailed', data: { ...scan, reason: error } }];
    }
    default:
      return command satisfies never;
  }
};

export const seoScanFold: StreamFold<SeoScanState, SeoEvent, { readonly websiteId: string }> = {
  name: 'seoScan',
  stream: seoStream,
  initialState: { stage: 'idle' },
  evolve,
};

/** Stream `seo-<websiteId>`. */
export const seoScanProcess: Decider<SeoScanState, SeoScanCommand, SeoEvent> = { ...seoScanFold, decide };
