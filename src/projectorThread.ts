import { parentPort, workerData } from 'node:worker_threads';
import { composeProjector } from './compose/projector.js';
import type { ThreadMessage } from './compose/projectorThread.js';
import { openCore } from './compose/stores.js';
import { createLogger } from './platform/logger.js';
import { lowerPriority } from './platform/lowerPriority.js';
import type { Environment } from './platform/settings/environment.js';
import { loadSettings } from './platform/settings/settings.js';

/** As `nice` has it. */
const priority = 5;

/**
 * The projector on stores of its own, as a process with that role alone has them. It stops at the first
 * message (`compose/projectorThread.ts`).
 */
const main = async (): Promise<void> => {
  if (parentPort === null) throw new Error('this program runs on a thread of the service');
  const port = parentPort;
  const send = (message: ThreadMessage): void => {
    port.postMessage(message);
  };
  const settings = loadSettings(workerData as Environment);
  const destination = {
    write: (line: string) => {
      send({ line });
    },
  };
  const logger = createLogger({ level: settings.logLevel, destination });
  // On Linux a thread has a priority of its own; elsewhere it would be that of the whole process.
  if (process.platform === 'linux') {
    lowerPriority(0, priority, (err) => {
      logger.info({ err }, 'read models are written with the priority of requests');
    });
  }
  const core = await openCore(settings, logger);
  const projector = composeProjector(core);
  const stop = async (): Promise<void> => {
    await projector.stop();
    await core.close();
    // Nothing is left that the thread waits for.
    port.close();
  };
  port.once('message', () => void stop());
  await projector.start();
  send({ isStarted: true });
};

// What it throws ends the process, as of any thread.
void main();
