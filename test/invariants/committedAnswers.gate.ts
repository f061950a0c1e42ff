import { createHmac } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import type { CommandContext } from '../../src/commands/handleCommand.js';
import { websiteDecider } from '../../src/commands/website/website.decider.js';
import { websiteFold } from '../../src/events/website/website.state.js';
import { dryRunType } from '../../src/http/reply.js';
import { EventStoreUnavailable } from '../../src/events/store/eventStore.js';
import type { Route } from '../../src/http/route.js';
import { createRoutes } from '../../src/http/routes/index.js';
import { createEmbeddedLedger } from '../../src/integrations/payments/embedded.js';
import { systemClock } from '../../src/platform/clock.js';
import { hashOfJson } from '../../src/platform/canonicalJson.js';
import { websiteProjection } from '../../src/projections/website/website.projection.js';
import { provisioningCompensation } from '../../src/workers/provisioning/provisioning.compensation.js';
import { provisioningProcess } from '../../src/workers/provisioning/provisioning.process.js';
import { seoScanProcess } from '../../src/workers/seo/seo.process.js';
import { createTransferWorker } from '../../src/workers/transfer/transferWorker.js';
import type { Worker } from '../../src/workers/worker.js';
import { eventually } from '../support/eventually.js';
import { startDnsServer } from '../support/dnsServer.js';
import { startApi, type ApiAnswer, type RunningApi } from '../support/http.js';
import { partsOf } from '../support/process.js';
import { formOf, png } from '../support/upload.js';
import { expireInvitation } from '../support/expiredInvitation.js';

/**
 * A write that was committed is answered as committed, whatever another process does between the
 * write and its answer.
 */
jest.setTimeout(60_000);

let api: RunningApi;
let other: RunningApi;
let admin: string;
let transfers: Worker;
let ledger: ReturnType<typeof createEmbeddedLedger>;
/** What the other process does before the next answer is made, with what the write came to. */
let meanwhile: ((result: unknown) => Promise<unknown>) | undefined;
const writes: string[] = [];
let routes: readonly Route[] = [];
let count = 0;

/** The route, with a gate between the write and its answer. */
const gated = (route: Route): Route => ({
  ...route,
  answer: async (request, result) => {
    const act = meanwhile;
    meanwhile = undefined;
    await act?.(result);
    return route.answer(request, result);
  },
});

beforeAll(async () => {
  const dns = await startDnsServer();
  api = await startApi({
    environment: { DNS_SERVERS: dns.address },
    routes: (parts) => {
      routes = createRoutes(parts);
      writes.push(
        ...routes.filter(({ method }) => method !== 'get').map(({ method, path }) => `${method.toUpperCase()} ${path}`),
      );
      return routes.map(gated);
    },
  });
  other = await startApi({ folder: api.folder });
  admin = await api.mintToken();
  const { personal } = api.engine;
  ledger = createEmbeddedLedger({ file: `${api.folder}/ledger.db`, clock: systemClock, baseUrl: () => api.url, personal });
  transfers = createTransferWorker({ ...partsOf(other.engine), payments: ledger });
  await transfers.start();
});

afterAll(async () => {
  await transfers.stop();
  ledger.close();
});

type Call = readonly [method: string, path: string, body?: unknown, token?: string];

const call = (by: RunningApi, [method, path, body, token = admin]: Call, headers = {}): Promise<ApiAnswer> =>
  by.call(
    method,
    path,
    isForm(body)
      ? { token, ...body, headers: { ...headers, ...body.headers } }
      : { token, headers, ...(body !== undefined && { body }) },
  );

const isForm = (body: unknown): body is ReturnType<typeof formOf> => typeof body === 'object' && body !== null && 'raw' in body;

/** By the other process; what it is refused would show nothing. */
const elsewhere = async (...what: Call): Promise<Record<string, unknown>> => {
  const { status, body, text } = await call(other, what);
  if (status >= 300) throw new Error(`${what[0]} ${what[1]}: ${String(status)} ${text}`);
  return (body ?? {}) as Record<string, unknown>;
};

const idOf = ({ id }: Record<string, unknown>): string => String(id);
const context = (): CommandContext => ({
  commandId: other.engine.ids.commandId(),
  actor: { subject: 'x', role: 'system', via: 'worker' },
  requestId: 'r',
});

