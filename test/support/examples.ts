import { exampleIds } from '../../src/http/openapi/vocabulary.js';
import type { Everybody, Person } from './everybody.js';
import type { ApiAnswer } from './http.js';
import { formOf, png, upload } from './upload.js';

interface Operation {
  readonly operationId: string;
  readonly parameters: readonly { readonly name?: string; readonly in?: string; readonly example?: unknown }[];
  readonly requestBody?: {
    readonly content: {
      readonly 'application/json'?: { readonly example: unknown };
      readonly 'multipart/form-data'?: { readonly example: { readonly file: string } & Readonly<Record<string, string>> };
    };
  };
  readonly responses: Readonly<
    Record<string, { readonly content?: Readonly<Record<string, { readonly schema: object; readonly example?: unknown }>> }>
  >;
}

/** An OpenAPI document, as far as examples need it. */
export interface ApiDocument {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: object;
}

type Ids = Partial<Readonly<Record<keyof typeof exampleIds, string>>>;

interface Arranged {
  /** What stands in place of the ids of examples. */
  readonly ids?: Ids;
  /** Default: the admin. */
  readonly as?: Person;
}

/** What has to be there before an example works, beside a website with everybody that there can be to it. */
const arrangementsOf = (everybody: Everybody): Readonly<Record<string, () => Promise<Arranged>>> => {
  const call = async (method: string, path: string, body?: unknown, as: Person = 'admin'): Promise<ApiAnswer> =>
    everybody.api.call(method, path, { token: everybody.credentials[as].token, ...(body !== undefined && { body }) });

  const made = async (path: string, body: unknown): Promise<Readonly<Record<string, unknown>>> => {
    const answer = await call('POST', path, body);
    if (answer.status >= 300) throw new Error(`POST ${path} answered ${answer.status}: ${answer.text}`);
    return answer.body as Record<string, unknown>;
  };
  const madeId = async (path: string, body: unknown): Promise<string> => (await made(path, body)).id as string;
  const ofSite = (path: string): string => `/websites/${everybody.websiteId}${path}`;

  const invite = async (): Promise<Ids> => {
    const { invitation } = await made(ofSite('/clients'), { email: 'newcomer@example.com', role: 'viewer' });
    return { invitation: (invitation as { id: string }).id };
  };
  const invoice = async (): Promise<Arranged> => {
    const body = { total: 1_000, currency: 'eur', description: 'Website' };
    return { ids: { invoice: await madeId(ofSite('/billing/invoices'), body) } };
  };

  const ownDomain = async (): Promise<Arranged> => {
    await made(ofSite('/domains'), { domain: 'www.corner-bakery.example' });
    return {};
  };

  /** One document after the other, each over what is there. */
  const savedAs = async (path: string, bodies: readonly object[]): Promise<Arranged> => {
    for (const body of bodies) {
      const { hash } = (await call('GET', ofSite(`/${path}`))).body as { readonly hash?: string };
      const answer = await call('PUT', ofSite(`/${path}`), { baseHash: hash ?? null, body });
      if (answer.status !== 200) throw new Error(`PUT ${path} answered ${answer.status}: ${answer.text}`);
    }
    return {};
  };

  const uploaded = async (): Promise<Arranged> => {
    const answer = await upload(everybody.api, ofSite('/documents'), {
      token: everybody.credentials.admin.token,
      content: 'Notes',
      name: 'notes.txt',
    });
    return { ids: { document: (answer.body as { id: string }).id } };
  };

  const pictured = async (): Promise<Arranged> => {
    const answer = await upload(everybody.api, ofSite('/media'), {
      token: everybody.credentials.admin.token,
      content: png,
      name: 'dot.png',
      fields: { alt: 'A dot' },
    });
    return { ids: { media: (answer.body as { id: string }).id } };
  };

  const booked = async (): Promise<Arranged> => {
    const body = { title: 'Call', start: '2030-01-31T12:00:00Z', end: '2030-01-31T13:00:00Z' };
    return { ids: { booking: await madeId(ofSite('/bookings'), body) } };
  };

  const attached = async (): Promise<Arranged> => {
    const body = { kind: 'analytics', siteId: 'bakery.example.com' };
    return { ids: { service: await madeId(ofSite('/services'), body) } };
  };

  const spareKey = async (): Promise<Arranged> => ({ ids: { apiKey: await madeId('/api-keys', { name: 'spare' }) } });

  const offered = async (): Promise<Arranged> => ({
    ids: { transfer: await madeId(ofSite('/transfers'), { email: 'reader@example.com' }) },
  });

  return {
    getClientInvitation: async () => ({ ids: await invite() }),
    resendInvitation: async () => ({ ids: await invite() }),
    revokeInvitation: async () => ({ ids: await invite() }),
    getInvitation: () => Promise.resolve({ as: 'invited' }),
    claimInvitation: () => Promise.resolve({ as: 'invited' }),
    getTransfer: offered,
    getTransferLedger: offered,
    cancelTransfer: async () => ({ ids: { transfer: await madeId(ofSite('/transfers'), { email: 'buyer@example.com' }) } }),
    getDocument: uploaded,
    getDocumentAddress: uploaded,
    renameDocument: uploaded,
    deleteDocument: uploaded,
    restoreDocument: uploaded,
    getMedia: pictured,
    getMediaAddress: pictured,
    describeMedia: pictured,
    deleteMedia: pictured,
    restoreMedia: pictured,
    getInvoice: invoice,
    payInvoice: invoice,
    voidInvoice: invoice,
    getClientLink: () => Promise.resolve({ ids: { client: everybody.clientIds.editor } }),
    removeClient: () => Promise.resolve({ ids: { client: everybody.clientIds.editor } }),
    restoreClient: async () => {
      const body = { email: 'linked@example.com', role: 'viewer' };
      const client = await madeId('/clients', { email: body.email });
      await made(ofSite('/clients'), body);
      await call('DELETE', ofSite(`/clients/${client}`));
      return { ids: { client } };
    },
    changeClientRole: () => Promise.resolve({ ids: { client: everybody.clientIds.editor } }),
    undoDeliveryChange: async () => {
      await call('PUT', ofSite('/delivery/checkpoints/kickoff'), { status: 'done' });
      return {};
    },
    saveContent: () => savedAs('content/site', [{}]),
    saveMarketing: () => savedAs('marketing/newsletter', [{}]),
    getContent: () => savedAs('content/site', [{}]),
    listContentVersions: () => savedAs('content/site', [{}]),
    getContentVersion: () => savedAs('content/site', [{}]),
    restoreContent: () => savedAs('content/site', [{}, { headline: 'Bread from four in the morning' }]),
    getMarketing: () => savedAs('marketing/newsletter', [{}]),
    listMarketingVersions: () => savedAs('marketing/newsletter', [{}]),
    getMarketingVersion: () => savedAs('marketing/newsletter', [{}]),
    restoreMarketing: () => savedAs('marketing/newsletter', [{}, { subject: 'Easter bread' }]),
    getBooking: booked,
    cancelBooking: booked,
    getService: attached,
    detachService: attached,
    listProducts: async () => {
      const body = { kind: 'commerce', shopDomain: 'bakery.myshopify.com', secrets: { adminToken: 'x' } };
      await made(ofSite('/services'), body);
      return {};
    },
    getDomain: ownDomain,
    verifyDomain: ownDomain,
    removeDomain: ownDomain,
    getAPIKey: spareKey,
    revokeAPIKey: spareKey,
    getClient: () => Promise.resolve({ ids: { client: everybody.clientIds.owner } }),
    exportClient: () => Promise.resolve({ ids: { client: everybody.clientIds.owner } }),
    // The example of a creation has made it.
    deleteWebsite: async () => {
      const [website] = (await call('GET', '/websites?q=corner-bakery')).body as readonly { readonly id: string }[];
      await made(`/websites/${website?.id ?? ''}/archive`, undefined);
      return { ids: { website: website?.id ?? '' } };
    },
    changeClient: () => Promise.resolve({ ids: { client: everybody.clientIds.owner } }),
    eraseClient: async () => ({ ids: { client: await madeId('/clients', { email: 'gone@example.com' }) } }),
  };
};

