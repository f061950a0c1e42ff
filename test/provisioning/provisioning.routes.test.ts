import { afterEach, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { stepIds } from '../../src/events/provisioning/provisioning.events.js';
import type { ProvisioningDocument } from '../../src/projections/provisioning/provisioning.projection.js';
import { createProvisioningWorker } from '../../src/workers/provisioning/provisioningWorker.js';
import type { Worker } from '../../src/workers/worker.js';
import { eventually } from '../support/eventually.js';
import { startApi, type ApiAnswer, type RunningApi } from '../support/http.js';
import { createRemote, directLine, permanentFault, providersOn, type Line } from '../workers/remote.js';
import { partsOf } from '../support/process.js';

let api: RunningApi;
let token: string;
beforeAll(async () => {
  api = await startApi();
  token = await api.mintToken();
});

const workers: Worker[] = [];
afterEach(async () => {
  await Promise.all(workers.splice(0).map((worker) => worker.stop()));
});

const startWorker = async (line: Line = directLine, remote = createRemote()): Promise<void> => {
  const worker = createProvisioningWorker({ ...partsOf(api.engine), ...providersOn(remote, line) });
  workers.push(worker);
  await worker.start();
};

let count = 0;
const newWebsite = async (more: object = {}): Promise<{ id: string; slug: string }> => {
  count += 1;
  const slug = `site-${count}`;
  const { status, body } = await api.call('POST', '/websites', { token, body: { name: 'A site', slug, ...more } });
  expect(status).toBe(201);
  return { id: (body as { id: string }).id, slug };
};

const jobOf = ({ status, body, text }: ApiAnswer): ProvisioningDocument => {
  if (status !== 200) throw new Error(`${String(status)}: ${text}`);
  return body as ProvisioningDocument;
};
const read = (id: string) => api.call('GET', `/websites/${id}/provisioning`, { token });
const retry = (id: string, query = '') => api.call('POST', `/websites/${id}/provisioning/retry${query}`, { token });
/** On a busy machine the disk can take its time. */
const timeoutMs = 30_000;
jest.setTimeout(2 * timeoutMs);

const until = (id: string, wanted: ProvisioningDocument['status']) =>
  eventually(
    `a job that is ${wanted}`,
    async () => {
      const job = jobOf(await read(id));
      return job.status === wanted ? job : undefined;
    },
    timeoutMs,
  );

/** A line on which one kind of call fails for good as long as `isBroken` says so. */
const breakable = (call: string, isBroken: () => boolean = () => true): Line => {
  return (name, act) =>
    name === call && isBroken() ? Promise.reject(permanentFault('The account is closed')) : Promise.resolve(act());
};

/** A client that owns a new website, and its token. */
const newOwner = async (): Promise<{ websiteId: string; owner: string }> => {
  const email = `owner-${String(count)}@example.com`;
  const { body: client } = await api.call('POST', '/clients', { token, body: { email } });
  const { id } = await newWebsite();
  const clientId = (client as { id: string }).id;
  expect((await api.call('PATCH', `/websites/${id}`, { token, body: { clientId } })).status).toBe(200);
  return { websiteId: id, owner: await api.mintToken({ role: 'client', subject: email, verifiedEmail: email }) };
};

describe('GET /websites/:id/provisioning', () => {
  test('right after the creation, with no worker: 200, queued, six steps pending', async () => {
    const { id } = await newWebsite();
    const answer = await read(id);
    const job = jobOf(answer);
    expect(job).toStrictEqual({
      id: expect.stringMatching(/^[0-9a-z]{26}$/),
      websiteId: id,
      status: 'queued',
      steps: stepIds.map((step) => ({ id: step, status: 'pending', attempts: 0 })),
      createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    });
    expect(answer.headers.get('etag')).toMatch(/^"/);

    await startWorker();
    const done = await until(id, 'succeeded');
    expect(done).toMatchObject({ id: job.id, createdAt: job.createdAt });
    expect(done.steps.map((step) => step.status)).toStrictEqual(stepIds.map(() => 'succeeded'));
    const { body: website } = await api.call('GET', `/websites/${id}`, { token });
    expect(website).toMatchObject({ status: 'active', url: expect.stringContaining('https://') });
  });

  test('of a website that is not there: 404', async () => {
    expect(await read('nowhere')).toMatchObject({ status: 404, body: { error: 'Website nowhere not found' } });
  });

  test('tells a client how far it is, but not the providers’ words', async () => {
    const { websiteId, owner } = await newOwner();
    await startWorker(breakable('createProject'));
    const failed = await until(websiteId, 'failed');
    expect(failed).toMatchObject({ reason: expect.any(String) });
    expect(failed.steps.some(({ error }) => error !== undefined)).toBe(true);
    const events = await api.call('GET', `/websites/${websiteId}/provisioning/events`, { token: owner });
    const job = await api.call('GET', `/websites/${websiteId}/provisioning`, { token: owner });
    for (const { status, text } of [events, job]) {
      expect(status).toBe(200);
      expect(text).toContain('"status":"failed"');
      expect(text).not.toMatch(/account is closed|"reason"|"error"|"output"|"remains"/);
    }
  });

  test('by its owner: 200; by somebody else: 403', async () => {
    const { websiteId, owner } = await newOwner();
    const path = `/websites/${websiteId}/provisioning`;
    expect(jobOf(await api.call('GET', path, { token: owner })).websiteId).toBe(websiteId);
    const { id } = await newWebsite();
    expect((await api.call('GET', `/websites/${id}/provisioning`, { token: owner })).status).toBe(403);
  });
});

describe('GET /websites?provisioning=', () => {
  test('lists the websites whose latest job has the status', async () => {
    const { body: made } = await api.call('POST', '/clients', { token, body: { email: 'jobs@example.com' } });
    const { id: clientId } = made as { id: string };
    const ofClient = async (): Promise<string> => {
      const { id } = await newWebsite();
      await api.call('PATCH', `/websites/${id}`, { token, body: { clientId } });
      return id;
    };
    const listed = async (provisioning: string, more = ''): Promise<unknown> => {
      const path = `/websites?clientId=${clientId}&provisioning=${provisioning}&count=true${more}`;
      const { headers, body } = await api.call('GET', path, { token });
      const ids = (body as { id: string }[]).map(({ id }) => id);
      expect(headers.get('total-count')).toBe(String(ids.length));
      return ids;
    };

    const broken = breakable('createProject');
    let isFirst = true;
    await startWorker((name, act) => (isFirst ? directLine(name, act) : broken(name, act)));
    const works = await ofClient();
    await until(works, 'succeeded');
    isFirst = false;
    const fails = await ofClient();
    await until(fails, 'failed');
    await Promise.all(workers.splice(0).map((worker) => worker.stop()));
    const waits = await ofClient();

    expect(await listed('succeeded')).toEqual([works]);
    expect(await listed('failed')).toEqual([fails]);
    expect(await listed('queued')).toEqual([waits]);
    expect(await listed('running')).toEqual([]);
    expect(await listed('succeeded', '&status=provisioning')).toEqual([]);
    await retry(fails);
    expect(await listed('queued')).toEqual([waits, fails]);
    expect(await listed('queued', '&sort=createdAt')).toEqual([fails, waits]);
    expect(await listed('failed')).toEqual([]);
  });

  test('refuses a status that no job has', async () => {
    const { status, body } = await api.call('GET', '/websites?provisioning=late', { token });
    expect([status, (body as { error: string }).error]).toEqual([
      400,
      expect.stringContaining('provisioning: must be one of queued, running, succeeded, failed'),
    ]);
  });
});

describe('POST /websites/:id/provisioning/retry', () => {
  test('of a failed job: 200, queued again; it goes on from the step that failed', async () => {
    let isBroken = true;
    await startWorker(breakable('createProject', () => isBroken));
    const { id } = await newWebsite();
    const failed = await until(id, 'failed');
    expect(failed.reason).toBe('vercel_create_project: The account is closed');

    isBroken = false;
    const queued = jobOf(await retry(id));
    expect(queued).not.toHaveProperty('reason');
    expect(['queued', 'running', 'succeeded']).toContain(queued.status);
    const done = await until(id, 'succeeded');
    expect(done.steps.map(({ attempts }) => attempts)).toStrictEqual([1, 1, 2, 1, 1, 1]);
  });

  test('with other collaborators: 200, and those are invited', async () => {
    const remote = createRemote();
    let isBroken = true;
    await startWorker(
      breakable('inviteCollaborator', () => isBroken),
      remote,
    );
    const { id } = await newWebsite({ collaborators: ['anna-mistyped'] });
    expect((await until(id, 'failed')).reason).toContain('github_invite_collaborator');

    isBroken = false;
    expect((await retry(id, '?collaborators=berta,anna-b')).status).toBe(200);
    await until(id, 'succeeded');
    expect(remote.collaborators).toEqual(['berta', 'anna-b']);
  });

  test.each(['anna_b', 'anna,anna', 'a'.repeat(40), Array.from({ length: 51 }, (_, index) => `a${String(index)}`).join()])(
    'with collaborators who cannot be any (%s): 400',
    async (names) => {
      const { id } = await newWebsite();
      const error = 'Invalid query — collaborators: name up to 50 usernames on the source host, each once, separated by commas';
      expect(await retry(id, `?collaborators=${names}`)).toMatchObject({ status: 400, body: { error } });
    },
  );

  test('as a dry run: 200 with the event that it would write, and nothing written', async () => {
    await startWorker(breakable('createProject'));
    const { id } = await newWebsite();
    await until(id, 'failed');
    const answer = await api.call('POST', `/websites/${id}/provisioning/retry?dryRun=1`, { token });
    expect(answer).toMatchObject({ status: 200, body: { events: [{ type: 'ProvisioningRetried' }] } });
    expect(jobOf(await read(id)).status).toBe('failed');
  });

  test('of a job that is queued, or is finished: 400', async () => {
    const { id } = await newWebsite();
    const refused = { status: 400, body: { error: `Provisioning of website ${id} has not failed` } };
    expect(await retry(id)).toMatchObject(refused);
    await startWorker();
    await until(id, 'succeeded');
    expect(await retry(id)).toMatchObject(refused);
  });

  test('by a client: 403', async () => {
    const { websiteId, owner } = await newOwner();
    const answer = await api.call('POST', `/websites/${websiteId}/provisioning/retry`, { token: owner });
    expect(answer).toMatchObject({ status: 403, body: { error: 'Admin role required' } });
  });

  test('of a website that is not there: 404', async () => {
    expect((await retry('nowhere')).status).toBe(404);
  });
});

describe('POST /websites/:id/provisioning/cleanup', () => {
  const cleanUp = (id: string, query = '') => api.call('POST', `/websites/${id}/provisioning/cleanup${query}`, { token });

  test('of a failed job: 202; what it has made is listed before, and gone after', async () => {
    await startWorker(breakable('setVariables'));
    const { id } = await newWebsite();
    const failed = (await until(id, 'failed')) as ProvisioningDocument & { remains?: unknown };
    expect(failed.remains).toEqual([
      { kind: 'project', provider: 'remote', id: expect.any(String), name: expect.any(String), certain: true },
      { kind: 'repository', provider: 'remote', id: expect.any(String), name: expect.any(String), certain: true },
    ]);
    const planned = await cleanUp(id, '?dryRun=1');
    expect(planned).toMatchObject({ status: 200, body: { events: [{ type: 'ProvisioningCompensationRequested' }] } });
    expect(await cleanUp(id)).toMatchObject({ status: 202, body: { status: 'failed', cleanup: {} } });
    const cleaned = await eventually('a compensation', async () => {
      const job = jobOf(await read(id));
      return job.cleanup?.status === 'succeeded' ? job : undefined;
    });
    expect(cleaned).toMatchObject({ status: 'failed', reason: failed.reason, remains: [] });
    expect(cleaned.steps[0]).toEqual({ id: 'github_create_repo', status: 'pending', attempts: 1 });

    await retry(id);
    expect((await until(id, 'failed')).steps.map(({ attempts }) => attempts)).toStrictEqual([2, 2, 2, 2, 0, 0]);
  });

  test('of an archived website: 400, as any write', async () => {
    await startWorker(breakable('setVariables'));
    const { id } = await newWebsite();
    const { remains } = (await until(id, 'failed')) as ProvisioningDocument & { remains?: unknown };
    expect((await api.call('POST', `/websites/${id}/archive`, { token })).status).toBe(200);
    const refused = { status: 400, body: { error: `Website ${id} is archived` } };
    for (const query of ['', '?dryRun=1']) expect(await cleanUp(id, query)).toMatchObject(refused);
    expect(jobOf(await read(id))).toMatchObject({ remains });
    expect((await api.call('POST', `/websites/${id}/restore`, { token })).status).toBe(200);
    expect((await cleanUp(id)).status).toBe(202);
  });

  test('of a job that failed while it made something says that it may be there', async () => {
    await startWorker(breakable('createProject'));
    const { id } = await newWebsite();
    expect(await until(id, 'failed')).toMatchObject({
      remains: [
        { kind: 'project', certain: false },
        { kind: 'repository', certain: true },
      ],
    });
  });

  test('of a job that is queued, or of an active website: 400', async () => {
    const { id } = await newWebsite();
    const refused = { status: 400, body: { error: `Provisioning of website ${id} has not failed` } };
    expect(await cleanUp(id)).toMatchObject(refused);
    await startWorker();
    await until(id, 'succeeded');
    expect(await cleanUp(id)).toMatchObject(refused);
  });
});

describe('GET /websites/:id/provisioning/events', () => {
  /** The jobs that the stream sends, as they come. */
  async function* follow(id: string, as = token): AsyncGenerator<ProvisioningDocument> {
    const response = await fetch(`${api.url}/v1/websites/${id}/provisioning/events`, {
      headers: { authorization: `Bearer ${as}` },
    });
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toMatch(/^text\/event-stream/);
    if (response.body === null) throw new Error('no body');
    let text = '';
    for await (const chunk of response.body.pipeThrough(new TextDecoderStream())) {
      text += chunk;
      const messages = text.split('\n\n');
      text = messages.pop() ?? '';
      for (const message of messages) {
        const data = /^data: (.*)$/m.exec(message)?.[1];
        if (data !== undefined) yield JSON.parse(data) as ProvisioningDocument;
      }
    }
  }

  test('sends the job at once, then at each change, and ends with it', async () => {
    const { id } = await newWebsite();
    const sent: ProvisioningDocument[] = [];
    for await (const job of follow(id)) {
      sent.push(job);
      if (sent.length === 1) await startWorker();
    }
    expect(sent[0]).toMatchObject({ websiteId: id, status: 'queued' });
    expect(sent.at(-1)).toStrictEqual(jobOf(await read(id)));
    expect(sent.at(-1)?.status).toBe('succeeded');
    expect(sent.length).toBeGreaterThan(2);
    const finished = sent.map(({ steps }) => steps.filter(({ status }) => status === 'succeeded').length);
    expect(finished).toStrictEqual([...finished].sort((one, two) => one - two));
  });

  test('of a job that has ended sends it and ends', async () => {
    const { id } = await newWebsite();
    await startWorker();
    await until(id, 'succeeded');
    const sent: ProvisioningDocument[] = [];
    for await (const job of follow(id)) sent.push(job);
    expect(sent.map(({ status }) => status)).toStrictEqual(['succeeded']);
  });

  test('ends for a client whose access ends, before anything more is told', async () => {
    const { websiteId, owner } = await newOwner();
    const sent: ProvisioningDocument[] = [];
    for await (const job of follow(websiteId, owner)) {
      sent.push(job);
      const { body } = await api.call('POST', '/clients', { token, body: { email: `next-${websiteId}@example.com` } });
      const { id: clientId } = body as { id: string };
      expect((await api.call('PATCH', `/websites/${websiteId}`, { token, body: { clientId } })).status).toBe(200);
      await startWorker();
    }
    expect(sent.map(({ status }) => status)).toStrictEqual(['queued']);
    await until(websiteId, 'succeeded');
  });

  describe('as an EventSource reads it', () => {
    const idOf = (text: string): string => /^id: (.*)$/m.exec(text)?.[1] ?? 'none';
    const connect = (id: string, lastEventId: string, signal?: AbortSignal) =>
      fetch(`${api.url}/v1/websites/${id}/provisioning/events`, {
        headers: { authorization: `Bearer ${token}`, 'last-event-id': lastEventId },
        ...(signal !== undefined && { signal }),
      });

    test('events are named and numbered, and it is said when to come back', async () => {
      const { id } = await newWebsite();
      await startWorker();
      await until(id, 'succeeded');
      const { text } = await api.call('GET', `/websites/${id}/provisioning/events`, { token });
      expect(text).toMatch(/^retry: 3000\n\nevent: job\nid: \d+\ndata: \{.*\}\n\n$/);
    });

    test('after the end, who has the last event is told not to come back; others get it', async () => {
      const { id } = await newWebsite();
      const { text: first } = await api.call('GET', `/websites/${id}/provisioning`, { token });
      await startWorker();
      await until(id, 'succeeded');
      expect(first).toContain('queued');
      const late = await (await connect(id, '0')).text();
      expect(late).toContain('"status":"succeeded"');
      const again = await connect(id, idOf(late));
      expect([again.status, await again.text()]).toStrictEqual([204, '']);
      expect((await api.call('GET', `/websites/${id}/provisioning/events`, { token })).status).toBe(200);
    });

    test('who has the present event is sent what comes after it', async () => {
      const { id } = await newWebsite();
      const leaving = new AbortController();
      const before = await connect(id, 'nothing', leaving.signal);
      const reader = before.body?.pipeThrough(new TextDecoderStream()).getReader();
      let text = '';
      while (!text.includes('data: ')) text += (await reader?.read())?.value ?? '';
      expect(text).toContain('"status":"queued"');
      leaving.abort();
      const resumed = connect(id, idOf(text));
      await startWorker();
      const rest = await (await resumed).text();
      expect(rest).not.toContain(`\nid: ${idOf(text)}\n`);
      expect(rest).toContain('"status":"succeeded"');
    });
  });

  test('of somebody else’s website: 403', async () => {
    const { owner } = await newOwner();
    const { id } = await newWebsite();
    expect((await api.call('GET', `/websites/${id}/provisioning/events`, { token: owner })).status).toBe(403);
  });
});
