import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from '@jest/globals';
import { loadSettings } from '../../src/platform/settings/settings.js';

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
  const dockerfile = await readFile(`${root}Dockerfile`, 'utf8');
  const imageLine = /^ENV (.*)$/m.exec(dockerfile)?.[1]?.split(' ') ?? [];
  const image = Object.fromEntries(imageLine.map((setting) => setting.split('=')) as [string, string][]);
  // What the operator is asked for, as the file's comment says, and the file's defaults.
  const asked = {
    ENCRYPTION_KEY: key,
    ADMIN_EMAILS: 'you@example.com',
    SMTP_URL: '',
    MAIL_FROM: '',
    SITES_URL: '',
    PREVIOUS_ENCRYPTION_KEYS: '',
  };
  const given = { ...image, ...environment, ...asked, BASE_URL: 'http://localhost:3000', LOG_LEVEL: 'info' };
  for (const role of roles) {
    const { stores, http, auth } = loadSettings({ ...given, PROCESS_ROLES: role });
    expect(stores).toEqual({ eventStoreUrl: environment['EVENT_STORE_URL'], readModelUrl: environment['READ_MODEL_URL'] });
    expect(http).toMatchObject({ host: '0.0.0.0', metrics: 'health', healthPort: 3001 });
    expect(auth.adminEmails).toEqual(['you@example.com']);
  }
  const outside = { ...given, BASE_URL: 'https://doorstep.example.com', PROCESS_ROLES: 'api' };
  expect(() => loadSettings(outside)).toThrow('SMTP_URL: is needed');
  expect(loadSettings({ ...outside, SMTP_URL: 'smtps://mail.example.com' }).mail.smtp).toBeDefined();
});

test('docker-compose.yml asks for the key, the mail server, its sender and the admins', async () => {
  const environment = environmentOf(await readFile(`${root}docker-compose.yml`, 'utf8'));
  // `:?` refuses an empty value, `?` only a missing one.
  const forms = { ENCRYPTION_KEY: ':?', ADMIN_EMAILS: ':?', SMTP_URL: '?', MAIL_FROM: '?' };
  for (const [name, form] of Object.entries(forms)) {
    expect(environment[name]?.startsWith(`\${${name}${form}is missing. `)).toBe(true);
  }
});

test("the service's containers write to their volume alone, and have no privileges", async () => {
  const compose = await readFile(`${root}docker-compose.yml`, 'utf8');
  const service = /^x-service: &service\n((?: .*\n)+)/m.exec(compose)?.[1] ?? '';
  for (const line of [
    'init: true',
    'read_only: true',
    'tmpfs: [/tmp]',
    'cap_drop: [ALL]',
    "security_opt: ['no-new-privileges:true']",
  ]) {
    expect(service.split('\n')).toContain(`  ${line}`);
  }
  const blocks = [...compose.matchAll(/^ {2}([\w-]+):\n((?: {4}.*\n)+)/gm)].map(([, name = '', block = '']) => ({ name, block }));
  const containers = blocks.filter(({ block }) => /^ {4}(?:image: |<<: \*service)/m.test(block));
  expect(containers.map(({ name }) => name)).toEqual(['api', 'projector', 'worker', 'cron', 'event-store', 'read-models']);
  for (const { name, block } of containers) {
    expect([name, block]).toEqual([name, expect.stringMatching(/<<: \*service|no-new-privileges:true/)]);
    expect([name, block]).toEqual([
      name,
      expect.not.stringMatching(/privileged|cap_add|read_only: false|user: root|docker\.sock/),
    ]);
  }
});

test('the image is a supported version of Node, by its exact number, and runs as its user', async () => {
  const dockerfile = await readFile(`${root}Dockerfile`, 'utf8');
  const images = [...dockerfile.matchAll(/^FROM (\S+)/gm)].map(([, image = '']) => image);
  expect(images).toHaveLength(2);
  for (const image of images) expect(image).toMatch(/^node:(?:22|24)\.\d+\.\d+-bookworm-slim$/);
  expect(new Set(images).size).toBe(1);
  const [, last = ''] = dockerfile.split(/^(?=FROM .*)/m).filter((stage) => stage.startsWith('FROM'));
  expect(last).toMatch(/^USER node$[\s\S]*^CMD /m);
});

const composes = await run('docker', ['compose', 'version']).then(
  () => true,
  () => false,
);
const whereItCan = composes ? test : test.skip;

whereItCan('docker compose understands docker-compose.yml, and asks for what is missing', async () => {
  const config = (environment: NodeJS.ProcessEnv) =>
    run('docker', ['compose', 'config', '--quiet'], { cwd: root, env: { ...process.env, ...environment } });
  const asked = { ENCRYPTION_KEY: key, ADMIN_EMAILS: 'you@example.com', SMTP_URL: '', MAIL_FROM: '' };
  await config(asked);
  for (const name of ['ENCRYPTION_KEY', 'ADMIN_EMAILS']) {
    await expect(config({ ...asked, [name]: '' })).rejects.toMatchObject({ stderr: expect.stringContaining(name) });
  }
  for (const name of ['SMTP_URL', 'MAIL_FROM']) {
    await expect(config({ ...asked, [name]: undefined })).rejects.toMatchObject({ stderr: expect.stringContaining(name) });
  }
});