const newWebsite = async (): Promise<string> => {
  count += 1;
  return idOf(await elsewhere('POST', '/websites', { name: 'A site', slug: `site-${String(count)}`, tier: 'scale' }));
};
const newDocument = async (): Promise<string> => {
  const path = `/websites/${await newWebsite()}/documents`;
  return `${path}/${idOf(await elsewhere('POST', path, formOf({ content: 'Notes', name: 'notes.txt' })))}`;
};
const newPicture = async (): Promise<string> => {
  const path = `/websites/${await newWebsite()}/media`;
  return `${path}/${idOf(await elsewhere('POST', path, formOf({ content: png, name: 'dot.png' }, { alt: 'A dot' })))}`;
};
const newAddress = (): string => {
  count += 1;
  return `person-${String(count)}@example.com`;
};
const newClient = async (email = newAddress()): Promise<string> =>
  idOf(await elsewhere('POST', '/clients', { email, name: 'A' }));
const tokenOf = (email: string): Promise<string> =>
  api.mintToken({ role: 'client', subject: `subject of ${email}`, verifiedEmail: email });

/** A website with a client linked to it, or invited to it. */
const withAccess = async (isKnown = true) => {
  const websiteId = await newWebsite();
  const email = newAddress();
  if (isKnown) await newClient(email);
  const added = await elsewhere('POST', `/websites/${websiteId}/clients`, { email, role: 'viewer' });
  const { clientId = '', id = '' } = (added.link ?? added.invitation) as { clientId?: string; id?: string };
  const [clients, invitation] = [`/websites/${websiteId}/clients`, `/websites/${websiteId}/client-invitations/${id}`];
  return { websiteId, email, clients, link: `${clients}/${clientId}`, invitationId: id, invitation };
};

const withDelivery = async (): Promise<string> => {
  const path = `/websites/${await newWebsite()}/delivery`;
  await elsewhere('PUT', path, {});
  return path;
};
const block = { estimatedCompletionAt: '2030-01-01T00:00:00.000Z', showPreviewUrl: true };
const setStatus = (path: string, status: string) => elsewhere('PUT', `${path}/checkpoints/qa`, { status });

const withOffer = async () => {
  const websiteId = await newWebsite();
  const email = newAddress();
  const path = `/websites/${websiteId}/transfers`;
  return { websiteId, email, path, offerId: idOf(await elsewhere('POST', path, { email })) };
};

/** A website whose provisioning has failed for good. */
const withFailedJob = async () => {
  const websiteId = await newWebsite();
  const { document } = await other.engine.read(websiteProjection, websiteId);
  if (document === null) throw new Error('there is no website');
  const { provisioningJobId: jobId, name, slug, templateId, createdAt } = document;
  const request = { jobId, websiteId, name, slug, templateId, collaborators: [], createdAt };
  const { handle } = other.engine;
  const ofStep = { jobId, step: 'github_create_repo' } as const;
  const start = (run: number, attempt: number) =>
    handle(provisioningProcess, { type: 'StartAttempt', ...ofStep, run, attempt, worker: 'w' }, context());
  const fault = { error: 'No', transient: false, retryAfterMs: 0 };
  const failed = { type: 'RecordFailure', ...ofStep, run: 1, attempt: 1, fault, jitter: 0 } as const;
  await handle(provisioningProcess, { type: 'QueueProvisioning', jobId, request }, context());
  await start(1, 1);
  await handle(provisioningProcess, failed, context());
  const compensate = async (): Promise<void> => {
    const attempt = { jobId, attempt: 2 };
    await handle(provisioningCompensation, { type: 'StartAttempt', ...attempt, worker: 'w' }, context());
    for (const what of ['project', 'repository'] as const) {
      await handle(provisioningCompensation, { type: 'RecordRemoval', ...attempt, what, name: 'a', found: true }, context());
    }
    const { cleanup } = (await call(other, ['GET', `/websites/${websiteId}/provisioning`])).body as { cleanup: object };
    expect(cleanup).toMatchObject({ status: 'succeeded' });
  };
  return { start, compensate, path: `/websites/${websiteId}/provisioning` };
};

const activate = async (websiteId: string): Promise<void> => {
  const repository = { provider: 'embedded', id: 'r', name: 'r', cloneUrl: 'file:///x' };
  const hosting = { provider: 'embedded', projectId: 'p', name: 'p' };
  const activation = { type: 'ActivateWebsite', websiteId, repository, hosting, url: 'https://a.example/' } as const;
  await other.engine.handle(websiteDecider, activation, context());
};

const booking = { title: 'A cut', start: '2030-01-01T10:00:00.000Z', end: '2030-01-01T11:00:00.000Z' };
const shop = { kind: 'commerce', shopDomain: 'bakery.myshopify.com' };

