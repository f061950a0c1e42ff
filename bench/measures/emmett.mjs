/** The same command on Emmett, the alternative to our own engine. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runNpm } from '../../scripts/processes.mjs';
import { call } from '../support/api.mjs';
import { checkpointWrites } from '../support/load.mjs';
import { removeFolder, temporaryFolder, withServer } from '../support/processes.mjs';
import { withService } from '../support/service.mjs';
import { compare, inWords, websitesFor } from './throughput.mjs';

const packageFolder = fileURLToPath(new URL('../emmett', import.meta.url));

/** npm writes this file last. */
const isInstalled = () => existsSync(join(packageFolder, 'node_modules', '.package-lock.json'));

/**
 * @param {{ quick: boolean, report: (text: string) => void }} options
 * @returns {Promise<import('../support/figures.mjs').Figure[]>}
 */
export const emmett = async (options) => {
  const { quick, report } = options;
  if (!isInstalled()) {
    if (quick) {
      report('emmett: left out, since it is not installed; a full run installs it');
      return [];
    }
    report('emmett: installing it in bench/emmett (some minutes: it may compile SQLite)');
    const code = await runNpm(['install', '--no-progress'], { cwd: packageFolder, stdio: 'ignore' });
    if (code !== 0 || !isInstalled()) {
      report('emmett: left out, since it cannot be installed here');
      return [];
    }
  }
  const folder = temporaryFolder('emmett');
  try {
    return await withServer('emmett/server.mjs', [join(folder, 'events.db')], (server) =>
      withService({ purpose: 'writes', websites: websitesFor(options) }, async (service, load) => {
        const { headers, websiteIds } = service;
        for (const id of websiteIds) await call({ url: server.url, headers }, 'PUT', `/v1/websites/${id}/delivery`, {});
        const results = await compare(options, service, load, checkpointWrites(websiteIds), server);
        const refused = results.others.reduce((sum, { failed }) => sum + failed, 0);
        const about = `${inWords(results)}${refused > 0 ? ` (and ${refused} refused)` : ''}`;
        return [{ name: 'writes / Emmett on SQLite', value: results.ratio, unit: '×', aim: { atLeast: 10 }, about }];
      }),
    );
  } finally {
    removeFolder(folder);
  }
};
