import { describe, expect, test } from '@jest/globals';
import * as driver from 'mongodb';
import { createFaultMapper } from '../../src/projections/store/mongodb/faults.js';
import { ReadModelStoreUnavailable } from '../../src/projections/store/readModelStore.js';

const mapped = createFaultMapper('mongodb://ann:pa%3Ass@db.example.com/doorstep', driver);

const answered = (code: number, message = 'words of the server'): driver.MongoServerError =>
  new driver.MongoServerError({ code, message });

/** As the driver throws what ended a bulk write. */
const inBulk = (fault: Error): driver.MongoBulkWriteError =>
  new driver.MongoBulkWriteError(fault, { getWriteConcernError: () => undefined } as unknown as driver.BulkWriteResult);

describe('faults of the MongoDB driver', () => {
  test.each<[string, Error]>([
    ['a lost connection', new driver.MongoNetworkError('connection 1 to 127.0.0.1:27017 closed')],
    ['a silent connection', new driver.MongoNetworkTimeoutError('connection 1 to 127.0.0.1:27017 timed out')],
    ['a lost connection in a bulk write', inBulk(new driver.MongoNetworkError('closed'))],
    ['a name that is not found', Object.assign(new Error('querySrv ENOTFOUND'), { code: 'ENOTFOUND', syscall: 'querySrv' })],
    ['a text record that cannot be understood', new driver.MongoParseError('Text record may only set authSource')],
    ['a server that is no longer the primary', answered(10107)],
    ['one that steps down', answered(189)],
    ['one that steps down in a bulk write', inBulk(answered(189))],
    ['one that shuts down', answered(91)],
    ['one that was interrupted while its state changed', answered(11602)],
    ['a majority that does not answer', answered(64)],
    ['credentials that are not taken', answered(18)],
    ['a full disk', answered(14031)],
    [
      'a failure that the server says may be retried',
      new driver.MongoServerError({ message: 'x', code: 1, errorLabels: ['RetryableWriteError'] }),
    ],
    ['a client that is closed', new driver.MongoNotConnectedError('Client must be connected')],
  ])('%s: unavailable', (_, fault) => {
    expect(mapped(fault)).toBeInstanceOf(ReadModelStoreUnavailable);
  });

  test.each<[string, Error]>([
    ['a command that is wrong', answered(9)],
    ['a duplicate', answered(11000)],
    ['an argument that the driver does not take', new driver.MongoInvalidArgumentError('no')],
    ['a mistake of ours', new TypeError('no')],
  ])('%s: thrown as it is', (_, fault) => {
    expect(mapped(fault)).toBe(fault);
  });

  test('say what happened, and never quote the credentials', () => {
    const fault = mapped(answered(18, 'ann may not enter with pa:ss (pa%3Ass)')) as Error;
    expect(fault.message).toBe(
      'the read-model store at db.example.com (READ_MODEL_URL) cannot be used: MongoServerError 18: [removed] may not enter with [removed] ([removed])',
    );
    expect(fault.cause).toBeUndefined();
  });
});
