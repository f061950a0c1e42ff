/**
 * `node make.mjs <folder>`: makes the demo in an empty data folder: three months of an agency, lived
 * by its people through the SDK, on a service whose clock is set forward from moment to moment. Only
 * this program gives the service such a clock.
 */
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { Doorstep } from '@doorstep/sdk';
import { distFolder } from '../tasks.mjs';
import { createStoryClock, dayMs } from './clock.mjs';
import { brand, people } from './people.mjs';
import { story } from './story.mjs';

/**
 * @typedef {import('./people.mjs').Person} Person
 * @typedef {import('@doorstep/sdk').CreateWebsiteRequest} NewWebsite
 */

/**
 * What the story acts with.
 * @typedef {object} Agency
 * @property {Doorstep} operator
 * @property {(person: Person) => Promise<Doorstep>} as - acts as a client
 * @property {(slug: string) => string} id - of the website that was created with the slug last
 * @property {(website: NewWebsite) => Promise<string>} create - resolves once its provisioning has ended
 * @property {(website: NewWebsite) => Promise<string>} begin - resolves at once
 * @property {(slug: string, page: string, visitor: number, referer?: string) => Promise<void>} visit
 * @property {(what: string, holds: () => Promise<boolean>) => Promise<void>} until
 * @property {(invitationId: string) => Promise<void>} mailed - resolves once the invitation's mail has left
 * @property {(day: number) => string} noon - of the day that lies so many days from today
 * @property {(roles?: string) => Promise<void>} restart - what became due meanwhile is then done
 */

/** @template Module @param {string} file @returns {Promise<Module>} */
const built = (file) => import(pathToFileURL(join(distFolder, file)).href);

const { startDoorstep } = /** @type {typeof import('../../src/compose.js')} */ (await built('compose.js'));
const { openCore } = /** @type {typeof import('../../src/compose/stores.js')} */ (await built('compose/stores.js'));
const { mintApiKey } = /** @type {typeof import('../../src/commands/apiKey/apiKey.handlers.js')} */ (
  await built('commands/apiKey/apiKey.handlers.js')
);
const { invitationMailFold, lastSentAt } =
  /** @type {typeof import('../../src/workers/invitationMail/invitationMail.process.js')} */ (
    await built('workers/invitationMail/invitationMail.process.js')
  );
const { createLogger } = /** @type {typeof import('../../src/platform/logger.js')} */ (await built('platform/logger.js'));
const { loadSettings } = /** @type {typeof import('../../src/platform/settings/settings.js')} */ (
  await built('platform/settings/settings.js')
);

const allRoles = 'api,projector,worker';
const maxWaitMs = 20_000;

const [folder = ''] = process.argv.slice(2);
process.umask(0o077);
const endMs = Date.now();
const todayMs = endMs - (endMs % dayMs);
const clock = createStoryClock(todayMs + Math.min(...story.map(({ day }) => day)) * dayMs);

// What fails in the story is told by the API; the log has it as errors.
const logger = createLogger({ level: 'silent', destination: process.stderr });
/** Kept over restarts: pages and mails of the story name it. */
let port = process.env['PORT'];
/** @param {string} roles */
const settingsFor = (roles) =>
  loadSettings({
    ...brand,
    DATA_DIR: folder,
    PROCESS_ROLES: roles,
    ADMIN_EMAILS: people.operator.email,
    HOST: process.env['HOST'],
    PORT: port,
  });
/** @param {string} roles */
const open = (roles) => startDoorstep(settingsFor(roles), logger, { clock });

let service = await open(allRoles);
({ port } = new URL(service.baseUrl));
const core = await openCore(settingsFor(allRoles), logger, { clock });
const keyIds = /** @type {string[]} */ ([]);

/** @param {Person} person @param {'admin' | 'client'} role */
const signIn = async ({ email, name }, role) => {
  const { engine } = core;
  const { token, id } = await mintApiKey(
    engine,
    {
      name: 'demo',
      subject: email,
      callerRole: 'admin',
      role,
      scope: 'write',
      verifiedEmail: email,
      userName: name,
      expiresAt: undefined,
    },
    engine.random.bytes(64),
    { commandId: engine.ids.commandId(), actor: { subject: 'demo', role: 'system', via: 'operator' }, requestId: 'demo' },
  );
  keyIds.push(id);
  return new Doorstep({ baseUrl: service.baseUrl, token });
};

const operator = await signIn(people.operator, 'admin');
const clients = /** @type {Map<string, Promise<Doorstep>>} */ (new Map());
const ids = /** @type {Map<string, string>} */ (new Map());

/** @type {Agency} */
const agency = {
  operator,
  as: (person) => {
    const client = clients.get(person.email) ?? signIn(person, 'client');
    clients.set(person.email, client);
    return client;
  },
  id: (slug) => {
    const id = ids.get(slug);
    if (id === undefined) throw new Error(`the story has no website ${slug} yet`);
    return id;
  },
  create: async (website) => {
    const id = await agency.begin(website);
    for await (const { status } of operator.websites.provisioning.watch(id)) {
      if (status === 'succeeded' || status === 'failed') break;
    }
    return id;
  },
  begin: async (website) => {
    const { id } = await operator.websites.create(website);
    ids.set(website.slug, id);
    return id;
  },
  visit: async (slug, page, visitor, referer) => {
    const headers = {
      'user-agent': `Mozilla/5.0 (X11; Linux x86_64; rv:1${String(visitor)}.0) Gecko/20100101 Firefox/1${String(visitor)}.0`,
      ...(referer !== undefined && { referer }),
    };
    const response = await fetch(`${service.baseUrl}/sites/${slug}/${page}`, { headers });
    await response.arrayBuffer();
    if (!response.ok) throw new Error(`the page ${page} of ${slug} answered ${String(response.status)}`);
  },
  until: async (what, holds) => {
    const deadline = performance.now() + maxWaitMs;
    while (!(await holds())) {
      if (performance.now() > deadline) throw new Error(`this did not come about: ${what}`);
      await pause(20);
    }
  },
  mailed: (invitationId) =>
    agency.until(`the mail of invitation ${invitationId}`, async () => {
      const { state } = await core.engine.state(invitationMailFold, { invitationId });
      return lastSentAt(state) !== undefined;
    }),
  noon: (day) => new Date(todayMs + (day + 0.5) * dayMs).toISOString(),
  restart: async (roles = allRoles) => {
    await service.stop();
    service = await open(roles);
  },
};

/** @param {{ day: number, time: string }} moment */
const atOf = ({ day, time }) => Math.min(endMs, todayMs + day * dayMs + Date.parse(`1970-01-01T${time}:00Z`));

for (const moment of story.toSorted((one, other) => atOf(one) - atOf(other))) {
  clock.moveTo(atOf(moment));
  await moment.act(agency);
}
clock.moveTo(Date.now());
for (const id of keyIds) if (id !== keyIds[0]) await operator.apiKeys.revoke(id);
await operator.apiKeys.revoke(keyIds[0] ?? '');
await service.stop();
await core.close();
