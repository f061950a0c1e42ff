import type * as driver from 'mongodb';
import { ReadModelStoreUnavailable } from '../readModelStore.js';

/**
 * What a server, or the router of a sharded cluster, answers when it cannot do its work now, as opposed to a command that is wrong.
 * https://github.com/mongodb/mongo/blob/master/src/mongo/base/error_codes.yml
 */
const unavailableCodes = new Set<unknown>(
  Object.values({
    // It is not the primary, or will not be for long.
    ShutdownInProgress: 91,
    NotYetInitialized: 94,
    PrimarySteppedDown: 189,
    LegacyNotPrimary: 10058,
    NotWritablePrimary: 10107,
    InterruptedAtShutdown: 11600,
    InterruptedDueToReplStateChange: 11602,
    NotPrimaryNoSecondaryOk: 13435,
    NotPrimaryOrSecondary: 13436,
    // There is no majority, or none in time.
    WriteConcernTimeout: 64,
    UnsatisfiableWriteConcern: 100,
    ReadConcernMajorityNotAvailableYet: 134,
    SnapshotUnavailable: 246,
    // Others that it needs do not answer it.
    HostUnreachable: 6,
    HostNotFound: 7,
    ShardNotFound: 70,
    NetworkTimeout: 89,
    FailedToSatisfyReadPreference: 133,
    NetworkInterfaceExceededTimeLimit: 202,
    PooledConnectionAcquisitionExceededTimeLimit: 407,
    PooledConnectionAcquisitionRejected: 450,
    SocketException: 9001,
    RetriableRemoteCommandFailure: 91331,
    // It does not take the credentials, or no longer.
    Unauthorized: 13,
    AuthenticationFailed: 18,
    ReauthenticationRequired: 391,
    AtlasError: 8000,
    // It ran out of time, room or patience, or was told to stop.
    LockTimeout: 24,
    MaxTimeMSExpired: 50,
    ExceededMemoryLimit: 146,
    TooManyLogicalSessions: 261,
    ExceededTimeLimit: 262,
    TooManyFilesOpen: 264,
    ClientDisconnect: 279,
    TemporarilyUnavailable: 365,
    UserWritesBlocked: 371,
    ResourceExhausted: 402,
    AdmissionQueueOverflow: 433,
    RateLimitExceeded: 449,
    IngressRequestRateLimitExceeded: 462,
    Interrupted: 11601,
    OutOfDiskSpace: 14031,
    ClientMarkedKilled: 46841,
    // Something else changes collections, indexes or shards at the same moment.
    CursorNotFound: 43,
    LockBusy: 46,
    LockFailed: 107,
    WriteConflict: 112,
    ConflictingOperationInProgress: 117,
    StaleEpoch: 150,
    QueryPlanKilled: 175,
    ShardingStateNotInitialized: 203,
    KeyNotFound: 211,
    DatabaseDropPending: 215,
    CursorKilled: 237,
    StaleDbVersion: 249,
    MigrationConflict: 272,
    IndexBuildAborted: 276,
    IndexBuildAlreadyInProgress: 285,
    ObjectIsBusy: 314,
    MovePrimaryInProgress: 319,
    ReshardingCriticalSectionTimeout: 342,
    ShardCannotRefreshDueToLocksHeld: 343,
    InterruptedDueToStorageChange: 355,
    InterruptedDueToReshardingCriticalSection: 453,
    BackgroundOperationInProgressForNamespace: 12587,
    StaleConfig: 13388,
    InterruptedDueToFCVChange: 10045600,
  }),
);

/** Labels that servers and the driver put on what may be repeated, whatever its code. */
const unavailableLabels = ['RetryableWriteError', 'RetryableError', 'SystemOverloadedError', 'HandshakeError'];

const lostReads = new Set<unknown>([43, 175, 237]);

/** Whether a read ended because its collection, or its place in it, is gone. */
export const isReadLost = (fault: unknown): boolean =>
  typeof fault === 'object' && fault !== null && 'code' in fault && lostReads.has(fault.code);

interface Reason {
  readonly name: string;
  readonly code?: number | string | undefined;
  readonly message: string;
}

const isSystemFault = (fault: unknown): fault is Reason => typeof fault === 'object' && fault !== null && 'syscall' in fault;

/** Turns the driver's faults into the port's. Of a fault only name, code and words are kept, without the credentials of `url`. */
export const createFaults = (
  url: string,
  { MongoBulkWriteError, MongoError, MongoInvalidArgumentError, MongoServerError, MongoWriteConcernError }: typeof driver,
) => {
  const credentials = credentialsIn(url);

  const isUnavailable = (fault: driver.MongoError): boolean => {
    if (!(fault instanceof MongoServerError)) return !(fault instanceof MongoInvalidArgumentError);
    return (
      fault instanceof MongoWriteConcernError ||
      unavailableCodes.has(fault.code) ||
      unavailableLabels.some((label) => fault.hasErrorLabel(label))
    );
  };

  /** What says that the store is unavailable, if anything does. */
  const reasonOf = (fault: unknown): Reason | null => {
    // Names, and files with certificates, are looked up before the driver's own work begins: it passes on what the system says.
    if (isSystemFault(fault)) return fault;
    if (!(fault instanceof MongoError)) return null;
    if (fault instanceof MongoBulkWriteError) {
      // The driver wraps whatever ends a bulk write, a lost connection too.
      const wrapped = reasonOf(fault.errorResponse);
      if (wrapped !== null) return wrapped;
      // A duplicate beside it may come first.
      const part =
        fault.result.getWriteConcernError() ?? [fault.writeErrors].flat().find(({ code }) => unavailableCodes.has(code));
      if (part !== undefined) return { name: fault.name, code: part.code, message: part.errmsg ?? '' };
    }
    return isUnavailable(fault) ? fault : null;
  };

  return (fault: unknown): unknown => {
    const reason = reasonOf(fault);
    if (reason === null) return fault;
    const words = credentials.reduce((text, secret) => text.replaceAll(secret, '[removed]'), reason.message);
    const code = reason.code === undefined ? '' : ` ${String(reason.code)}`;
    return new ReadModelStoreUnavailable(`the read-model store cannot be used: ${reason.name}${code}: ${words}`);
  };
};

/** User name and password as they stand in an address, and as they are meant. */
const credentialsIn = (url: string): readonly string[] => {
  const written = /^mongodb(?:\+srv)?:\/\/([^/?]*)@/.exec(url)?.[1]?.split(':') ?? [];
  const meant = written.map((text) => {
    try {
      return decodeURIComponent(text);
    } catch {
      return text;
    }
  });
  return [...new Set([...written, ...meant])].filter((text) => text !== '').sort((one, other) => other.length - one.length);
};
