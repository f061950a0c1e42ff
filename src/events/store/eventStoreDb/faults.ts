import { EventStoreUnavailable } from '../eventStore.js';

/**
 * What a failed call means. `refused`: the server did nothing, and may do it when asked again.
 * `outcome unknown`: it may have done it. `denied`: it did nothing, and will not before its
 * configuration or ours changes. `too large`: it never accepts this append.
 */
export type FaultKind = 'refused' | 'outcome unknown' | 'denied' | 'too large';

/** gRPC status codes. */
const INVALID_ARGUMENT = 3;
const PERMISSION_DENIED = 7;
const FAILED_PRECONDITION = 9;
const UNAVAILABLE = 14;
const UNAUTHENTICATED = 16;

/**
 * Messages, without a code of their own, of a server that is starting or stopping, cannot check
 * passwords yet, or is too busy; and of gRPC for a call that was never sent.
 */
const refusalWords = [
  'Server Is Not Ready',
  'Server not ready',
  'Server Is Too Busy',
  'Server Is Busy',
  'No leader info available',
  'No connection established',
  'Channel closed before call started',
];

/** The connection could not be made in time: nothing was sent. */
export class NotConnected extends Error {
  /** This code makes the client reconnect, to another node if there is one. */
  readonly code = UNAVAILABLE;
  readonly details = 'the event store cannot be reached';

  constructor() {
    super('the event store cannot be reached');
  }
}

/** The fault of one append among those that share a call. */
export class AppendFault extends Error {
  /** Of gRPC; `null` for one that the server did not send. */
  readonly code: number | null;
  readonly details: string;

  constructor({ code, details }: { readonly code: number | null; readonly details: string }, options?: ErrorOptions) {
    super(details, options);
    this.code = code;
    this.details = details;
  }
}

/** Classifies the fault of a call, in every form in which the client and gRPC throw it. */
export const faultKind = (fault: unknown): FaultKind => {
  if (fault instanceof NotConnected) return 'refused';
  const { code, exception, details } = partsOf(fault);
  if (exception === 'not-leader' || refusalWords.some((words) => details.includes(words))) return 'refused';
  if (exception === 'maximum-append-size-exceeded' || details === 'MaximumAppendSizeExceeded') return 'too large';
  if (exception === 'access-denied' || code === PERMISSION_DENIED || code === UNAUTHENTICATED) return 'denied';
  if (code === INVALID_ARGUMENT || code === FAILED_PRECONDITION) return 'denied';
  return 'outcome unknown';
};

/** Whether the fault of a call means that the server cannot be reached now. */
export const isServerAway = (fault: unknown): boolean =>
  fault instanceof EventStoreUnavailable || faultKind(fault) === 'refused' || partsOf(fault).code === UNAVAILABLE;

interface Parts {
  readonly code: number | null;
  /** EventStoreDB's own name of the fault, from the trailers. */
  readonly exception: string;
  readonly details: string;
}

const partsOf = (fault: unknown): Parts => {
  if (!(fault instanceof Error)) return { code: null, exception: '', details: '' };
  const { code, details, metadata } = fault as Partial<{ code: unknown; details: unknown; metadata: unknown }>;
  const trailers = metadata as { get?: (key: string) => readonly (string | Buffer)[] } | undefined;
  return {
    code: typeof code === 'number' ? code : null,
    exception: trailers?.get?.('exception')[0]?.toString() ?? '',
    details: typeof details === 'string' ? details : fault.message,
  };
};

/** The port's fault for a call that certainly wrote nothing. */
export const unavailable = (what: string, cause: unknown): EventStoreUnavailable =>
  new EventStoreUnavailable(`${what}: ${cause instanceof Error ? cause.message : 'no answer in time'}`, { cause });
