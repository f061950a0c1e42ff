/** Every route that reads, against the read of a delivery block: which are the slowest, and why. */
import { call } from '../support/api.mjs';
import { median, rounded } from '../support/figures.mjs';
import { nextSlug } from '../support/names.mjs';
import { withService } from '../support/service.mjs';

/**
 * @typedef {import('../support/figures.mjs').Figure} Figure
 * @typedef {import('../support/api.mjs').Api} Api
 * @typedef {{ name: string, in: string, required?: boolean, example?: unknown }} Parameter
 * @typedef {{ operationId: string, parameters?: readonly Parameter[], responses: Readonly<Record<string, { content?: object }>> }} Operation
 */

/** So many times the read of a delivery block a route may take without a reason (docs/performance.md). */
const mostWithoutReason = 3;
const shown = 12;

/**
 * Why routes take longer, by operation.
 * @type {Readonly<Record<string, string>>}
 */
const reasons = {
  listAudit: '50 events, each read from its own stream and named',
  exportClient: 'every event about a person, of all streams',
  listContent: 'it reads the documents that only the repository of the website has',
  listBookings: 'a list, which asks for the end of the log and for the calendar',
  listWebsites: 'a list of 50, each with two summaries',
  listTemplates: 'the whole schema of each template',
  search: 'two lists, of websites and of clients',
  getMetrics: 'it asks the stores how far each projection and process is',
  getReadiness: 'it asks the stores how far each projection is',
  getOpenApi: 'the whole description of the API, hashed and sent',
};

/**
 * @param {{ quick: boolean, report: (text: string) => void }} options
 * @returns {Promise<Figure[]>}
 */
export const routes = ({ quick, report }) =>
  withService({ purpose: 'routes', websites: quick ? 1 : 60 }, async ({ url, headers }, load) => {
    const api = { url, headers };
    const known = await arrange(api);
    const [rounds, requests] = quick ? [1, 2] : [5, 20];
    const timeOf = async (/** @type {string} */ path) => {
      const asked = Array.from({ length: requests }, () => ({ method: /** @type {const} */ ('GET'), path }));
      return median((await load.latency({ url, headers, requests: asked })).times);
    };
    const deliveryPath = `/v1/websites/${known.website}/delivery`;

    /** @type {{ operationId: string, ratio: number, ms: number }[]} */
    const measured = [];
    for (const { operationId, path } of await readsOf(api, known)) {
      const answer = await fetch(url + path, { headers });
      await answer.arrayBuffer();
      if (!answer.ok) {
        report(`${operationId}: not measured, since ${path} answered ${answer.status}`);
        continue;
      }
      const [times, ratios] = [[], []].map(() => /** @type {number[]} */ ([]));
      for (let round = 0; round < rounds; round += 1) {
        const [own, delivery] = [await timeOf(path), await timeOf(deliveryPath)];
        times?.push(own);
        ratios?.push(own / delivery);
      }
      measured.push({ operationId, ms: median(times ?? []), ratio: median(ratios ?? []) });
    }
    report(`${measured.length} routes measured`);

    const slowest = measured.sort((one, other) => other.ratio - one.ratio);
    const listed = slowest.filter(({ ratio }, index) => index < shown || ratio > mostWithoutReason);
    return listed.map(({ operationId, ratio, ms }) => {
      const reason = reasons[operationId];
      return {
        name: `${operationId} / delivery read`,
        value: ratio,
        unit: '×',
        ...(reason === undefined && { aim: { atMost: quick ? 1_000 : mostWithoutReason } }),
        about: `p50 ${rounded(ms)} ms${reason === undefined ? '' : `: ${reason}`}`,
      };
    });
  });

/**
 * One website with something of everything.
 * @param {Api} api
 */
