import type { AnyCommand, Decider } from '../../commands/decider.js';
import type { Recorded } from '../../events/envelope.js';
import type { SeoEvent, SeoScanResult } from '../../events/seo/seo.events.js';
import { seoStream } from '../../events/seo/seo.stream.js';
import type { StreamFold } from '../../events/fold.js';
import { attemptFailed, attemptStarted, isUnderWay, leaseRenewed, noAttempts, type Attempts } from '../../events/attempts.js';
import { decideLease, retryFor, type LeaseCommand } from '../lease.js';

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

/**
 * What a worker reports about an attempt. Reports that are late, repeated, or about an attempt that
 * is no longer current change nothing.
 */
export type ScanOutcome = LeaseCommand | { readonly type: 'RecordResult'; readonly result: SeoScanResult };

type Command<Type extends SeoScanCommand['type']> = Extract<SeoScanCommand, { type: Type }>;

const evolve = (state: SeoScanState, event: Recorded<SeoEvent>): SeoScanState => {
  if (event.type === 'SeoScanRequested') {
    const { scanId, url } = event.data;
    return { stage: 'open', scanId, url, attempts: noAttempts };
  }
  if (state.stage === 'idle') return state;
  switch (event.type) {
    case 'SeoScanStarted':
      return { ...state, attempts: attemptStarted(state.attempts, event) };
    case 'SeoScanLeaseRenewed':
      return { ...state, attempts: leaseRenewed(state.attempts, event) };
    case 'SeoScanAttemptFailed':
      return { ...state, attempts: attemptFailed(state.attempts, event) };
    case 'SeoScanCompleted':
    case 'SeoScanFailed':
      return { stage: 'idle', scanId: state.scanId };
    default:
      return state;
  }
};

const scanOf = ({ websiteId, scanId }: SeoScanCommand) => ({ websiteId, scanId });

const request = (command: Command<'RequestScan'>, state: SeoScanState): readonly SeoEvent[] => {
  const { scanId, url, trigger } = command;
  // A request while a scan is under way gets that scan.
  if (state.stage === 'open' || state.scanId === scanId) return [];
  return [{ type: 'SeoScanRequested', data: { ...scanOf(command), url, trigger } }];
};

const recordResult = (command: Command<'RecordResult'>, { attempts }: OpenScan): readonly SeoEvent[] => {
  const { attempt, result } = command;
  return isUnderWay(attempts, attempt) ? [{ type: 'SeoScanCompleted', data: { ...scanOf(command), attempt, ...result } }] : [];
};

const RETRY_MS = 15 * 60_000;

const recordLease = (command: Command<LeaseCommand['type']>, { attempts }: OpenScan): readonly SeoEvent[] => {
  const scan = scanOf(command);
  return decideLease<SeoEvent>(
    attempts,
    command,
    {
      started: (lease) => [{ type: 'SeoScanStarted', data: { ...scan, ...lease } }],
      renewed: (lease) => [{ type: 'SeoScanLeaseRenewed', data: { ...scan, ...lease } }],
      failed: (failure, isGivenUp) => [
        { type: 'SeoScanAttemptFailed', data: { ...scan, ...failure } },
        ...(isGivenUp ? [{ type: 'SeoScanFailed', data: { ...scan, reason: failure.error } } as const] : []),
      ],
    },
    retryFor(RETRY_MS),
  );
};

const decide = (command: SeoScanCommand, state: SeoScanState): readonly SeoEvent[] => {
  if (command.type === 'RequestScan') return request(command, state);
  if (state.stage !== 'open' || state.scanId !== command.scanId) return [];
  return command.type === 'RecordResult' ? recordResult(command, state) : recordLease(command, state);
};

export const seoScanFold: StreamFold<SeoScanState, SeoEvent, { readonly websiteId: string }> = {
  name: 'seoScan',
  stream: seoStream,
  initialState: { stage: 'idle' },
  evolve,
};

/** Stream `seo-<websiteId>`. */
export const seoScanProcess: Decider<SeoScanState, SeoScanCommand, SeoEvent> = { ...seoScanFold, decide };