/** Their examples need what only workers, DNS or time make, a picture, or a signature over the body; their own tests send them. */
const elsewhere = new Set([
  'uploadMedia',
  'retryProvisioning',
  'cleanUpProvisioning',
  'redeployWebsite',
  'publishContent',
  'previewContent',
  'requestSeoScan',
  'askForCertificate',
  'openBillingPortal',
  'receiveCommerceWebhook',
  'followProvisioningJob',
  'followChanges',
  'followWebsiteChanges',
  'requestInvitationRenewal',
]);

/** What ends something comes last. */
const last = ['deleteWebsite', 'removeClient', 'removeOwner', 'archiveWebsite', 'restoreWebsite'];

const withIds = (text: string, ids: Ids, everybody: Everybody): string => {
  const real: Readonly<Record<string, string>> = {
    website: everybody.websiteId,
    client: everybody.clientIds.editor,
    invitation: everybody.invitationId,
    apiKey: everybody.apiKeyId,
    ...ids,
  };
  // Some ids hold others.
  const longestFirst = Object.entries(exampleIds).sort(([, one], [, other]) => other.length - one.length);
  return longestFirst.reduce((all, [kind, example]) => all.replaceAll(example, real[kind] ?? example), text);
};

/** An example that was sent. */
export interface SentExample {
  readonly operation: Operation;
  readonly method: string;
  readonly target: string;
  readonly answer: ApiAnswer;
  /** Sends the same request again. */
  readonly again: () => Promise<ApiAnswer>;
}