/** These fields, at any depth, among others. */
const having = (fields: object): unknown =>
  expect.objectContaining(
    Object.fromEntries(
      Object.entries(fields).map(([name, value]: [string, unknown]) => [
        name,
        typeof value === 'object' && value !== null && !('asymmetricMatch' in value) ? having(value) : value,
      ]),
    ),
  );

/** A write, what the other process does meanwhile, and the answer. */
interface Case {
  readonly write: Call;
  readonly meanwhile: (result: unknown) => Promise<unknown>;
  readonly status: number;
  readonly body?: unknown;
}

/** Of each write of the service, at least one. */
const cases: Readonly<Record<string, Readonly<Record<string, () => Promise<Case>>>>> = {
  'POST /websites': {
    'and it is archived': () =>
      Promise.resolve({
        write: ['POST', '/websites', { name: 'A', slug: `new-${String((count += 1))}` }],
        meanwhile: (result) => elsewhere('POST', `/websites/${(result as { websiteId: string }).websiteId}/archive`),
        status: 201,
        body: expect.not.objectContaining({ archivedAt: expect.anything() }),
      }),
  },
  'PATCH /websites/:id': {
    'and it is renamed again': async () => {
      const path = `/websites/${await newWebsite()}`;
      return {
        write: ['PATCH', path, { name: 'Mine' }],
        meanwhile: () => elsewhere('PATCH', path, { name: 'Theirs' }),
        status: 200,
        body: having({ name: 'Mine' }),
      };
    },
    'and the owner is exchanged': async () => {
      const path = `/websites/${await newWebsite()}`;
      const [mine, theirs] = [await newClient(), await newClient()];
      return {
        write: ['PATCH', path, { clientId: mine }],
        meanwhile: () => elsewhere('PATCH', path, { clientId: theirs }),
        status: 200,
        body: having({ clientId: mine }),
      };
    },
  },
  'DELETE /websites/:id': {
    'and it is restored': async () => {
      const slug = `gone-${String((count += 1))}`;
      const { id } = await elsewhere('POST', '/websites', { name: 'A', slug });
      const path = `/websites/${String(id)}`;
      await elsewhere('POST', `${path}/archive`);
      return {
        write: ['DELETE', `${path}?confirm=${slug}`],
        meanwhile: () => elsewhere('POST', `${path}/restore`),
        status: 202,
        body: having({ purgeAt: expect.any(String) }),
      };
    },
  },
  'DELETE /websites/:id/owner': {
    'and another one is set': async () => {
      const path = `/websites/${await newWebsite()}`;
      const [mine, theirs] = [await newClient(), await newClient()];
      await elsewhere('PATCH', path, { clientId: mine });
      return {
        write: ['DELETE', `${path}/owner`],
        meanwhile: () => elsewhere('PATCH', path, { clientId: theirs }),
        status: 204,
      };
    },
  },
  'POST /websites/:id/archive': {
    'and it is restored': async () => {
      const path = `/websites/${await newWebsite()}`;
      return {
        write: ['POST', `${path}/archive`],
        meanwhile: () => elsewhere('POST', `${path}/restore`),
        status: 200,
        body: having({ archivedAt: expect.any(String) }),
      };
    },
  },
  'POST /websites/:id/restore': {
    'and it is archived': async () => {
      const path = `/websites/${await newWebsite()}`;
      await elsewhere('POST', `${path}/archive`);
      return {
        write: ['POST', `${path}/restore`],
        meanwhile: () => elsewhere('POST', `${path}/archive`),
        status: 200,
        body: expect.not.objectContaining({ archivedAt: expect.anything() }),
      };
    },
  },
  'POST /websites/:id/clients': {
    'and the link is removed': async () => {
      const email = newAddress();
      const clientId = await newClient(email);
      const path = `/websites/${await newWebsite()}/clients`;
      return {
        write: ['POST', path, { email, role: 'editor' }],
        meanwhile: () => elsewhere('DELETE', `${path}/${clientId}`),
        status: 201,
        body: having({ kind: 'linked', link: { clientId, role: 'editor', email } }),
      };
    },
    'and the invitation is revoked': async () => {
      const path = `/websites/${await newWebsite()}`;
      return {
        write: ['POST', `${path}/clients`, { email: newAddress(), role: 'editor' }],
        meanwhile: (result) => {
          const { state } = (result as { handled: { state: { invitations: ReadonlyMap<string, unknown> } } }).handled;
          return elsewhere('DELETE', `${path}/client-invitations/${String([...state.invitations.keys()][0])}`);
        },
        status: 201,
        body: having({ kind: 'invited', invitation: { status: 'pending', role: 'editor' } }),
      };
    },
  },
  'PATCH /websites/:id/clients/:clientId': {
    'and the link is removed': async () => {
      const { link } = await withAccess();
      return {
        write: ['PATCH', link, { role: 'editor' }],
        meanwhile: () => elsewhere('DELETE', link),
        status: 200,
        body: having({ role: 'editor' }),
      };
    },
  },
  'DELETE /websites/:id/clients/:clientId': {
    'and it is given again': async () => {
      const { link, clients, email } = await withAccess();
      return { write: ['DELETE', link], meanwhile: () => elsewhere('POST', clients, { email, role: 'viewer' }), status: 204 };
    },
  },
  'POST /websites/:id/clients/:clientId/undo': {
    'and it is removed again': async () => {
      const { link } = await withAccess();
      await elsewhere('DELETE', link);
      return {
        write: ['POST', `${link}/undo`],
        meanwhile: () => elsewhere('DELETE', link),
        status: 200,
        body: having({ role: 'viewer' }),
      };
    },
  },
  'POST /websites/:id/client-invitations/:invitationId/resend': {
    'and it is revoked': async () => {
      const { invitation } = await withAccess(false);
      return {
        write: ['POST', `${invitation}/resend`],
        meanwhile: () => elsewhere('DELETE', invitation),
        status: 200,
        body: having({ status: 'pending' }),
      };
    },
  },
  'DELETE /websites/:id/client-invitations/:invitationId': {
    'and another one is issued': async () => {
      const { invitation, clients, email } = await withAccess(false);
      return {
        write: ['DELETE', invitation],
        meanwhile: () => elsewhere('POST', clients, { email, role: 'viewer' }),
        status: 204,
      };
    },
  },
  'POST /invitations/:id/renewal-request': {
    'and it is renewed': async () => {
      const { invitation, invitationId, email } = await withAccess(false);
      await expireInvitation(api.engine, invitationId);
      return {
        write: ['POST', `/invitations/${invitationId}/renewal-request`, undefined, await tokenOf(email)],
        meanwhile: () => elsewhere('POST', `${invitation}/resend`),
        status: 202,
        body: having({ status: 'expired' }),
      };
    },
  },
  'POST /invitations/:id/claim': {
    'and the access is taken away': async () => {
      const { invitationId, clients, email } = await withAccess(false);
      return {
        write: ['POST', `/invitations/${invitationId}/claim`, undefined, await tokenOf(email)],
        meanwhile: (result) => elsewhere('DELETE', `${clients}/${(result as { clientId: string }).clientId}`),
        status: 200,
        body: having({ invitation: { id: invitationId, status: 'accepted' }, link: { role: 'viewer', email } }),
      };
    },
    'by somebody who is known by another address, and the access is taken away': async () => {
      const { invitationId, clients, email } = await withAccess(false);
      const known = await withAccess(false);
      await elsewhere('POST', `/invitations/${known.invitationId}/claim`, undefined, await tokenOf(known.email));
      const subject = `subject of ${known.email}`;
      return {
        write: [
          'POST',
          `/invitations/${invitationId}/claim`,
          undefined,
          await api.mintToken({ role: 'client', subject, verifiedEmail: email }),
        ],
        meanwhile: (result) => elsewhere('DELETE', `${clients}/${(result as { clientId: string }).clientId}`),
        status: 200,
        body: having({ invitation: { id: invitationId, status: 'accepted' }, link: { role: 'viewer', email: known.email } }),
      };
    },
    'of a transfer, and the website goes on to somebody else': async () => {
      const { websiteId, email, offerId } = await withOffer();
      const clientId = await newClient(email);
      const theirs = await newClient();
      const isDone = async () => {
        const { state } = await other.engine.state(websiteFold, { websiteId });
        return state.stage !== 'none' && state.clientId === clientId ? true : undefined;
      };
      return {
        write: ['POST', `/invitations/${offerId}/claim`, undefined, await tokenOf(email)],
        meanwhile: async () => {
          await eventually('the transfer', isDone);
          await elsewhere('PATCH', `/websites/${websiteId}`, { clientId: theirs });
        },
        status: 200,
        body: having({ invitation: { id: offerId, status: 'accepted' }, website: { clientId, via: 'owner' } }),
      };
    },
  },
  'POST /websites/:id/transfers': {
    'and it is cancelled': async () => {
      const path = `/websites/${await newWebsite()}/transfers`;
      const email = newAddress();
      return {
        write: ['POST', path, { email }],
        meanwhile: (result) => {
          const { state } = (result as { handled: { state: { invitations: ReadonlyMap<string, unknown> } } }).handled;
          return elsewhere('DELETE', `${path}/${String([...state.invitations.keys()][0])}`);
        },
        status: 201,
        body: having({ status: 'pending', email }),
      };
    },
  },
  'DELETE /websites/:id/transfers/:transferId': {
    'and it is offered again': async () => {
      const { path, offerId, email } = await withOffer();
      return { write: ['DELETE', `${path}/${offerId}`], meanwhile: () => elsewhere('POST', path, { email }), status: 204 };
    },
  },
  'PUT /websites/:id/delivery': {
    'and it is changed again': async () => {
      const path = await withDelivery();
      return {
        write: ['PUT', path, block],
        meanwhile: () => setStatus(path, 'done'),
        status: 200,
        body: having({ ...block, revision: 1 }),
      };
    },
  },
  'PUT /websites/:id/delivery/checkpoints/:checkpointId': {
    'and the checkpoint is removed': async () => {
      const path = await withDelivery();
      const { checkpoints } = (await call(other, ['GET', path])).body as { checkpoints: readonly { id: string }[] };
      return {
        write: ['PUT', `${path}/checkpoints/kickoff`, { status: 'done' }],
        meanwhile: () => elsewhere('PUT', path, { ...block, checkpoints: checkpoints.slice(1) }),
        status: 200,
        body: having({ revision: 1 }),
      };
    },
  },
  'POST /websites/:id/delivery/undo': {
    'and it is changed again': async () => {
      const path = await withDelivery();
      await setStatus(path, 'done');
      return {
        write: ['POST', `${path}/undo`, { revision: 1 }],
        meanwhile: () => setStatus(path, 'in_progress'),
        status: 200,
        body: having({ revision: 2 }),
      };
    },
  },
  'POST /websites/:id/delivery/seen': {
    'and the block is changed': async () => {
      const path = await withDelivery();
      return { write: ['POST', `${path}/seen`, { revision: 0 }], meanwhile: () => setStatus(path, 'done'), status: 204 };
    },
  },
  'POST /websites/:id/provisioning/retry': {
    'and a worker begins': async () => {
      const { path, start } = await withFailedJob();
      return {
        write: ['POST', `${path}/retry`],
        meanwhile: () => start(2, 2),
        status: 200,
        body: having({ status: 'queued' }),
      };
    },
  },
  'POST /websites/:id/provisioning/cleanup': {
    'and a worker has done it': async () => {
      const { path, compensate } = await withFailedJob();
      return {
        write: ['POST', `${path}/cleanup`],
        meanwhile: compensate,
        status: 202,
        body: having({ cleanup: { status: 'running' } }),
      };
    },
  },
  'POST /websites/:id/seo/scans': {
    'and a worker begins': async () => {
      const websiteId = await newWebsite();
      await activate(websiteId);
      return {
        write: ['POST', `/websites/${websiteId}/seo/scans`],
        meanwhile: (result) => {
          const { scanId = '' } = (result as { state: { scanId?: string } }).state;
          const start = { type: 'StartAttempt', websiteId, scanId, attempt: 1, worker: 'w' } as const;
          return other.engine.handle(seoScanProcess, start, context());
        },
        status: 202,
        body: having({ status: 'queued' }),
      };
    },
  },
  ...Object.fromEntries(
    ['content', 'marketing'].flatMap((collection) => [
      [
        `PUT /websites/:id/${collection}/:documentId`,
        {
          'and somebody saves over it': async () => {
            const path = `/websites/${await newWebsite()}/${collection}/site`;
            const body = { headline: 'Mine' };
            return {
              write: ['PUT', path, { baseHash: null, body }] as const,
              meanwhile: () => elsewhere('PUT', path, { baseHash: hashOfJson(body), body: { headline: 'Theirs' } }),
              status: 200,
              body: having({ body, hash: hashOfJson(body) }),
            };
          },
        },
      ],
      [
        `POST /websites/:id/${collection}/:documentId/restore`,
        {
          'and somebody saves over it': async () => {
            const path = `/websites/${await newWebsite()}/${collection}/site`;
            const [first, second] = [{ headline: 'First' }, { headline: 'Second' }];
            await elsewhere('PUT', path, { baseHash: null, body: first });
            await elsewhere('PUT', path, { baseHash: hashOfJson(first), body: second });
            return {
              write: ['POST', `${path}/restore`, { hash: hashOfJson(first), baseHash: hashOfJson(second) }] as const,
              meanwhile: () => elsewhere('PUT', path, { baseHash: hashOfJson(first), body: {} }),
              status: 200,
              body: having({ body: first, hash: hashOfJson(first) }),
            };
          },
        },
      ],
    ]),
  ),
  'POST /websites/:id/documents': {
    'and it is deleted': async () => {
      const path = `/websites/${await newWebsite()}/documents`;
      return {
        write: ['POST', path, formOf({ content: 'Notes', name: 'notes.txt' })],
        meanwhile: (result) => elsewhere('DELETE', `${path}/${(result as { documentId: string }).documentId}`),
        status: 201,
        body: having({ name: 'notes.txt', size: 5 }),
      };
    },
  },
  'PATCH /websites/:id/documents/:documentId': {
    'and it is deleted': async () => {
      const one = await newDocument();
      return {
        write: ['PATCH', one, { name: 'renamed.txt' }],
        meanwhile: () => elsewhere('DELETE', one),
        status: 200,
        body: having({ name: 'renamed.txt' }),
      };
    },
  },
  'DELETE /websites/:id/documents/:documentId': {
    'and it is restored': async () => {
      const one = await newDocument();
      return { write: ['DELETE', one], meanwhile: () => elsewhere('POST', `${one}/undo`), status: 204 };
    },
  },
  'POST /websites/:id/documents/:documentId/undo': {
    'and it is deleted again': async () => {
      const one = await newDocument();
      await elsewhere('DELETE', one);
      return {
        write: ['POST', `${one}/undo`],
        meanwhile: () => elsewhere('DELETE', one),
        status: 200,
        body: having({ name: 'notes.txt' }),
      };
    },
  },
  'POST /websites/:id/media': {
    'and it is deleted': async () => {
      const path = `/websites/${await newWebsite()}/media`;
      return {
        write: ['POST', path, formOf({ content: png, name: 'dot.png' }, { alt: 'A dot' })],
        meanwhile: (result) => elsewhere('DELETE', `${path}/${(result as { mediaId: string }).mediaId}`),
        status: 201,
        body: having({ name: 'dot.png', alt: 'A dot', width: 1, height: 1 }),
      };
    },
  },
  'PATCH /websites/:id/media/:mediaId': {
    'and it is deleted': async () => {
      const one = await newPicture();
      return {
        write: ['PATCH', one, { alt: 'A small dot' }],
        meanwhile: () => elsewhere('DELETE', one),
        status: 200,
        body: having({ alt: 'A small dot' }),
      };
    },
  },
  'DELETE /websites/:id/media/:mediaId': {
    'and it is restored': async () => {
      const one = await newPicture();
      return { write: ['DELETE', one], meanwhile: () => elsewhere('POST', `${one}/undo`), status: 204 };
    },
  },
  'POST /websites/:id/media/:mediaId/undo': {
    'and it is deleted again': async () => {
      const one = await newPicture();
      await elsewhere('DELETE', one);
      return {
        write: ['POST', `${one}/undo`],
        meanwhile: () => elsewhere('DELETE', one),
        status: 200,
        body: having({ name: 'dot.png' }),
      };
    },
  },
  'POST /websites/:id/bookings': {
    'and it is cancelled': async () => {
      const path = `/websites/${await newWebsite()}/bookings`;
      return {
        write: ['POST', path, booking],
        meanwhile: (result) => elsewhere('DELETE', `${path}/${String(result)}`),
        status: 201,
        body: having({ ...booking, status: 'accepted' }),
      };
    },
  },
  'DELETE /websites/:id/bookings/:bookingId': {
    'and it is cancelled again': async () => {
      const path = `/websites/${await newWebsite()}/bookings`;
      const one = `${path}/${idOf(await elsewhere('POST', path, booking))}`;
      return { write: ['DELETE', one], meanwhile: () => call(other, ['DELETE', one]), status: 204 };
    },
  },
  'POST /websites/:id/services': {
    'and it is detached': async () => {
      const path = `/websites/${await newWebsite()}/services`;
      return {
        write: ['POST', path, shop],
        meanwhile: (result) => elsewhere('DELETE', `${path}/${(result as { serviceId: string }).serviceId}`),
        status: 201,
        body: having(shop),
      };
    },
    'and it is replaced': async () => {
      const path = `/websites/${await newWebsite()}/services`;
      return {
        write: ['POST', path, shop],
        meanwhile: () => elsewhere('POST', path, { ...shop, shopDomain: 'studio.myshopify.com' }),
        status: 201,
        body: having(shop),
      };
    },
  },
  'DELETE /websites/:id/services/:serviceId': {
    'and it is detached again': async () => {
      const path = `/websites/${await newWebsite()}/services`;
      const one = `${path}/${idOf(await elsewhere('POST', path, shop))}`;
      return { write: ['DELETE', one], meanwhile: () => call(other, ['DELETE', one]), status: 204 };
    },
  },
  'POST /websites/:id/domains': {
    'and it is removed': async () => {
      const path = `/websites/${await newWebsite()}/domains`;
      const domain = `n${String((count += 1))}.example`;
      return {
        write: ['POST', path, { domain }],
        meanwhile: () => elsewhere('DELETE', `${path}/${domain}`),
        status: 201,
        body: having({ domain, status: 'pending' }),
      };
    },
  },
  'POST /websites/:id/domains/:domain/verify': {
    'and it is removed': async () => {
      const path = `/websites/${await newWebsite()}/domains`;
      const domain = `n${String((count += 1))}.example`;
      await elsewhere('POST', path, { domain });
      return {
        write: ['POST', `${path}/${domain}/verify`],
        meanwhile: () => elsewhere('DELETE', `${path}/${domain}`),
        status: 200,
        body: having({ domain, status: 'pending' }),
      };
    },
  },
  'DELETE /websites/:id/domains/:domain': {
    'and it is removed again': async () => {
      const path = `/websites/${await newWebsite()}/domains`;
      const one = `${path}/n${String((count += 1))}.example`;
      await elsewhere('POST', path, { domain: one.slice(path.length + 1) });
      return { write: ['DELETE', one], meanwhile: () => call(other, ['DELETE', one]), status: 204 };
    },
  },
  'PUT /websites/:id/blueprint': {
    'and it is arranged otherwise': async () => {
      const path = `/websites/${await newWebsite()}/blueprint`;
      return {
        write: ['PUT', path, { nodes: [{ id: 'hosting', x: 1, y: 2 }] }],
        meanwhile: () => elsewhere('PUT', path, { nodes: [{ id: 'hosting', x: 3, y: 4 }] }),
        status: 200,
        body: having({ nodes: expect.arrayContaining([expect.objectContaining({ id: 'hosting', x: 1, y: 2 })]) }),
      };
    },
  },
  'POST /webhooks/commerce': {
    'and the shop is detached': async () => {
      const websiteId = await newWebsite();
      const services = `/websites/${websiteId}/services`;
      const serviceId = idOf(await elsewhere('POST', services, shop));
      return {
        write: ['POST', `/webhooks/commerce?websiteId=${websiteId}`, { myshopify_domain: shop.shopDomain }],
        meanwhile: () => elsewhere('DELETE', `${services}/${serviceId}`),
        status: 200,
        body: {},
      };
    },
  },
  'POST /clients': {
    'and they are erased': () => {
      const email = newAddress();
      return Promise.resolve({
        write: ['POST', '/clients', { email, name: 'A' }],
        meanwhile: (result) => elsewhere('DELETE', `/clients/${String(result)}`),
        status: 201,
        body: having({ email: expect.any(String), name: expect.any(String) }),
      });
    },
  },
  'PATCH /clients/:id': {
    'and they are renamed again': async () => {
      const path = `/clients/${await newClient()}`;
      return {
        write: ['PATCH', path, { name: 'Mine' }],
        meanwhile: () => elsewhere('PATCH', path, { name: 'Theirs' }),
        status: 200,
        body: having({ name: 'Mine' }),
      };
    },
    'and another address is asked for': async () => {
      const path = `/clients/${await newClient()}`;
      const email = newAddress();
      return {
        write: ['PATCH', path, { email }],
        meanwhile: () => elsewhere('PATCH', path, { email: newAddress() }),
        status: 200,
        body: having({ pendingEmail: email }),
      };
    },
    'and they are erased': async () => {
      const path = `/clients/${await newClient()}`;
      return {
        write: ['PATCH', path, { name: 'Mine' }],
        meanwhile: () => elsewhere('DELETE', path),
        status: 200,
        body: having({ name: expect.any(String) }),
      };
    },
  },
  'DELETE /clients/:id': {
    'and the address comes back': async () => {
      const email = newAddress();
      const path = `/clients/${await newClient(email)}`;
      return { write: ['DELETE', path], meanwhile: () => newClient(email), status: 204 };
    },
  },
  'POST /api-keys': {
    'and it is revoked': () =>
      Promise.resolve({
        write: ['POST', '/api-keys', { name: 'ci' }],
        meanwhile: (result) => elsewhere('DELETE', `/api-keys/${idOf(result as Record<string, unknown>)}`),
        status: 201,
        body: having({ name: 'ci', token: expect.stringMatching(/^svc_pat_/) }),
      }),
  },
  'DELETE /api-keys/:id': {
    'and it is revoked again': async () => {
      const path = `/api-keys/${idOf(await elsewhere('POST', '/api-keys', { name: 'ci' }))}`;
      return { write: ['DELETE', path], meanwhile: () => call(other, ['DELETE', path]), status: 204 };
    },
  },
};

