import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Type } from 'typebox';
import { EventStoreUnavailable } from '../../src/events/store/eventStore.js';
import type { Route } from '../../src/http/route.js';
import { createRoutes } from '../../src/http/routes/index.js';
import { createOidcIssuer } from '../../src/integrations/identity/oidcIssuer.js';
import { systemClock } from '../../src/platform/clock.js';
import { eventually } from '../support/eventually.js';
import { createFaultyEventStore, type FaultyEventStore } from '../support/faultyEventStore.js';
import { startApi, type ApiAnswer, type RunningApi } from '../support/http.js';
import { audience, startTestIssuer, type TestIssuer } from '../support/oidcIssuer.js';
import { probe, ruled } from '../support/probeRoutes.js';
import { createTestClock } from '../support/testClock.js';

/**
 * What somebody began before a revocation: requests whose head came before it and whose body comes
 * after it, and event streams that were open.
 */

/** Moves the heartbeat of event streams; everything else takes the time that it takes. */
const heart = createTestClock();
/** By how much the wall clock is ahead. */
let ahead = 0;
let issuer: TestIssuer;
let api: RunningApi;
let store: FaultyEventStore;
let admin: string;

/** What the probe of event streams sends next. */
let emit: (data: string) => void = () => undefined;
let isListening = false;

async function* emitted(signal: AbortSignal): AsyncGenerator<readonly { data: unknown }[]> {
  yield [{ data: 'opened' }];
  isListening = true;
  while (!signal.aborted) {
    const next = new Promise<string>((resolve) => (emit = resolve));
    const data = await Promise.race([next, once(signal, 'abort').then(() => undefined)]);
    if (data !== undefined) yield [{ data }];
  }
  isListening = false;
}

/** What the probes at the gate wait for. */
let gate = (): Promise<void> => Promise.resolve();
const waitAtGate = async (): Promise<{ body: string }> => {
  await gate();
  return { body: 'done' };
};

const probes: readonly Route[] = [
  probe({ path: '/gated', answer: waitAtGate }),
  probe({ method: 'post', path: '/gated', answer: waitAtGate }),
  ...ruled(['editors'], { method: 'post', body: Type.Object({ text: Type.String() }) }),
  probe({
    path: '/websites/:id/stream',
    scope: 'website',
    access: 'members',
    answers: { 200: { description: 'Events.', contentType: 'text/event-stream' } },
    answer: ({ signal }) => Promise.resolve({ events: emitted(signal) }),
  }),
];

beforeAll(async () => {
  issuer = await startTestIssuer();
  const clock = {
    now: () => systemClock.now() + ahead,
    schedule: (ms: number, task: () => void) => (ms === 15_000 ? heart.schedule(ms, task) : systemClock.schedule(ms, task)),
  };
  api = await startApi({
    clock,
    identityProvider: createOidcIssuer(
      { url: issuer.url, audience, roleClaim: ['role'], subjectCheck: { kind: 'userinfo' } },
      { clock },
    ),
    instrument: (inner) => {
      store = createFaultyEventStore(inner);
      return store;
    },
    routes: (parts) => [...createRoutes(parts), ...probes],
  });
  admin = await api.mintToken();
});

afterAll(async () => {
  await issuer.stop();
});

interface Created {
  readonly id: string;
}

let count = 0;
const post = async (path: string, body: unknown): Promise<Created> => {
  const answer = await api.call('POST', path, { token: admin, body });
  expect([200, 201]).toContain(answer.status);
  return answer.body as Created;
};

interface Editor {
  readonly websiteId: string;
  readonly clientId: string;
  readonly email: string;
  readonly token: string;
}

/** An editor of a new website. */
const newEditor = async (): Promise<Editor> => {
  count += 1;
  const email = `editor-${count}@example.com`;
  const clientId = (await post('/clients', { email })).id;
  const websiteId = (await post('/websites', { name: 'Bakery', slug: `bakery-${count}` })).id;
  await post(`/websites/${websiteId}/clients`, { email, role: 'editor' });
  return { websiteId, clientId, email, token: await api.mintToken({ role: 'client', subject: email, verifiedEmail: email }) };
};

