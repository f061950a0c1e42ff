import { afterAll } from '@jest/globals';
import { createRoutes } from '../../src/http/routes/index.js';
import type { Route } from '../../src/http/route.js';
import { createOidcIssuer } from '../../src/integrations/identity/oidcIssuer.js';
import { systemClock } from '../../src/platform/clock.js';
import { startApi, type ApiOptions, type RunningApi } from './http.js';
import { audience, startTestIssuer, type TestIssuer } from './oidcIssuer.js';
import { createTestOutbox } from './outbox.js';
import { temporaryFolder } from './temporary.js';

/** Everybody that there can be to a website. */
export const people = ['admin', 'owner', 'editor', 'viewer', 'invited', 'stranger', 'namesake'] as const;
export type Person = (typeof people)[number];

export interface Credentials {
  /** For the portal's paths. */
  readonly jwt: string;
  /** For the paths under `/v1`. */
  readonly token: string;
  readonly readToken: string;
}

/** The whole service but its workers, and one website with everybody that there can be to it. */
export interface Everybody {
  readonly api: RunningApi;
  readonly routes: readonly Route[];
  readonly outbox: ReturnType<typeof createTestOutbox>;
  readonly credentials: Readonly<Record<Person, Credentials>>;
  readonly websiteId: string;
  /** Of the owner, and of the linked editor. */
  readonly clientIds: { readonly owner: string; readonly editor: string };
  /** Pending, for `invited`. */
  readonly invitationId: string;
  /** A key of the admin's. */
  readonly apiKeyId: string;
}

const issuers: TestIssuer[] = [];

afterAll(async () => {
  for (const issuer of issuers.splice(0)) await issuer.stop();
});

/**
 * The owner, the editor, the viewer and the stranger are clients, the stranger of another website;
 * the invited is none yet. The namesake has the owner's address, which nobody vouches for.
 */
export const startEverybody = async (options: Pick<ApiOptions, 'timeouts' | 'clock' | 'instrument'> = {}): Promise<Everybody> => {
  const issuer = await startTestIssuer();
  issuers.push(issuer);
  const identity = { url: issuer.url, audience, roleClaim: ['role'], subjectCheck: { kind: 'none' } } as const;
  let routes: readonly Route[] = [];
  const outbox = createTestOutbox({ folder: temporaryFolder() });
  const api = await startApi({
    ...options,
    // Nobody is asked outside this machine.
    environment: { DNS_SERVERS: '127.0.0.1:1' },
    identityProvider: createOidcIssuer(identity, { clock: systemClock }),
    routes: (parts) => {
      routes = createRoutes({ ...parts, outbox });
      return routes;
    },
  });

  const credentialsOf = async (person: Person): Promise<Credentials> => {
    const vouched = person !== 'namesake';
    const email = `${vouched ? person : 'owner'}@example.com`;
    const role = person === 'admin' ? 'admin' : 'client';
    const input = { role, subject: person, ...(vouched && { verifiedEmail: email }) } as const;
    return {
      jwt: await issuer.sign({ sub: person, role, email, email_verified: vouched }),
      token: await api.mintToken(input),
      readToken: await api.mintToken({ ...input, scope: 'read' }),
    };
  };
  const credentials = Object.fromEntries(
    await Promise.all(people.map(async (person) => [person, await credentialsOf(person)] as const)),
  ) as Record<Person, Credentials>;

  const { token } = credentials.admin;
  const make = async (method: string, path: string, body: unknown): Promise<Record<string, unknown>> => {
    const answer = await api.call(method, path, { token, body });
    if (answer.status >= 300) throw new Error(`${method} ${path} answered ${answer.status}: ${answer.text}`);
    return answer.body as Record<string, unknown>;
  };
  const newClient = async (person: Person): Promise<string> =>
    (await make('POST', '/clients', { email: `${person}@example.com` })).id as string;

  const owner = await newClient('owner');
  const editor = await newClient('editor');
  await newClient('viewer');
  await make('POST', '/websites', { name: 'Elsewhere', slug: 'elsewhere', clientId: await newClient('stranger') });
  const bakery = { name: 'Bakery', slug: 'bakery', clientId: owner, tier: 'scale' };
  const websiteId = (await make('POST', '/websites', bakery)).id as string;
  await make('PUT', `/websites/${websiteId}/delivery`, {});
  const give = (person: Person, role: string): Promise<Record<string, unknown>> =>
    make('POST', `/websites/${websiteId}/clients`, { email: `${person}@example.com`, role });
  await give('editor', 'editor');
  await give('viewer', 'viewer');
  const { invitation } = await give('invited', 'viewer');

  return {
    api,
    routes,
    outbox,
    credentials,
    websiteId,
    clientIds: { owner, editor },
    invitationId: (invitation as { id: string }).id,
    apiKeyId: (await make('POST', '/api-keys', { name: 'spare' })).id as string,
  };
};

/** The path of a route with what there is in place of its parameters. */
export const pathTo = (path: string, { websiteId, clientIds, invitationId, apiKeyId }: Everybody): string => {
  const [, area = ''] = path.split('/');
  const ids: Readonly<Record<string, string>> = {
    websites: websiteId,
    clients: clientIds.owner,
    invitations: invitationId,
    'api-keys': apiKeyId,
  };
  const values: Readonly<Record<string, string | undefined>> = {
    id: ids[area],
    clientId: clientIds.editor,
    invitationId,
    transferId: invitationId,
    templateId: 'business',
    invoiceId: 'invoice',
    checkpointId: 'kickoff',
    bookingId: 'none',
    documentId: 'site',
    mediaId: 'none',
    hash: '44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a',
    fileId: 'none',
    serviceId: 'none',
    domain: 'none',
  };
  return path.replaceAll(/:(\w+)/g, (whole, name: string) => {
    const value = values[name];
    if (value === undefined) throw new Error(`nothing is known to put in place of ${whole} in ${path}`);
    return value;
  });
};
