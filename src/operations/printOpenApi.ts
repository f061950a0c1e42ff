import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startDoorstep } from '../compose.js';
import { createLogger } from '../platform/logger.js';
import { loadSettings } from '../platform/settings/settings.js';

/** The service's default address, which replaces the temporary one that it listens on here. */
const address = 'http://127.0.0.1:3000';

/**
 * Prints the OpenAPI document that the service serves. Runs it on a temporary folder, without the
 * operator's settings or data.
 */
const folder = await mkdtemp(join(tmpdir(), 'doorstep-openapi-'));
try {
  const settings = loadSettings({ DATA_DIR: folder, PORT: '0', PROCESS_ROLES: 'api', LOG_LEVEL: 'silent' });
  const doorstep = await startDoorstep(settings, createLogger({ level: 'silent' }));
  try {
    const answer = await fetch(`${doorstep.baseUrl}/openapi.json`);
    if (!answer.ok) throw new Error(`GET /openapi.json answered with status ${String(answer.status)}`);
    const document = JSON.stringify(await answer.json(), null, 2);
    process.stdout.write(`${document.replaceAll(doorstep.baseUrl, address)}\n`);
  } finally {
    await doorstep.stop();
  }
} finally {
  await rm(folder, { recursive: true, force: true });
}
