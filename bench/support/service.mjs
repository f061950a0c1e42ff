import { createWebsites } from './api.mjs';
import { mintToken, newInstallation, startDoorstep } from './doorstep.mjs';
import { startLoadGenerator } from './load.mjs';
import { removeFolder } from './processes.mjs';

/**
 * @typedef {import('./load.mjs').LoadGenerator} LoadGenerator
 * @typedef {{ doorstep: import('./doorstep.mjs').Doorstep, websiteIds: readonly string[] } & import('./api.mjs').Api} Service
 */

/**
 * Runs `work` on the service, with `websites` websites created and provisioned through its API, and
 * a load generator.
 * @template Result
 * @param {{ purpose: string, websites: number, settings?: Record<string, string> }} options
 * @param {(service: Service, load: LoadGenerator) => Promise<Result>} work
 * @returns {Promise<Result>}
 */
export const withService = async ({ purpose, websites, settings }, work) => {
  const { folder, environment } = newInstallation(purpose);
  const installation = { folder, environment: { ...environment, ...settings } };
  const headers = { authorization: `Bearer ${await mintToken(installation)}`, 'content-type': 'application/json' };
  const doorstep = await startDoorstep(installation);
  const load = startLoadGenerator();
  try {
    const api = { url: doorstep.url, headers };
    return await work({ ...api, doorstep, websiteIds: await createWebsites(api, websites) }, load);
  } finally {
    await load.stop();
    await doorstep.stop();
    removeFolder(installation.folder);
  }
};