/**
 * Sends the example of each operation that has one, with what it needs there, and what ends something last.
 * @param headersOf more headers of an operation's request
 */
export async function* sendExamples(
  everybody: Everybody,
  document: ApiDocument,
  headersOf: (operationId: string) => Readonly<Record<string, string>> = () => ({}),
): AsyncGenerator<SentExample> {
  const arrangements = arrangementsOf(everybody);
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
  );
  const placeOf = ({ operation }: (typeof operations)[number]): number => last.indexOf(operation.operationId);
  for (const { path, method, operation } of operations.sort((one, other) => placeOf(one) - placeOf(other))) {
    const { operationId, parameters, requestBody } = operation;
    if (elsewhere.has(operationId)) continue;
    const { ids = {}, as = 'admin' } = (await arrangements[operationId]?.()) ?? {};
    const values = parameters.filter(({ example }) => example !== undefined);
    const filled = values
      .filter(({ in: place }) => place === 'path')
      .reduce((all, { name = '', example }) => all.replace(`{${name}}`, encodeURIComponent(String(example))), path);
    const query = new URLSearchParams(
      values
        .filter(({ in: place }) => place === 'query')
        .map(({ name = '', example }) => [name, String(example)] as [string, string]),
    );
    const body = requestBody?.content['application/json']?.example;
    const form = requestBody?.content['multipart/form-data']?.example;
    const target = withIds(`${filled}${query.size === 0 ? '' : `?${query.toString()}`}`, ids, everybody);
    const { file = '', ...fields } = form ?? {};
    const sent =
      form !== undefined
        ? formOf({ content: file }, fields)
        : {
            headers: {},
            ...(body !== undefined && { body: JSON.parse(withIds(JSON.stringify(body), ids, everybody)) as unknown }),
          };
    const headers = { ...sent.headers, ...headersOf(operationId) };
    const again = (): Promise<ApiAnswer> =>
      everybody.api.call(method.toUpperCase(), target, { ...sent, headers, token: everybody.credentials[as].token });
    yield { operation, method, target, answer: await again(), again };
  }
}
