import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from '@jest/globals';
import { loadSettings } from '../../src/platform/settings.js';

const root = fileURLToPath(new URL('../..', import.meta.url));
const run = promisify(execFile);
const key = Buffer.alloc(32, 1).toString('base64');

/** `NAME: value` of the lines below `x-environment:`. */
const environmentOf = (compose: string): Record<string, string> => {
  const block = /^x-environment:.*\n((?: .*\n)+)/m.exec(compose)?.[1] ?? '';
  return Object.fromEntries([...block.matchAll(/^ {2}([A-Z_]+): (.*)$/gm)].map(([, name = '', value = '']) => [name, value]));
};

test("docker-compose.yml gives the service's processes valid settings, with each role once", async () => {
  const compose = await readFile(`${root}docker-compose.yml`, 'utf8');
  const environment = environmentOf(compose);
  expect(Object.keys(environment)).toContain('EVENT_STORE_URL');
  const example = await readFile(`${root}.env.example`, 'utf8');
  for (const name of Object.keys(environment)) expect(example).toMatch(new RegExp(`^#${name}=`, 'm'));

  const roles = [...compose.matchAll(/PROCESS_ROLES: (\S+)/g)].map((found) => found[1] ?? '');
  expect(roles).toEqual(['api', 'projector', 'worker', 'cron']);
  // The operator's required value, and the file's defaults.
  const given = { ...environment, ENCRYPTION_KEY: key, BASE_URL: 'http://localhost:3000', LOG_LEVEL: 'info' };
  for (const role of roles) {
    const { stores } = loadSettings({ ...given, PROCESS_ROLES: role });
    expect(stores).toEqual({ eventStoreUrl: environment['EVENT_STORE_URL'], readModelUrl: environment['READ_MODEL_URL'] });
  }
});

const composes = await run('docker', ['compose', 'version']).then(
  () => true,
  () => false,
);
const whereItCan = composes ? test : test.skip;

whereItCan('docker compose understands docker-compose.yml, and asks for the key', async () => {
  const config = (environment: NodeJS.ProcessEnv) =>
    run('docker', ['compose', 'config', '--quiet'], { cwd: root, env: { ...process.env, ...environment } });
  await config({ ENCRYPTION_KEY: key });
  await expect(config({ ENCRYPTION_KEY: '' })).rejects.toMatchObject({ stderr: expect.stringContaining('ENCRYPTION_KEY') });
});
