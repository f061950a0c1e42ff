import { expect, test } from '@jest/globals';
import { eventually } from '../support/eventually.js';
import { createPatientApi } from '../support/fleet.js';
import { mongoDatabase } from '../support/mongoDatabase.js';
import { forEachReadModelServer } from '../support/realServers.js';
import { operate, startServer } from '../support/server.js';
import { temporaryFolder } from '../support/temporary.js';

forEachReadModelServer((server) => {
  test(`two processes and an operator keep their read models on ${server.name}`, async () => {
    const dataDir = temporaryFolder();
    const outside = { READ_MODEL_URL: mongoDatabase(server) };
    const token = await operate(dataDir, 'mintToken', ['--role', 'admin', '--subject', 'ops@example.com'], outside);
    const asking = await startServer(dataDir, { ...outside, PROCESS_ROLES: 'api' });
    const working = await startServer(dataDir, { ...outside, PROCESS_ROLES: 'projector,worker', BASE_URL: asking.address });
    const api = createPatientApi(token, () => asking.address);
    const listed = async (query: string): Promise<readonly string[]> =>
      ((await api.get(`/websites?${query}`)).body as readonly { slug: string }[]).map(({ slug }) => slug);

    for (const slug of ['one', 'two', 'three']) {
      expect((await api.post('/websites', { name: `Site ${slug}`, slug })).status).toBe(201);
      expect((await listed('q=SITE')).at(0)).toBe(slug);
    }
    await eventually('all websites to be active', async () => ((await listed('status=active')).length === 3 ? true : undefined));

    expect(await operate(dataDir, 'rebuildProjection', ['website'], outside)).toMatch(/is live/);
    expect(await listed('status=active')).toEqual(['three', 'two', 'one']);
    expect(await working.kill('SIGTERM')).toBe(0);
    expect(await asking.kill('SIGTERM')).toBe(0);
  }, 120_000);
});
