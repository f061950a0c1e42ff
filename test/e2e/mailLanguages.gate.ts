import { expect, test } from '@jest/globals';
import type { OutboxMail } from '../../src/integrations/email/port.js';
import { eventually } from '../support/eventually.js';
import { freePort } from '../support/fleet.js';
import { createApi, mintToken, startServer } from '../support/server.js';
import { beginSignIn, codeIn, createBrowser, discover, finishSignIn } from '../support/signIn.js';
import { temporaryFolder } from '../support/temporary.js';

test('mails speak the language of the agency, and then that in which their recipient signed in', async () => {
  const dataDir = temporaryFolder();
  const baseUrl = 'https://doorstep.localhost';
  const port = await freePort();
  await startServer(dataDir, { BRAND_LANGUAGE: 'de', BRAND_NAME: 'Corner Studio', BASE_URL: baseUrl, PORT: String(port) });
  const address = `http://127.0.0.1:${String(port)}`;
  const api = createApi(address, await mintToken(dataDir));
  const { id } = (await api.post('/websites', { name: 'Bakery', slug: 'bakery' })).body as { id: string };
  const people = ['ada@example.com', 'ben@example.com'] as const;
  const invite = async (email: string): Promise<string> =>
    ((await api.post(`/websites/${id}/clients`, { email, role: 'viewer' })).body as { invitation: { id: string } }).invitation.id;
  const [ada, ben] = [await invite(people[0]), await invite(people[1])];
  const mailsTo = (email: string, count: number): Promise<readonly OutboxMail[]> =>
    eventually(`${String(count)} mails to ${email}`, async () => {
      const mails = (await api.get(`/outbox?to=${encodeURIComponent(email)}`)).body as readonly OutboxMail[];
      return mails.length === count ? mails : undefined;
    });
  const subjectsOf = (mails: readonly OutboxMail[]): readonly string[] => mails.map(({ subject }) => subject).toSorted();
  const german = 'Sie sind zu Bakery eingeladen';
  for (const email of people) expect(subjectsOf(await mailsTo(email, 1))).toEqual([german]);

  const place = { baseUrl, via: () => address };
  const portal = await discover(place);
  const browser = createBrowser(place, 'en-GB, en;q=0.9, de;q=0.5');
  const attempt = await beginSignIn(portal, `${baseUrl}/app/callback`);
  const page = await browser.post((await browser.get(attempt.url)).url, { email: people[0] });
  const english = 'Sign in to Corner Studio';
  const mail = (await mailsTo(people[0], 2)).find(({ subject }) => subject === english);
  if (mail === undefined) throw new Error('no mail in English was sent');
  await finishSignIn(portal, attempt, (await browser.post(page.url, { code: codeIn(mail) })).url);

  await api.post(`/websites/${id}/client-invitations/${ada}/resend`);
  await api.post(`/websites/${id}/client-invitations/${ben}/resend`);
  expect(subjectsOf(await mailsTo(people[0], 3))).toEqual([german, english, 'You are invited to Bakery']);
  expect(subjectsOf(await mailsTo(people[1], 2))).toEqual([german, german]);
});
