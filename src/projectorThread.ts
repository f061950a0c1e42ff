import { parentPort, workerData } from 'node:worker_threads';
import { composeProjector } from './compose/projector.js';
import type { ThreadMessage } from './compose/projectorThread.js';
import { openCore } from './compose/stores.js';
import { createLogger } from './platform/logger.js';
import type { Environment } from './platform/settings/environment.js';
import { loadSettings } from './platform/settings/settings.js';

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
  const core = await openCore(settings, createLogger({ level: settings.logLevel, destination }));
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
