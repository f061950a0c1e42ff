import { afterAll, expect, test } from '@jest/globals';
import { startDoorstep, type Doorstep } from '../../src/compose.js';
import { createLogger } from '../../src/platform/logger.js';
import { loadSettings } from '../../src/platform/settings/settings.js';
import { temporaryFolder } from '../support/temporary.js';

const running: Doorstep[] = [];

afterAll(async () => {
  for (const doorstep of running) await doorstep.stop();
});

test.each(['projector', 'worker', 'cron'])('a %s serves its health endpoints and nothing else', async (role) => {
  const settings = loadSettings({
    DATA_DIR: temporaryFolder(),
    PROCESS_ROLES: role,
    HEALTH_PORT: '0',
    BASE_URL: 'http://127.0.0.1:1',
  });
  const doorstep = await startDoorstep(settings, createLogger({ level: 'silent' }));
  running.push(doorstep);
  const statusOf = async (path: string): Promise<number> => (await fetch(`${doorstep.healthUrl ?? ''}${path}`)).status;
  expect(await statusOf('/healthz')).toBe(200);
  // Read models exist only after a projector has run.
  expect(await statusOf('/readyz')).toBe(role === 'projector' ? 200 : 503);
  expect(await statusOf('/metrics')).toBe(200);
  for (const path of ['/docs', '/openapi.json', '/me', '/sites/some/', '/v1/websites']) {
    expect([path, await statusOf(path)]).toEqual([path, 404]);
  }
});

test('METRICS=health serves the metrics on the health port alone', async () => {
  const settings = loadSettings({ DATA_DIR: temporaryFolder(), PORT: '0', HEALTH_PORT: '0', METRICS: 'health' });
  const doorstep = await startDoorstep(settings, createLogger({ level: 'silent' }));
  running.push(doorstep);
  const { baseUrl, healthUrl = '' } = doorstep;
  expect((await fetch(`${healthUrl}/metrics`)).status).toBe(200);
  for (const path of ['/metrics', '/v1/metrics']) expect((await fetch(`${baseUrl}${path}`)).status).toBe(404);
  expect((await fetch(`${baseUrl}/healthz`)).status).toBe(200);
  const { paths } = (await (await fetch(`${baseUrl}/openapi.json`)).json()) as { paths: object };
  expect(Object.keys(paths)).toContain('/healthz');
  expect(Object.keys(paths)).not.toContain('/metrics');
});
