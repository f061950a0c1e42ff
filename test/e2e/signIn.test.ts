import { afterAll, beforeAll, expect, test } from '@jest/globals';
import * as client from 'openid-client';
import { eventually } from '../support/eventually.js';
import { freePort } from '../support/fleet.js';
import { launchServer, type Launched } from '../support/server.js';
import { beginSignIn, createBrowser, discover, finishSignIn, type Page, type Place } from '../support/signIn.js';
import { temporaryFolder } from '../support/temporary.js';

/**
 * Two processes behind one address, killed at various moments: people who are signing in, or are
 * signed in, notice nothing.
 */

const dataDir = temporaryFolder();
const baseUrl = 'https://doorstep.localhost';
const callback = `${baseUrl}/auth/callback`;

interface Member {
  readonly port: number;
  process: Launched;
}

const members: Member[] = [];
/** The process that gets the next request. */
let turn = 0;
const addressOf = (index: number): string => `http://127.0.0.1:${String(members[index]?.port)}`;
const place: Place = { baseUrl, via: () => addressOf(turn) };

const launch = (port: number): Launched =>
  launchServer(dataDir, { PORT: String(port), BASE_URL: baseUrl, PROCESS_ROLES: 'api', LOG_LEVEL: 'info' });

const restart = async (index: number): Promise<void> => {
  const member = members[index];
  if (member === undefined) throw new Error('there is no such process');
  await member.process.kill('SIGKILL');
  member.process = launch(member.port);
  await member.process.opened;
};

beforeAll(async () => {
  for (const port of [await freePort(), await freePort()]) members.push({ port, process: launch(port) });
  await Promise.all(members.map(({ process }) => process.opened));
}, 60_000);

afterAll(async () => {
  await Promise.all(members.map(({ process }) => process.kill('SIGTERM')));
});

/** The newest sign-in link and code in a process's log. */
const loggedSignIn = (index: number): Promise<{ readonly link: string; readonly code: string }> =>
  eventually('the log contains a sign-in link', () => {
    const lines = members[index]?.process.written().split('\n') ?? [];
    const line = lines.findLast((text) => text.includes('"code"'));
    return line === undefined ? undefined : (JSON.parse(line) as { link: string; code: string });
  });

const statusOfMe = async (index: number, accessToken: string): Promise<number> =>
  (await fetch(`${addressOf(index)}/me`, { headers: { authorization: `Bearer ${accessToken}` } })).status;

test('sign-in, sessions and limits survive the death of any process', async () => {
  const portal = await discover(place);
  const browser = createBrowser(place);
  const attempt = await beginSignIn(portal, callback);
  const first = await browser.get(attempt.url);
  turn = 1;
  const page = await browser.post(first.url, { email: 'ann@example.com' });
  expect(page.text).toContain('Look at your mail');
  const { code, link } = await loggedSignIn(1);

  await Promise.all([restart(0), restart(1)]);
  expect((await browser.get(link)).text).toContain('ann@example.com');
  turn = 0;
  const end = await browser.post(page.url, { code });
  turn = 1;
  const tokens = await finishSignIn(portal, attempt, end.url);
  expect(await Promise.all([statusOfMe(0, tokens.access_token), statusOfMe(1, tokens.access_token)])).toStrictEqual([200, 200]);

  await Promise.all([restart(0), restart(1)]);
  expect(await Promise.all([statusOfMe(0, tokens.access_token), statusOfMe(1, tokens.access_token)])).toStrictEqual([200, 200]);
  turn = 0;
  const refreshed = await client.refreshTokenGrant(portal, tokens.refresh_token ?? '');
  turn = 1;
  await expect(client.refreshTokenGrant(portal, tokens.refresh_token ?? '')).rejects.toMatchObject({ error: 'invalid_grant' });
  expect(await statusOfMe(1, refreshed.access_token)).toBe(200);
  const again = await beginSignIn(portal, callback);
  expect((await finishSignIn(portal, again, (await browser.get(again.url)).url)).claims()?.sub).toBe(tokens.claims()?.sub);
}, 60_000);

test('of concurrent uses of a code at both, one signs in; guesses are counted together', async () => {
  turn = 0;
  const portal = await discover(place);
  const browser = createBrowser(place);
  const ask = async (email: string): Promise<string> => {
    turn = 0;
    const first = await browser.get((await beginSignIn(portal, callback)).url);
    return (await browser.post(first.url, { email })).url;
  };
  const atBoth = (url: string, times: number, code: string): Promise<Page[]> =>
    Promise.all(
      Array.from({ length: times }, (_, index) => {
        turn = index % 2;
        return browser.post(url, { code });
      }),
    );

  const guesses = await atBoth(await ask('eve@example.com'), 12, 'not it');
  expect(guesses.filter(({ status }) => status === 400)).toHaveLength(5);
  expect(guesses.filter(({ status }) => status === 429)).toHaveLength(7);

  await restart(0);
  const url = await ask('bob@example.com');
  const { code } = await loggedSignIn(0);
  const ends = await atBoth(url, 4, code);
  expect(ends.filter((end) => end.url.startsWith(callback))).toHaveLength(1);
}, 60_000);