/** A key that was minted over HTTP, so that its id is known. */
const newKey = async (): Promise<{ id: string; token: string }> => {
  const { body } = await api.call('POST', '/api-keys', { token: admin, body: { name: 'soon gone' } });
  return body as { id: string; token: string };
};

const remove = async (path: string): Promise<void> => {
  expect((await api.call('DELETE', path, { token: admin })).status).toBe(204);
};

interface Begun {
  /** Sends the rest; resolves with the answer. */
  finish(): Promise<{ status: number; text: string }>;
}

/** Sends the head of a POST and the first byte of its body. */
const begin = async (path: string, authorization: string, body: unknown, headers = ''): Promise<Begun> => {
  const text = JSON.stringify(body);
  const socket: Socket = connect(Number(new URL(api.url).port), '127.0.0.1');
  let received = '';
  socket.on('data', (chunk) => (received += String(chunk)));
  await once(socket, 'connect');
  const length = Buffer.byteLength(text);
  socket.write(
    `POST ${path} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${authorization}\r\n${headers}content-length: ${length}\r\n\r\n`,
  );
  socket.write(text.slice(0, 1));
  return {
    finish: async () => {
      socket.write(text.slice(1));
      const answer = await eventually('an answer', () => (/\r\n\r\n[^]*\}/.test(received) ? received : undefined));
      socket.destroy();
      return { status: Number(/^HTTP\/1\.1 (\d{3})/.exec(answer)?.[1]), text: answer };
    },
  };
};

const keysOf = async (): Promise<number> => ((await api.call('GET', '/api-keys', { token: admin })).body as unknown[]).length;

describe('a request whose body comes after the revocation', () => {
  test.each([
    ['', '', ''],
    ['with an Idempotency-Key', '', 'idempotency-key: late\r\n'],
    ['as a dry run', '?dryRun=1', ''],
  ])('of its key %s is refused, and nothing is written', async (_, query, header) => {
    const { id, token } = await newKey();
    const begun = await begin(`/v1/api-keys${query}`, token, { name: 'minted by a dead key' }, header);
    await remove(`/api-keys/${id}`);
    const before = await keysOf();
    expect(await begun.finish()).toMatchObject({ status: 401, text: expect.stringContaining('Invalid token') });
    expect(await keysOf()).toBe(before);
  });

  test('of its link is refused', async () => {
    const { websiteId, clientId, token } = await newEditor();
    const begun = await begin(`/v1/websites/${websiteId}/editors`, token, { text: 'mine' });
    await remove(`/websites/${websiteId}/clients/${clientId}`);
    expect((await begun.finish()).status).toBe(403);
  });

  test('of the role that it needs is refused', async () => {
    const { websiteId, clientId, token } = await newEditor();
    const begun = await begin(`/v1/websites/${websiteId}/editors`, token, { text: 'mine' });
    await api.call('PATCH', `/websites/${websiteId}/clients/${clientId}`, { token: admin, body: { role: 'viewer' } });
    expect(await begun.finish()).toMatchObject({ status: 401, text: expect.stringContaining('Editor role required') });
  });

  test('of its client, who was erased, is refused', async () => {
    const { clientId, token } = await newEditor();
    const begun = await begin('/v1/api-keys', token, { name: 'mine' });
    await remove(`/clients/${clientId}`);
    expect((await begun.finish()).status).toBe(401);
  });

  test('of its JWT, which has expired, is refused', async () => {
    const jwt = await issuer.sign({ sub: 'a', role: 'admin' });
    const begun = await begin('/api-keys', jwt, { name: 'mine' });
    // Its head has been dealt with when a later one is answered.
    await api.call('GET', '/api-keys', { headers: { authorization: `Bearer ${jwt}` } });
    ahead += 3_600_000;
    expect((await begun.finish()).status).toBe(401);
    ahead = 0;
  });

  test('and after the website was archived is refused', async () => {
    const { websiteId, token } = await newEditor();
    const begun = await begin(`/v1/websites/${websiteId}/editors`, token, { text: 'mine' });
    await api.call('POST', `/websites/${websiteId}/archive`, { token: admin });
    expect(await begun.finish()).toMatchObject({ status: 400, text: expect.stringContaining('is archived') });
  });

  test('is refused when the caller cannot be checked again', async () => {
    const { websiteId, token } = await newEditor();
    const begun = await begin(`/v1/websites/${websiteId}/editors`, token, { text: 'mine' });
    await api.call('GET', '/websites', { token: admin });
    store.readFault = () => Promise.reject(new EventStoreUnavailable('the store is down'));
    const { status } = await begun.finish();
    store.readFault = null;
    expect(status).toBe(503);
  });

  test('is done while nothing was revoked', async () => {
    const { token } = await newKey();
    const begun = await begin('/v1/api-keys', token, { name: 'slow, and allowed' });
    await api.call('GET', '/websites', { token: admin });
    expect((await begun.finish()).status).toBe(201);
  });
});