const arrange = async (api) => {
  const slug = nextSlug();
  const email = `owner-${slug}@example.com`;
  const post = async (/** @type {string} */ path, /** @type {unknown} */ body) =>
    /** @type {{ id: string }} */ (await call(api, 'POST', path, body));
  const client = (await post('/v1/clients', { email, name: 'Owner' })).id;
  const website = (await post('/v1/websites', { name: `Site ${slug}`, slug, tier: 'scale', clientId: client })).id;
  await (await fetch(`${api.url}/v1/websites/${website}/provisioning/events`, { headers: api.headers })).text();
  const ofSite = (/** @type {string} */ path) => `/v1/websites/${website}${path}`;
  await call(api, 'PUT', ofSite('/delivery'), {});
  for (const checkpoint of ['kickoff', 'qa']) {
    await call(api, 'PUT', ofSite(`/delivery/checkpoints/${checkpoint}`), { status: 'done' });
  }
  for (let index = 0; index < 5; index += 1) {
    const one = `${index}-${slug}@example.com`;
    if (index < 3) await post('/v1/clients', { email: one });
    await post(ofSite('/clients'), { email: one, role: 'viewer' });
  }
  await post(ofSite('/transfers'), { email: `buyer-${slug}@example.com` });
  await post(ofSite('/bookings'), { title: 'Call', start: '2030-01-31T12:00:00Z', end: '2030-01-31T13:00:00Z' });
  await post(ofSite('/services'), { kind: 'analytics', siteId: 'bakery.example.com' });
  const saved = async (/** @type {string} */ kind, /** @type {unknown} */ body) =>
    /** @type {{ hash: string }} */ (await call(api, 'PUT', ofSite(`/${kind}/bench`), { baseHash: null, body })).hash;
  const hash = await saved('content', { headline: 'Bread' });
  const marketing = await saved('marketing', { subject: 'Bread' });
  const domain = `www.${slug}.example`;
  await post(ofSite('/domains'), { domain });
  const form = new FormData();
  form.set('file', new Blob(['Terms of service']), 'terms.txt');
  const { 'content-type': _, ...headers } = api.headers;
  const uploaded = await fetch(`${api.url}${ofSite('/documents')}`, { method: 'POST', headers, body: form });
  const document = /** @type {{ id: string }} */ (await uploaded.json()).id;
  const { invitations } = /** @type {{ invitations: readonly { id: string }[] }} */ (await call(api, 'GET', ofSite('/clients')));
  return {
    website,
    email,
    /** What stands for a path parameter, by the part of the path before it, or by the whole of that. */
    values: /** @type {Readonly<Record<string, string | undefined>>} */ ({
      websites: website,
      clients: client,
      templates: 'business',
      content: 'bench',
      marketing: 'bench',
      'content/bench/versions': hash,
      'marketing/bench/versions': marketing,
      documents: document,
      domains: domain,
      invitations: invitations[0]?.id,
    }),
  };
};

/**
 * Each operation that reads something short, with a path to ask.
 * @param {Api} api
 * @param {Awaited<ReturnType<typeof arrange>>} known
 */
const readsOf = async (api, known) => {
  const { paths } = /** @type {{ paths: Readonly<Record<string, Readonly<Record<string, Operation>>>> }} */ (
    await call(api, 'GET', '/openapi.json')
  );
  return Object.entries(paths).flatMap(([path, { get }]) => {
    if (get === undefined) return [];
    const types = Object.keys(get.responses['200']?.content ?? {});
    // Event streams go on and on.
    if (types.includes('text/event-stream')) return [];
    const filled = path
      .split('/')
      .reduce((done, part) => {
        const before = done.split('/');
        const value = known.values[before.at(-1) ?? ''] ?? known.values[before.slice(-3).join('/')];
        return `${done}/${part.startsWith('{') && value !== undefined ? value : part}`;
      }, '')
      .slice(1);
    const required = (get.parameters ?? []).filter((parameter) => parameter.in === 'query' && parameter.required === true);
    const query = new URLSearchParams();
    for (const { name, example } of required) query.set(name, name === 'q' ? 'site' : String(example));
    if (path.endsWith('/access')) query.set('email', known.email);
    const asked = `${path.startsWith('/v1') ? '' : '/v1'}${filled}${query.size === 0 ? '' : `?${query.toString()}`}`;
    return [{ operationId: get.operationId, path: asked }];
  });
};