/** What these answer with comes from the provider, or the ledger, that did the write itself. */
const answeredByProvider = [
  'POST /websites/:id/billing/portal',
  'POST /websites/:id/billing/invoices',
  'POST /websites/:id/billing/invoices/:invoiceId/pay',
  'POST /websites/:id/billing/invoices/:invoiceId/void',
  'POST /websites/:id/redeploy',
  'POST /websites/:id/content/preview',
  'POST /websites/:id/content/publish',
];

test('every write has a case here', () => {
  expect([...Object.keys(cases), ...answeredByProvider].sort()).toEqual([...writes].sort());
});

type Headers = Readonly<Record<string, string>>;

const send = (route: string, [method, path, body, token = admin]: Call, more: Headers = {}): Promise<ApiAnswer> => {
  if (route !== 'POST /webhooks/commerce') return call(api, [method, path, body, token], more);
  const headers = {
    ...more,
    'content-type': 'application/json',
    'x-shopify-hmac-sha256': createHmac('sha256', 'secret').update(JSON.stringify(body)).digest('base64'),
    'x-shopify-shop-domain': shop.shopDomain,
    'x-shopify-topic': 'app/uninstalled',
    'x-shopify-webhook-id': 'h1',
  };
  return api.call(method, path, { raw: JSON.stringify(body), headers });
};

