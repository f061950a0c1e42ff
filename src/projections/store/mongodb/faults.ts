import type * as driver from 'mongodb';
import { hostsOf } from '../../../platform/storeAddress.js';
import { ReadModelStoreUnavailable } from '../readModelStore.js';

/**
 * Codes of a server, or of a sharded cluster's router, that cannot do its work now, as opposed to
 * codes of a wrong command.
 * https://github.com/mongodb/mongo/blob/master/src/mongo/base/error_codes.yml
 */
const unavailableCodes = new Set<unknown>(
  Object.values({
    // The server is not the primary, or is stepping down.
    ShutdownInProgress: 91,
    NotYetInitialized: 94,
    PrimarySteppedDown: 189,
    LegacyNotPrimary: 10058,
    NotWritablePrimary: 10107,
    InterruptedAtShutdown: 11600,
    InterruptedDueToReplStateChange: 11602,
    NotPrimaryNoSecondaryOk: 13435,
    NotPrimaryOrSecondary: 13436,
    // There is no majority, or it did not answer in time.
    WriteConcernTimeout: 64,
    UnsatisfiableWriteConcern: 100,
    ReadConcernMajorityNotAvailableYet: 134,
    SnapshotUnavailable: 246,
    // Another server that it needs does not answer.
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
    // It refuses the credentials.
    Unauthorized: 13,
    AuthenticationFailed: 18,
    ReauthenticationRequired: 391,
    AtlasError: 8000,
    // It ran out of time or room, or was interrupted.
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
    // Collections, indexes or shards are being changed at the same time.
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

/** Labels that servers and the driver put on faults that may be retried, whatever their code. */
const unavailableLabels = ['RetryableWriteError', 'RetryableError', 'SystemOverloadedError', 'HandshakeError'];

/** CursorNotFound, QueryPlanKilled, CursorKilled. */
const lostReads = new Set<unknown>([43, 175, 237]);

/** Whether a read failed because its collection or its cursor is gone. */
export const isReadLost = (fault: unknown): boolean =>
  typeof fault === 'object' && fault !== null && 'code' in fault && lostReads.has(fault.code);

interface Reason {
  readonly name: string;
  readonly code?: number | string | undefined;
  readonly message: string;
}

/**
 * Why no server could be chosen, as the driver learnt it of each: its own message is of one server
 * only, or of none.
 */
const selectionReason = ({ message, reason }: driver.MongoServerSelectionError): string => {
  if (reason === undefined) return message;
  const { servers, setName } = reason;
  const each = [...servers.values()].map(
    ({ address, error }) => `${address}: ${error?.message ?? 'it does not answer; is TLS set as the server wants it?'}`,
  );
  if (each.length === 0 && setName !== null)
    return `none of the servers belongs to a replica set with the name ${setName}; check replicaSet in the address`;
  const primary = reason.type === 'ReplicaSetNoPrimary' ? ['the replica set has no primary'] : [];
  return [...each, ...primary].join('; ');
};

const isSystemFault = (fault: unknown): fault is Reason => typeof fault === 'object' && fault !== null && 'syscall' in fault;

/**
 * Maps the driver's faults to the port's. Only name, code and message of a fault are kept, without
 * the credentials of `url`.
 */
export const createFaultMapper = (
  url: string,
  {
    MongoBulkWriteError,
    MongoError,
    MongoInvalidArgumentError,
    MongoServerError,
    MongoServerSelectionError,
    MongoWriteConcernError,
  }: typeof driver,
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

  /** The part of the fault that says that the store is unavailable, or `null`. */
  const reasonOf = (fault: unknown): Reason | null => {
    // The driver passes on the system's errors of looking up host names and reading certificate
    // files.
    if (isSystemFault(fault)) return fault;
    if (!(fault instanceof MongoError)) return null;
    if (fault instanceof MongoBulkWriteError) {
      // The driver wraps every fault that ends a bulk write, also a lost connection.
      const wrapped = reasonOf(fault.errorResponse);
      if (wrapped !== null) return wrapped;
      // A duplicate may come before it in the list.
      const part =
        fault.result.getWriteConcernError() ?? [fault.writeErrors].flat().find(({ code }) => unavailableCodes.has(code));
      if (part !== undefined) return { name: fault.name, code: part.code, message: part.errmsg ?? '' };
    }
    if (fault instanceof MongoServerSelectionError) return { name: fault.name, message: selectionReason(fault) };
    return isUnavailable(fault) ? fault : null;
  };

  return (fault: unknown): unknown => {
    const reason = reasonOf(fault);
    if (reason === null) return fault;
    const words = credentials.reduce((text, secret) => text.replaceAll(secret, '[removed]'), reason.message);
    const code = reason.code === undefined ? '' : ` ${String(reason.code)}`;
    return new ReadModelStoreUnavailable(`${storeAt(url)} cannot be used: ${reason.name}${code}: ${words}`);
  };
};

/** The store in messages for operators: where it is, without credentials, and which setting says so. */
export const storeAt = (url: string): string => `the read-model store at ${hostsOf(url)} (READ_MODEL_URL)`;

/** User name and password, as written in an address and decoded. */
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
