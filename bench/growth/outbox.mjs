/** Mails in the outbox: those of one person among 20,000 of everybody and among 200, and the erasure of a person. */
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { call } from '../support/api.mjs';
import { load } from '../support/doorstep.mjs';
import { growthFigure, readsInTurns } from '../support/growth.mjs';
import { inTurns } from '../support/rounds.mjs';

/**
 * @typedef {import('../support/growth.mjs').Side} Side
 * @typedef {import('../support/doorstep.mjs').Doorstep} Doorstep
 * @param {import('../support/growth.mjs').World} world
 */
export const measure = async (world) => {
  const { few, many, quick } = world;
  const share = quick ? 10 : 1;
  await storeMails(many, 20_000 / share);
  await storeMails(few, 200 / share);
  return many.running('api,projector,worker,cron', (large) =>
    few.running('api,projector,worker,cron', async (small) => {
      const pathOf = (/** @type {number} */ index) => `/v1/outbox?to=${encodeURIComponent(addressOf(index % 5))}`;
      // Answers once the mails stand where this version looks for them.
      for (const [{ url }, { headers }] of /** @type {const} */ ([
        [large, many],
        [small, few],
      ])) {
        const mails = /** @type {unknown[]} */ (await call({ url, headers }, 'GET', pathOf(0), undefined, movedWithinMs));
        if (mails.length !== mailsOfPerson) throw new Error(`${mails.length} mails to one person`);
      }
      const reads = await readsInTurns(world, [large, many, pathOf], [small, few, pathOf]);
      let people = 0;
      const erasureIn =
        (/** @type {Doorstep} */ { url }, /** @type {Side} */ { headers }) =>
        async () => {
          people += 1;
          const body = { email: `gone-${people}@example.com` };
          const { id } = /** @type {{ id: string }} */ (await call({ url, headers }, 'POST', '/v1/clients', body));
          const startedAt = performance.now();
          const { status } = await fetch(`${url}/v1/clients/${id}`, { method: 'DELETE', headers });
          if (status !== 204) throw new Error(`an erasure was answered ${status}`);
          return performance.now() - startedAt;
        };
      const erasures = await inTurns(quick ? 1 : 8, erasureIn(large, many), erasureIn(small, few));
      return [
        growthFigure('mails to one person', reads, { unit: 'ms' }),
        growthFigure('erasure of a person', erasures, { unit: 'ms' }),
      ];
    }),
  );
};

const mailsOfPerson = 4;
/** The first start of this version on the installation moves mails while its workers take what stands in the log. */
const movedWithinMs = 300_000;
const spanMs = 29 * 86_400_000;

const addressOf = (/** @type {number} */ person) => `mail-${person}@example.com`;

/**
 * As an earlier version stored them, over the last 29 days: the start moves them.
 * @param {Side} side
 * @param {number} count
 */
const storeMails = async ({ installation }, count) => {
  const [{ createIds }, { systemRandom }] =
    /** @type {[typeof import('../../src/platform/ids.js'), typeof import('../../src/platform/random.js')]} */ (
      await Promise.all([load('platform/ids.js'), load('platform/random.js')])
    );
  const folder = join(installation.environment.DATA_DIR, 'outbox');
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  const now = Date.now();
  for (let index = 0; index < count; index += 1) {
    const sentAt = now - Math.floor((spanMs * index) / count);
    const id = createIds({ now: () => sentAt, schedule: () => () => undefined }, systemRandom).commandId();
    const to = addressOf(index % (count / mailsOfPerson));
    const mail = { id, to, subject: 'A mail', text: 'x'.repeat(800), html: 'x'.repeat(3_000), links: [] };
    await writeFile(join(folder, `${id}.json`), JSON.stringify({ ...mail, at: new Date(sentAt).toISOString() }));
    await writeFile(join(folder, `${id}.eml`), `To: ${to}\r\n\r\n${mail.text}`);
  }
};