describe('what takes long after its beginning', () => {
  const gated = (method: string, token: string, headers = {}): Promise<ApiAnswer> =>
    api.call(method, '/gated', { token, headers });

  /** Holds whatever comes to the gate; resolves when something is there. */
  const holdGate = (): { arrived: Promise<void>; release: () => void } => {
    let release = (): void => undefined;
    const opened = new Promise<void>((resolve) => (release = resolve));
    const arrived = new Promise<void>((resolve) => {
      gate = () => {
        resolve();
        return opened;
      };
    });
    return { arrived, release };
  };

  test('a repetition that waits for the first request gets nothing once its key is revoked', async () => {
    const { id, token } = await newKey();
    const { arrived, release } = holdGate();
    const first = gated('POST', token, { 'idempotency-key': 'twice' });
    await arrived;
    const second = gated('POST', token, { 'idempotency-key': 'twice' });
    // Its head has been dealt with when a later request is answered.
    await api.call('GET', '/websites', { token: admin });
    await remove(`/api-keys/${id}`);
    release();
    expect([(await first).status, (await second).status]).toStrictEqual([200, 401]);
  });

  test('a read that waits for a second gets nothing once its key is revoked', async () => {
    const { id, token } = await newKey();
    const { arrived, release } = holdGate();
    const read = gated('GET', token);
    await arrived;
    await remove(`/api-keys/${id}`);
    ahead += 1_001;
    release();
    expect((await read).status).toBe(401);
    ahead = 0;
  });
});

interface Listening {
  readonly text: () => string;
  readonly hasEnded: () => boolean;
}

const listen = async (path: string, authorization: string): Promise<Listening> => {
  const socket = connect(Number(new URL(api.url).port), '127.0.0.1');
  let text = '';
  let ended = false;
  socket.on('data', (chunk) => (text += String(chunk)));
  socket.on('error', () => undefined);
  socket.once('close', () => (ended = true));
  socket.write(`GET ${path} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${authorization}\r\nconnection: close\r\n\r\n`);
  await eventually('an event', () => (text.includes('data: ') ? true : undefined));
  return { text: () => text, hasEnded: () => ended };
};
const listenTo = async (websiteId: string, authorization: string, prefix = '/v1'): Promise<Listening> => {
  isListening = false;
  const listening = await listen(`${prefix}/websites/${websiteId}/stream`, authorization);
  await eventually('a listener', () => (isListening ? true : undefined));
  return listening;
};
const endOf = ({ hasEnded }: Listening): Promise<boolean> => eventually('the end', () => (hasEnded() ? true : undefined));

