import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startDoorstep } from '../compose.js';
import { createLogger } from '../platform/logger.js';
import { loadSettings } from '../platform/settings.js';

/** The default address of the service: the one that it really listens on here is gone when the document is read. */
const address = 'http://127.0.0.1:3000';

/** Prints the OpenAPI document as the service serves it. It runs for this on a folder of its own: nobody's settings or data are touched. */
const folder = await mkdtemp(join(tmpdir(), 'doorstep-openapi-'));
try {
  const settings = loadSettings({ DATA_DIR: folder, PORT: '0', PROCESS_ROLES: 'api', LOG_LEVEL: 'silent' });
  const doorstep = await startDoorstep(settings, createLogger({ level: 'silent' }));
  try {
    const answer = await fetch(`${doorstep.baseUrl}/openapi.json`);
    if (!answer.ok) throw new Error(`the document was answered with ${String(answer.status)}`);
    const document = JSON.stringify(await answer.json(), null, 2);
    process.stdout.write(`${document.replaceAll(doorstep.baseUrl, address)}\n`);
  } finally {
    await doorstep.stop();
  }
} finally {
  await rm(folder, { recursive: true, force: true });
}
