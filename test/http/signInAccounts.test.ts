import { beforeEach, expect, test } from '@jest/globals';
import { createAccounts, type Accounts } from '../../src/integrations/identity/embedded/accounts.js';
import { createEncryptedRecords, type Records } from '../../src/integrations/identity/embedded/encryptedRecords.js';
import type { RecordStore } from '../../src/projections/store/readModelStore.js';
import { createTestClock, type TestClock } from '../support/testClock.js';
import { createMemoryStores } from '../workers/memoryStores.js';

const email = 'ada@example.com';
const halfOfRetentionMs = 31 * 86_400_000;
let clock: TestClock;
let accounts: Accounts;
/** What another process does right before an account is written. */
let meanwhile: (() => Promise<void>) | undefined;

beforeEach(async () => {
  clock = createTestClock();
  const { vault, personal, readModels } = await createMemoryStores();
  const { records } = readModels;
  const act = async (collection: string): Promise<void> => {
    if (collection !== 'signIn.account') return;
    const acting = meanwhile;
    meanwhile = undefined;
    await acting?.();
  };
  const interrupted: Records = {
    get: (...asked) => records.get(...asked),
    insert: (...asked) => records.insert(...asked),
    put: async (...asked) => {
      await act(asked[0]);
      await records.put(...asked);
    },
    replace: async (...asked) => {
      await act(asked[0]);
      return records.replace(...(asked as Parameters<RecordStore['replace']>));
    },
    delete: (...asked) => records.delete(...asked),
  };
  const blindIndex = (text: string): string => personal.blindIndex(text);
  const encrypted = createEncryptedRecords(interrupted, vault, blindIndex, clock);
  accounts = createAccounts({ records: encrypted, clock, blindIndex, adminEmails: [] });
});

const forget = (): Promise<void> => accounts.forget(email, 'encrypted:ada');

test('an account that is forgotten while its use renews it stays forgotten', async () => {
  const { subject } = await accounts.ofEmail(email, 'en');
  await clock.sleep(halfOfRetentionMs);
  meanwhile = forget;
  expect(await accounts.find(subject)).toBeNull();
  expect(await accounts.addressOf(subject)).toBeNull();
});

test('an address that is forgotten while it signs in gets another subject, and no account of the former one', async () => {
  const { subject } = await accounts.preview(email);
  meanwhile = forget;
  const account = await accounts.ofEmail(email, 'en');
  expect(account.subject).not.toBe(subject);
  expect(await accounts.addressOf(subject)).toBeNull();
  expect(await accounts.find(account.subject)).toEqual(account);
});

test('an account that two processes renew at the same time stays', async () => {
  const account = await accounts.ofEmail(email, 'en');
  await clock.sleep(halfOfRetentionMs);
  meanwhile = async () => {
    expect(await accounts.find(account.subject)).toEqual(account);
  };
  expect(await accounts.find(account.subject)).toEqual(account);
  await clock.sleep(halfOfRetentionMs);
  expect(await accounts.find(account.subject)).toEqual(account);
});
