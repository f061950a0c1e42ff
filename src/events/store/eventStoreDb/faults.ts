import { EventStoreUnavailable } from '../eventStore.js';

/**
 * What a failed call tells: `refused`: the server did nothing, and may do it when asked again. `unsure`: it may have done it.
 * `denied`: it did nothing, and will not as long as nobody changes its settings or ours. `too large`: likewise, for this append.
 */
export type FaultKind = 'refused' | 'unsure' | 'denied' | 'too large';

/** Codes of gRPC. */
const INVALID_ARGUMENT = 3;
const PERMISSION_DENIED = 7;
const FAILED_PRECONDITION = 9;
const UNAVAILABLE = 14;
const UNAUTHENTICATED = 16;

/**
 * What a server says that does not take part yet, or any more, cannot look a password up yet, or has too much to do; it has no code of its
 * own. And what gRPC says of a call that never left.
 */
const refusals = [
  'Server Is Not Ready',
  'Server not ready',
  'Server Is Too Busy',
  'No leader info available',
  'No connection established',
  'Channel closed before call started',
];

/** A call that was given up because the connection could not be made in time: nothing was sent. */
export class NotConnected extends Error {
  /** The client connects anew, to another node if there is one, when it meets this code. */
  readonly code = UNAVAILABLE;
  readonly details = 'the event store cannot be reached';

  constructor() {
    super('the event store cannot be reached');
  }
}

/** Reads the fault of a call, in each of the forms in which the client and gRPC deliver it. */
export const faultKind = (fault: unknown): FaultKind => {
  if (fault instanceof NotConnected) return 'refused';
  const { code, exception, details } = partsOf(fault);
  if (exception === 'not-leader' || refusals.some((words) => details.includes(words))) return 'refused';
  if (exception === 'maximum-append-size-exceeded') return 'too large';
  if (exception === 'access-denied' || code === PERMISSION_DENIED || code === UNAUTHENTICATED) return 'denied';
  if (code === INVALID_ARGUMENT || code === FAILED_PRECONDITION) return 'denied';
  return 'unsure';
};

interface Parts {
  readonly code: number | null;
  /** EventStoreDB's own name of the fault, in the trailers. */
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

/** The fault in the port's words, for a call of which it is certain that it wrote nothing. */
export const unavailable = (what: string, cause: unknown): EventStoreUnavailable =>
  new EventStoreUnavailable(`${what}: ${cause instanceof Error ? cause.message : 'no answer in time'}`, { cause });
