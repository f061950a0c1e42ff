import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from '@jest/globals';
import { scripts } from '../../src/operations/scriptHelp.js';
import { mintToken, operate } from '../support/server.js';
import { temporaryFolder } from '../support/temporary.js';

let data: string;
const keyFile = (): string => readFileSync(join(data, 'encryption.key'), 'utf8');

beforeAll(async () => {
  data = temporaryFolder();
  await mintToken(data);
});

test.each(Object.keys(scripts))('%s does nothing for an option that it does not know', async (script) => {
  const before = keyFile();
  await expect(operate(data, script, ['--unknown'])).rejects.toThrow(/Usage: npm run /);
  expect(keyFile()).toBe(before);
});

test('a projection that there is not is named', async () => {
  await expect(operate(data, 'rebuildProjection', ['website', 'websites'])).rejects.toThrow(/There is no projection websites\n/);
});

test('tokens are not revoked in a folder that holds no installation, and none is made', async () => {
  const empty = temporaryFolder();
  const revoke = operate(empty, 'mintToken', ['--revoke', '--subject', 'ops@example.com']);
  await expect(revoke).rejects.toThrow('DATA_DIR: there is no events.db');
  expect(readdirSync(empty)).toEqual([]);
});

test('a list that nobody keeps up to date says what to start', async () => {
  const revoke = operate(data, 'mintToken', ['--revoke', '--subject', 'ops@example.com']);
  await expect(revoke).rejects.toThrow(/:\nThe read model apiKey is behind the log\. Start the service, [^\n]+\n$/);
});
