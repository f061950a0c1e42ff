/** What the benchmark asks of the running service before and beside the load. */
import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { nextSlug } from './names.mjs';

/** @typedef {{ url: string, headers: Record<string, string> }} Api */

/** How long a client tries again while the service is busy or a store is slow to start. */
const retryMs = 30_000;

/**
 * Tries again after a 503, as a client does. POSTs have a key that makes one of their repetitions.
 * @param {Api} api
 * @param {'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'} method
 * @param {string} path
 * @param {unknown} [body]
 * @param {number} [triedForMs]
 * @returns {Promise<unknown>}
 */
export const call = async ({ url, headers }, method, path, body, triedForMs = retryMs) => {
  const request = {
    method,
    headers: { ...headers, ...(method === 'POST' && { 'idempotency-key': randomUUID() }) },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  };
  const giveUpAt = performance.now() + triedForMs;
  let response = await fetch(url + path, request);
  while (response.status === 503 && performance.now() < giveUpAt) {
    await response.text();
    await wait(Number(response.headers.get('retry-after') ?? 1) * 1_000);
    response = await fetch(url + path, request);
  }
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${path} answered ${response.status}: ${text}`);
  /** @type {unknown} */
  const answer = text === '' ? undefined : JSON.parse(text);
  return answer;
};

export const newSite = () => {
  const slug = nextSlug();
  return { name: `Site ${slug}`, slug };
};

/**
 * Creates a website and resolves once it is active: the stream of its provisioning events ends when
 * the job does.
 * @param {Api} api
 * @returns {Promise<string>} its id
 */
export const createActiveWebsite = async (api) => {
  const { id } = /** @type {{ id: string }} */ (await call(api, 'POST', '/v1/websites', newSite()));
  const events = await fetch(`${api.url}/v1/websites/${id}/provisioning/events`, { headers: api.headers });
  await events.text();
  const { status } = /** @type {{ status: string }} */ (await call(api, 'GET', `/v1/websites/${id}`));
  if (status !== 'active') throw new Error(`website ${id} is ${status} after its provisioning ended`);
  return id;
};

/**
 * @param {Api} api
 * @param {number} count
 * @returns {Promise<string[]>} ids of active websites with a delivery block
 */
export const createWebsites = (api, count) =>
  Promise.all(
    Array.from({ length: count }, async () => {
      const id = await createActiveWebsite(api);
      await call(api, 'PUT', `/v1/websites/${id}/delivery`, {});
      return id;
    }),
  );
