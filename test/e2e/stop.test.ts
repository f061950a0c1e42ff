import { expect, test } from '@jest/globals';
import { eventually } from '../support/eventually.js';
import { createApi, mintToken, startServer } from '../support/server.js';
import { temporaryFolder } from '../support/temporary.js';

test.each(['SIGTERM', 'SIGINT'] as const)(
  '%s under load: what is under way is answered, nothing acknowledged is lost, exit 0 within 10 s',
  async (signal) => {
    const dataDir = temporaryFolder();
    const token = await mintToken(dataDir);
    const server = await startServer(dataDir);
    const api = createApi(server.address, token);
    const { body } = await api.post('/websites', { name: 'Stop', slug: 'stop' });
    const { id } = body as { id: string };
    const acknowledged: string[] = [];
    const statuses = new Set<number>();

    const live = await fetch(`${server.address}/v1/websites/${id}/provisioning/events`, {
      headers: { authorization: `Bearer ${token}` },
    });
    expect(live.headers.get('content-type')).toContain('text/event-stream');

    const load = async (lane: number): Promise<void> => {
      for (let step = 0; ; step += 1) {
        const email = `person-${String(lane)}-${String(step)}@example.com`;
        const { status } = await api.post(`/websites/${id}/clients`, { email, role: 'viewer' });
        statuses.add(status);
        if (status === 201) acknowledged.push(email);
      }
    };
    const lanes = Array.from({ length: 10 }, (_, lane) => load(lane).catch(() => 'the connection was closed'));
    await eventually('a load', () => (acknowledged.length >= 50 ? true : undefined), 60_000);

    const startedAt = Date.now();
    expect(await server.kill(signal)).toBe(0);
    expect(Date.now() - startedAt).toBeLessThan(10_000);
    await Promise.all(lanes);
    await live.text();
    // Until the sockets closed, requests were answered or refused with 503; none failed.
    expect([...statuses].filter((status) => status !== 201 && status !== 503)).toEqual([]);

    const next = await startServer(dataDir);
    const { body: access } = await createApi(next.address, token).get(`/websites/${id}/clients`);
    const invited = new Set((access as { invitations: { email: string }[] }).invitations.map(({ email }) => email));
    expect(acknowledged.filter((email) => !invited.has(email))).toEqual([]);
    expect(await next.kill('SIGTERM')).toBe(0);
  },
  120_000,
);