const routeNamed = (name: string): Route => {
  const found = routes.find(({ method, path }) => `${method.toUpperCase()} ${path}` === name);
  if (found === undefined) throw new Error(`there is no ${name}`);
  return found;
};

const position = (): Promise<bigint> => api.engine.eventStore.lastPosition();

/** What every write keeps to, whatever it does (api.md, section 3). */
describe.each(Object.entries(cases).map(([name, variants]) => [name, Object.values(variants)[0]] as const))(
  '%s',
  (name, prepare) => {
    test('honours dryRun, If-Match and Idempotency-Key, or refuses them', async () => {
      if (prepare === undefined) throw new Error('there is no case');
      const { write, status } = await prepare();
      const [method, path, ...rest] = write;
      const route = routeNamed(name);

      const before = await position();
      const conditional = await send(name, write, { 'if-match': '"99999999-x"' });
      const code = route.ifMatch === 'honoured' ? 'stale' : 'if_match_not_supported';
      expect([conditional.status, conditional.body]).toMatchObject([400, { code }]);
      const planned = await send(name, [method, `${path}${path.includes('?') ? '&' : '?'}dryRun=1`, ...rest]);
      expect([planned.status, planned.headers.get('content-type')]).toEqual([200, dryRunType]);
      expect(await position()).toBe(before);

      if (route.access === 'public') return;
      // Of what the write makes there is no state yet.
      const isMade = method === 'PUT' && (await call(api, ['GET', path])).status === 404;
      const headers = { 'idempotency-key': 'k', ...(route.ifMatch === 'honoured' && !isMade && { 'if-match': '*' }) };
      meanwhile = () => Promise.reject(new EventStoreUnavailable('the process dies after the write'));
      expect((await send(name, write, headers)).status).toBe(503);
      const after = await position();
      const first = await send(name, write, headers);
      expect(first.status).toBe(status);
      if (status === 201) {
        const location = first.headers.get('location') ?? 'none';
        expect(first.text).toContain(location.split('/').at(-1));
        // It is a path that there is, though not each of them is read by itself.
        expect([200, 405]).toContain((await api.call('GET', location.replace(/^\/v1/, ''), { token: admin })).status);
        expect(location).toMatch(/^\/v1\//);
      }
      const again = await send(name, write, headers);
      expect([again.status, again.text]).toEqual([first.status, first.text]);
      expect(again.headers.get('idempotent-replayed')).toBe('true');
      expect(await position()).toBe(after);

      // What is deleted later is there until then.
      if (method === 'DELETE' && status === 204) expect((await send(name, write)).status).toBe(404);
    });
  },
);

describe.each(Object.entries(cases))('%s', (route, variants) => {
  test.each(Object.entries(variants))('%s', async (_, prepare) => {
    const { write, meanwhile: act, status, body } = await prepare();
    let others: Promise<unknown> | undefined;
    meanwhile = (result) => (others = act(result));
    const answer = await send(route, write);
    // Whether the other process did its part is no question of timing.
    expect(others).toBeDefined();
    await others;
    expect([answer.status, answer.body]).toEqual([status, body ?? null]);
  });
});
