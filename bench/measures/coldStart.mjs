import { fileURLToPath } from 'node:url';
import { answers, freePort, newInstallation, startDoorstep } from '../support/doorstep.mjs';
import { median } from '../support/figures.mjs';
import { removeFolder, startNode, stop } from '../support/processes.mjs';
import { inTurns } from '../support/rounds.mjs';

const echo = fileURLToPath(new URL('../programs/echo.mjs', import.meta.url));

/**
 * From starting the process to the first 200 of `/healthz`, on a data folder that is there already,
 * beside the bare echo's start.
 * @param {{ quick: boolean }} options
 * @returns {Promise<import('../support/figures.mjs').Figure[]>}
 */
export const coldStart = async ({ quick }) => {
  const installation = newInstallation('start');
  const startedService = async () => {
    const startedAt = performance.now();
    const doorstep = await startDoorstep(installation);
    const took = performance.now() - startedAt;
    await doorstep.stop();
    return took;
  };
  const startedEcho = async () => {
    const port = await freePort();
    const startedAt = performance.now();
    const child = startNode([echo], { env: { ...process.env, PORT: String(port) }, stdio: 'ignore' });
    await answers(`http://127.0.0.1:${port}/healthz`, child);
    const took = performance.now() - startedAt;
    await stop(child);
    return took;
  };
  try {
    const { first, second } = await inTurns(quick ? 1 : 10, startedService, startedEcho);
    return [
      {
        name: 'cold start',
        value: median(first),
        unit: 'ms',
        aim: { atMost: 400 },
        about: `bare express: ${Math.round(median(second))} ms`,
      },
    ];
  } finally {
    removeFolder(installation.folder);
  }
};
