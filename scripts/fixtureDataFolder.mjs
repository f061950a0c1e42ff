/**
 * `node scripts/fixtureDataFolder.mjs [<folder>]`: makes the data folder of this version, which
 * every later version has to open (`test/e2e/dataFolder.test.ts`), by default in
 * `test/fixtures/dataFolders/<version>`. It starts the built service on an empty folder, uses it
 * over HTTP, stops it, and adds `contents.json`: what the test has to know.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { cp, mkdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { DatabaseSync } from '@photostructure/sqlite';
import { prepareOrExit } from './prepare.mjs';
import { report, root, StepFailed } from './processes.mjs';
import { distFolder } from './tasks.mjs';

/** @typedef {(method: string, path: string, body?: unknown) => Promise<unknown>} Api */

/**
 * Left out: many files, or files of a running process. What is asked of these integrations answers
 * without them.
 */
const leftOut = /^(?:repositories|sites)$|-(?:wal|shm|signal)$|\.lock$/;

const maxWaitMs = 60_000;

/** @param {string} dataDir */
const environmentFor = (dataDir) => ({ PATH: process.env['PATH'] ?? '', DATA_DIR: dataDir, PORT: '0', LOG_LEVEL: 'warn' });

/** @param {string} dataDir */
const startService = async (dataDir) => {
  const child = spawn(process.execPath, [join(distFolder, 'main.js')], {
    cwd: dataDir,
    env: environmentFor(dataDir),
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(child, 'exit');
  const address = await new Promise((found, failed) => {
    createInterface(child.stdout).on('line', (line) => {
      const [, url] = /^Doorstep is open at (http\S+)$/.exec(line) ?? [];
      if (url !== undefined) found(url);
    });
    void ended.then(() => {
      failed(new StepFailed('the service ended before it was open'));
    });
  });
  return {
    address: String(address),
    stop: async () => {
      child.kill('SIGTERM');
      const [code] = await ended;
      if (code !== 0) throw new StepFailed(`the service stopped with ${String(code)}`);
    },
  };
};

/**
 * @param {string} dataDir
 * @param {'admin' | 'client'} role
 * @param {string} email - the subject too
 */
const mintToken = async (dataDir, role, email) => {
  const program = join(distFolder, 'operations', 'mintToken.js');
  const child = spawn(process.execPath, [program, '--role', role, '--subject', email], {
    cwd: dataDir,
    env: environmentFor(dataDir),
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let token = '';
  child.stdout.on('data', (chunk) => (token += String(chunk)));
  const [code] = await once(child, 'close');
  if (code !== 0) throw new StepFailed('no token could be minted');
  return token.trim();
};

/**
 * @param {string} address
 * @param {string} token
 * @returns {Api} it rejects for every answer but a 2xx
 */
const createApi = (address, token) => async (method, path, body) => {
  const response = await fetch(`${address}/v1${path}`, {
    method,
    headers: { authorization: `Bearer ${token}`, ...(body !== undefined && { 'content-type': 'application/json' }) },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  if (!response.ok) throw new StepFailed(`${method} ${path}: ${response.status} ${text}`);
  /** @type {unknown} */
  const answer = text === '' ? null : JSON.parse(text);
  return answer;
};

/** @param {Promise<unknown>} answer */
const idIn = async (answer) => /** @type {{ id: string }} */ (await answer).id;

/**
 * @param {string} what
 * @param {() => Promise<boolean>} happened
 */
const until = async (what, happened) => {
  const giveUpAt = Date.now() + maxWaitMs;
  while (!(await happened())) {
    if (Date.now() > giveUpAt) throw new StepFailed(`${what} did not happen within ${maxWaitMs / 1000} s`);
    await sleep(50);
  }
};

/**
 * @param {Api} admin
 * @param {string} websiteId
 */
const activated = (admin, websiteId) =>
  until(`activation of website ${websiteId}`, async () => {
    const job = /** @type {{ status: string }} */ (await admin('GET', `/websites/${websiteId}/provisioning`));
    if (job.status === 'failed') throw new StepFailed(`the provisioning of website ${websiteId} failed`);
    return job.status === 'succeeded';
  });

/**
 * Writes at least one of everything that is kept, and resolves with what a reader has to know.
 * @param {string} dataDir
 * @param {string} address
 */
const use = async (dataDir, address) => {
  const apiFor = async (/** @type {'admin' | 'client'} */ role, /** @type {string} */ email) =>
    createApi(address, await mintToken(dataDir, role, email));
  const admin = await apiFor('admin', 'ops@example.com');

  const website = { name: 'Corner Bakery', slug: 'corner-bakery', tier: 'scale', brandColor: '#336699' };
  const websiteId = await idIn(
    admin('POST', '/websites', { ...website, features: ['seo', 'scheduling', 'commerce', 'analytics'] }),
  );
  const archivedId = await idIn(admin('POST', '/websites', { name: 'Attic', slug: 'attic' }));
  await activated(admin, websiteId);
  await activated(admin, archivedId);
  await admin('POST', `/websites/${archivedId}/archive`);

  const clientId = await idIn(admin('POST', '/clients', { email: 'vera.viewer@example.com', name: 'Vera Viewer' }));
  const people = `/websites/${websiteId}/clients`;
  await admin('POST', people, { email: 'vera.viewer@example.com', role: 'viewer' });
  await admin('PATCH', `${people}/${clientId}`, { role: 'editor' });
  const invited = async (/** @type {string} */ email) => {
    const { invitation } = /** @type {{ invitation: { id: string } }} */ (await admin('POST', people, { email, role: 'viewer' }));
    return invitation.id;
  };
  const pendingInvitationId = await invited('paul.pending@example.com');
  const acceptedInvitationId = await invited('anna.accepted@example.com');
  await (
    await apiFor('client', 'anna.accepted@example.com')
  )('POST', `/invitations/${acceptedInvitationId}/claim`);

  const transferId = await idIn(admin('POST', `/websites/${websiteId}/transfers`, { email: 'olga.owner@example.com' }));
  const owner = await apiFor('client', 'olga.owner@example.com');
  await owner('POST', `/invitations/${transferId}/claim`);
  const invoice = { total: 4_900, currency: 'eur', description: 'Website, first month' };
  const invoiceId = await idIn(admin('POST', `/websites/${websiteId}/billing/invoices`, invoice));
  await admin('POST', `/websites/${websiteId}/billing/invoices/${invoiceId}/pay`);

  const delivery = `/websites/${websiteId}/delivery`;
  await admin('PUT', delivery, {});
  const checkpoints = [
    { id: 'design', label: 'Design', order: 10, status: 'in_progress' },
    { id: 'launch', label: 'Launch', order: 20, status: 'pending' },
  ];
  const reason = { reason: 'The photos came late', reasonVisible: true };
  await admin('PUT', delivery, {
    estimatedCompletionAt: '2031-05-01T00:00:00.000Z',
    showPreviewUrl: true,
    checkpoints,
    ...reason,
  });
  await admin('PUT', `${delivery}/checkpoints/design`, { status: 'done' });
  await admin('PUT', `${delivery}/checkpoints/launch`, { status: 'in_progress' });
  await admin('POST', `${delivery}/undo`, { revision: 3 });

  const times = { start: '2100-01-04T10:00:00.000Z', end: '2100-01-04T10:30:00.000Z' };
  const bookingId = await idIn(admin('POST', `/websites/${websiteId}/bookings`, { title: 'Tasting', ...times }));
  const service = { kind: 'commerce', shopDomain: 'corner-bakery.myshopify.com', secrets: { adminToken: 'of-no-value' } };
  const serviceId = await idIn(admin('POST', `/websites/${websiteId}/services`, service));

  await admin('POST', `/websites/${websiteId}/seo/scans`);
  await until('the scan', async () => {
    const { latest } = /** @type {{ latest: { status: string } }} */ (await admin('GET', `/websites/${websiteId}/seo`));
    return latest.status === 'completed';
  });
  await until('the mails', async () => /** @type {unknown[]} */ (await admin('GET', '/outbox')).length >= 2);

  // The last write, so that this token has read nothing yet.
  const minted = await admin('POST', '/api-keys', { name: 'Fixture' });
  const { id: apiKeyId, token } = /** @type {{ id: string, token: string }} */ (minted);
  return {
    ...{ token, apiKeyId, websiteId, archivedId, clientId, pendingInvitationId, acceptedInvitationId, transferId },
    ...{ invoiceId, bookingId, serviceId },
  };
};

/**
 * Moves the data into a folder, as small as it can be.
 * @param {string} dataDir
 * @param {string} folder
 */
const pack = async (dataDir, folder) => {
  for (const name of readdirSync(dataDir).filter((file) => file.endsWith('.db'))) {
    const database = new DatabaseSync(join(dataDir, name));
    database.exec('VACUUM');
    database.close();
  }
  for (const name of readdirSync(dataDir).filter((file) => leftOut.test(file))) rmSync(join(dataDir, name), { recursive: true });
  await mkdir(dirname(folder), { recursive: true });
  await cp(dataDir, folder, { recursive: true });
};

await prepareOrExit('service');
const { version } = /** @type {{ version: string }} */ (JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')));
const folder = resolve(process.argv[2] ?? join(root, 'test', 'fixtures', 'dataFolders', version));
if (existsSync(folder)) throw new StepFailed(`${folder} exists: a data folder that was released is never made again`);
const dataDir = mkdtempSync(join(tmpdir(), 'doorstep-fixture-'));
try {
  const service = await startService(dataDir);
  const contents = await use(dataDir, service.address);
  await service.stop();
  writeFileSync(join(dataDir, 'contents.json'), `${JSON.stringify({ version, ...contents }, null, 2)}\n`);
  await pack(dataDir, folder);
} finally {
  rmSync(dataDir, { recursive: true, force: true });
}
report(`${folder} written`);
