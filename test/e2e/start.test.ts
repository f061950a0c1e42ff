import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { eventually } from '../support/eventually.js';
import { launchServer } from '../support/server.js';
import { temporaryFolder } from '../support/temporary.js';

/** A port in use. */
const other = createServer();
let taken: string;
/** A file where a folder should be. */
const file = join(temporaryFolder(), 'file');

beforeAll(async () => {
  writeFileSync(file, '');
  await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
  taken = String((other.address() as AddressInfo).port);
});
afterAll(() => {
  other.close();
});

test.each<[string, () => Record<string, string>]>([
  ['PORT: must be', () => ({ PORT: 'http' })],
  ['SMTP_URL: is needed because BASE_URL leads', () => ({ BASE_URL: 'https://doorstep.example' })],
  ['HOST, PORT: listen EADDRINUSE', () => ({ PORT: taken })],
  ['HOST, PORT: listen EADDRNOTAVAIL', () => ({ HOST: '192.0.2.1', BASE_URL: 'http://localhost' })],
  ['HOST, HEALTH_PORT: listen EADDRINUSE', () => ({ HEALTH_PORT: taken })],
  ['DATA_DIR: EEXIST', () => ({ DATA_DIR: file })],
  ['DATA_DIR: ENOTDIR', () => ({ DATA_DIR: join(file, 'data') })],
])('an unusable setting stops the start with a message: %s', async (words, settings) => {
  const server = launchServer(temporaryFolder(), settings());
  expect(await server.ended).toBe(1);
  // Output of a process may arrive after its exit.
  await eventually('what it wrote', () => server.written().endsWith('\n') || undefined);
  expect(server.written()).toMatch(/^Doorstep cannot start with these settings:\n {2}[^\n]+\n$/);
  expect(server.written()).toContain(`\n  ${words}`);
});

test('the text of the server takes a byte for each character in memory', () => {
  // One character beyond Latin-1 doubles it.
  const folder = fileURLToPath(new URL('../../dist/', import.meta.url));
  const texts = readdirSync(folder).filter((name) => /^(main|projectorThread|part-.*)\.js$/.test(name));
  expect(texts.length).toBeGreaterThan(2);
  for (const name of texts) expect(readFileSync(join(folder, name), 'utf8').match(/.{0,40}[^\0-\xff].{0,40}/gu)).toBeNull();
});
