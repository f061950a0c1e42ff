import type * as driver from 'mongodb';
import { ReadModelStoreUnavailable } from '../readModelStore.js';

/**
 * What a server answers when it cannot do its work now, as opposed to a command that is wrong: not the primary, shutting down,
 * interrupted, no majority, out of time or disk, and credentials that it does not (or no longer) take.
 * https://github.com/mongodb/mongo/blob/master/src/mongo/base/error_codes.yml
 */
const unavailableCodes = new Set<unknown>([
  6, 7, 13, 18, 50, 64, 89, 91, 100, 112, 133, 134, 189, 202, 262, 8000, 9001, 10107, 11600, 11602, 13435, 13436, 14031,
]);

/** The driver's own faults that speak of the caller's mistake, not of the store. */
const mistakes = new Set(['MongoInvalidArgumentError', 'MongoParseError']);

/** Turns the driver's faults into the port's. Of a fault only name, code and words are kept, without the credentials of `url`. */
export const createFaults = (url: string, { MongoError, MongoServerError, MongoWriteConcernError }: typeof driver) => {
  const credentials = credentialsIn(url);

  const isUnavailable = (fault: driver.MongoError): boolean => {
    if (!(fault instanceof MongoServerError)) return !mistakes.has(fault.name);
    return (
      fault instanceof MongoWriteConcernError ||
      unavailableCodes.has(fault.code) ||
      ['RetryableWriteError', 'HandshakeError'].some((label) => fault.hasErrorLabel(label))
    );
  };

  return (fault: unknown): unknown => {
    // The driver wraps whatever ends a bulk write, a lost connection too.
    if (fault instanceof MongoServerError && (fault.errorResponse as unknown) instanceof Error) fault = fault.errorResponse;
    if (!(fault instanceof MongoError) || !isUnavailable(fault)) return fault;
    const words = credentials.reduce((text, secret) => text.replaceAll(secret, '[removed]'), fault.message);
    const code = fault.code === undefined ? '' : ` ${String(fault.code)}`;
    return new ReadModelStoreUnavailable(`the read-model store cannot be used: ${fault.name}${code}: ${words}`);
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
