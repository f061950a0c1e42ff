import { setTimeout as pause } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import { createWebsite, expectAllThere, invite, nothingYet, relabel, type Acknowledged } from '../support/acknowledged.js';
import { eventually } from '../support/eventually.js';
import { chanceOf } from '../support/seeded.js';
import { createApi, mintToken, startServer, type Api } from '../support/server.js';
import { inStorm } from '../support/storm.js';
import { temporaryFolder } from '../support/temporary.js';

/**
 * Repeated `kill -9` under load (docs/architecture.md, "What survives what").
 */
const kills = inStorm({ short: 3, gate: 12, long: 100 });
const chance = chanceOf('killStorm');

test(`nothing acknowledged is lost, nothing is created twice, and all work ends, after ${String(kills)} kills under load`, async () => {
  const dataDir = temporaryFolder();
  const token = await mintToken(dataDir);
  const acknowledged = nothingYet();

  for (let round = 0; round < kills; round += 1) {
    const server = await startServer(dataDir);
    const api = createApi(server.address, token);
    const before = acknowledged.websites.size;
    const strike = async (): Promise<number | string> => {
      await pause(10 + chance() * 150);
      // In every second round provisioning is certainly in progress, even on a busy machine.
      if (round % 2 === 0) await eventually('a website', () => (acknowledged.websites.size > before ? true : undefined), 60_000);
      return server.kill('SIGKILL');
    };
    const killed = strike();
    const load = async (lane: number): Promise<void> => {
      for (let step = 0; ; step += 1) await oneWrite(api, acknowledged, round, lane, step);
    };
    const lanes = [0, 1, 2, 3].map((lane) => load(lane).catch((error: unknown) => error));
    expect(await killed).toBe('SIGKILL');
    // Each client ended because of a broken connection, not because of a response.
    for (const end of await Promise.all(lanes)) expect(String(end)).toMatch(/fetch failed|terminated|socket|other side closed/i);
  }

  const server = await startServer(dataDir);
  await expectAllThere(createApi(server.address, token), acknowledged, dataDir);
  for (const slug of acknowledged.websites.keys()) expect((await fetch(`${server.address}/sites/${slug}/`)).status).toBe(200);
  expect(await server.kill('SIGTERM')).toBe(0);
}, 240_000);

const oneWrite = async (api: Api, acknowledged: Acknowledged, round: number, lane: number, step: number): Promise<void> => {
  const unique = `${String(round)}-${String(lane)}-${String(step)}`;
  const websites = [...acknowledged.websites.values()];
  const some = websites[Math.floor(chance() * websites.length)];
  // A website in every second round, so that the list fits on one page and every restart finds
  // unfinished ones.
  if (some === undefined || (lane === 0 && step === 0 && round % 2 === 0)) await createWebsite(api, acknowledged, unique);
  else if (lane === 1) await invite(api, acknowledged, some.id, unique);
  else await relabel(api, acknowledged, some.id, unique);
};