describe('an open event stream', () => {
  test('goes on while nothing was revoked, whatever else changes', async () => {
    const { websiteId, token } = await newEditor();
    const stream = await listenTo(websiteId, token);
    await api.call('PATCH', `/websites/${websiteId}`, { token: admin, body: { name: 'Other' } });
    await heart.advance(15_000);
    await eventually('a heartbeat', () => (stream.text().includes(': still here') ? true : undefined));
    emit('news');
    await eventually('news', () => (stream.text().includes('news') ? true : undefined));
    expect(stream.hasEnded()).toBe(false);
  });

  test.each<[string, (editor: Editor) => Promise<unknown>]>([
    ['its link is removed', ({ websiteId, clientId }) => remove(`/websites/${websiteId}/clients/${clientId}`)],
    ['its client is erased', ({ clientId }) => remove(`/clients/${clientId}`)],
    [
      'its role is another',
      ({ websiteId, clientId }) =>
        api.call('PATCH', `/websites/${websiteId}/clients/${clientId}`, { token: admin, body: { role: 'viewer' } }),
    ],
  ])('ends at once when %s', async (_, change) => {
    const editor = await newEditor();
    const stream = await listenTo(editor.websiteId, editor.token);
    await change(editor);
    emit('secret');
    await endOf(stream);
    expect(stream.text()).not.toContain('secret');
  });

  test('of provisioning, by a key, ends at once when the key is revoked', async () => {
    const { websiteId } = await newEditor();
    const { id, token } = await newKey();
    const stream = await listen(`/v1/websites/${websiteId}/provisioning/events`, token);
    await remove(`/api-keys/${id}`);
    await endOf(stream);
    // The last piece of an answer that came to its end.
    expect(stream.text()).toMatch(/\r\n0\r\n\r\n$/);
  });

  test('ends at once when the key is revoked that minted its key', async () => {
    const { websiteId } = await newEditor();
    const parent = await newKey();
    const { body } = await api.call('POST', '/api-keys', { token: parent.token, body: { name: 'child' } });
    const stream = await listenTo(websiteId, (body as { token: string }).token);
    await remove(`/api-keys/${parent.id}`);
    await endOf(stream);
    // The last piece of an answer that came to its end.
    expect(stream.text()).toMatch(/\r\n0\r\n\r\n$/);
  });

  test('carries nothing once its JWT has expired, and ends with that', async () => {
    const { websiteId } = await newEditor();
    const stream = await listenTo(websiteId, await issuer.sign({ sub: 'a', role: 'admin' }), '');
    ahead += 3_600_000;
    emit('secret');
    await endOf(stream);
    expect(stream.text()).not.toContain('secret');
    ahead = 0;
  });

  test.each<[string, (subject: string) => void]>([
    ['its JWT has expired', () => (ahead += 3_600_000)],
    [
      'its subject is gone',
      (subject) => {
        issuer.deletedSubjects.add(subject);
        // An answer about a subject may be kept for 60 s.
        ahead += 61_000;
      },
    ],
  ])('ends with the next heartbeat when %s', async (_, change) => {
    const { websiteId, email } = await newEditor();
    const stream = await listenTo(websiteId, await issuer.sign({ sub: email, email, email_verified: true, role: 'client' }), '');
    change(email);
    expect(stream.hasEnded()).toBe(false);
    await heart.advance(15_000);
    await endOf(stream);
    expect(stream.text()).not.toContain(': still here');
    ahead = 0;
  });

  test('carries nothing while it cannot be asked who may read it, and is cut off', async () => {
    const { websiteId, token } = await newEditor();
    const stream = await listenTo(websiteId, token);
    store.readFault = () => Promise.reject(new EventStoreUnavailable('the store is down'));
    emit('secret');
    await endOf(stream);
    store.readFault = null;
    expect(stream.text()).not.toContain('secret');
    expect(stream.text()).not.toMatch(/\r\n0\r\n\r\n$/);
  });
});
