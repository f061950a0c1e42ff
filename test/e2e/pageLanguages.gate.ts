import { join } from 'node:path';
import { AxeBuilder } from '@axe-core/playwright';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import type { Browser, Page } from 'playwright-core';
import type { EmailSender, Outbox } from '../../src/integrations/email/port.js';
import { schemes } from '../../src/platform/brand.js';
import type { Hex } from '../../src/platform/colour.js';
import { languages, textsOf, type Language } from '../../src/platform/texts/texts.js';
import { composeInvitationMail } from '../../src/workers/invitationMail/invitationMail.js';
import { hasChromium, startChromium } from '../support/chromium.js';
import { startApi, type RunningApi } from '../support/http.js';
import { createTestIdentity } from '../support/identity.js';
import { lookOf } from '../support/mails.js';
import { createTestOutbox, newestMail } from '../support/outbox.js';
import { codeIn, linkIn } from '../support/signIn.js';
import { temporaryFolder } from '../support/temporary.js';

jest.setTimeout(120_000);

/** Too pale for text in the light scheme, and too dark in the dark one. */
const colours: readonly Hex[] = ['#fff59d', '#101010'];
const withBrowser = hasChromium ? describe : describe.skip;
const cases = colours.flatMap((color, index) =>
  schemes.map((scheme, other) => [color, languages[(index + other) % 2] ?? 'en', scheme] as const),
);

withBrowser('every page of sign-in, and its mails', () => {
  let outbox: EmailSender & Outbox;
  let chromium: Browser;
  const apis = new Map<Hex, RunningApi>();

  beforeAll(async () => {
    outbox = createTestOutbox({ folder: join(temporaryFolder(), 'outbox') });
    for (const color of colours) {
      const api = await startApi({
        projector: false,
        signIn: (engine, baseUrl) =>
          createTestIdentity(engine, {
            email: outbox,
            brand: { ...lookOf().brand, name: 'Donaudampfschifffahrtsgesellschaft & Söhne', color },
            baseUrl,
          }),
      });
      apis.set(color, api);
    }
    chromium = await startChromium();
  });
  afterAll(() => chromium.close());

  /**
   * axe finds nothing, in the language, and nothing needs horizontal scrolling at 320 px.
   * @param rules of a mail, which is no page with landmarks
   */
  const looksRight = async (page: Page, language: Language, rules?: string[]): Promise<void> => {
    expect(await page.locator('html').getAttribute('lang')).toBe(language);
    const axe = new AxeBuilder({ page }).setLegacyMode();
    const { violations } = await (rules === undefined ? axe : axe.withTags(rules)).analyze();
    expect(
      violations.map(
        ({ id, nodes }) => `${id}: ${nodes.map(({ html, failureSummary = '' }) => `${html} ${failureSummary}`).join(' ')}`,
      ),
    ).toStrictEqual([]);
    const overflow = await page.evaluate<number>('document.documentElement.scrollWidth - document.documentElement.clientWidth');
    expect(overflow).toBeLessThanOrEqual(0);
  };

  test.each(cases)('with %s, in %s, %s, on a narrow phone', async (color, language, colorScheme) => {
    const api = apis.get(color);
    if (api === undefined) throw new Error('not started');
    const context = await chromium.newContext({ locale: language, colorScheme, viewport: { width: 320, height: 640 } });
    const elsewhere = await chromium.newContext({ locale: language, colorScheme, viewport: { width: 320, height: 640 } });
    const page = await context.newPage();
    page.setDefaultTimeout(20_000);
    const texts = textsOf(language);
    const email = `${color.slice(1)}-${language}-${colorScheme}-with-a-long-name@a-long-domain.example.com`;
    const submit = (name: string): Promise<void> => page.getByRole('button', { name, exact: true }).click();
    const reads = async (heading: string, at = page): Promise<void> => {
      await at.getByRole('heading', { level: 1, name: heading, exact: true }).waitFor();
      await looksRight(at, language);
    };

    const url = new URL(`${api.url}/oidc/authorize`);
    url.search = new URLSearchParams({
      client_id: 'doorstep-portal',
      response_type: 'code',
      scope: 'openid email',
      redirect_uri: `${api.url}/auth/callback`,
      code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
      code_challenge_method: 'S256',
    }).toString();
    await page.goto(url.href);
    await reads(texts.address.title);
    await page.getByLabel(texts.address.label).fill('nobody');
    await submit(texts.address.send);
    await page.getByRole('alert').waitFor();
    await reads(texts.address.title);
    await page.getByLabel(texts.address.label).fill(email);
    await submit(texts.address.send);
    await reads(texts.code.title);
    await page.getByLabel(texts.code.label).fill('1');
    await submit(texts.code.signIn);
    await page.getByRole('alert').waitFor();
    await reads(texts.code.title);

    const mail = await newestMail(outbox, email);
    const other = await elsewhere.newPage();
    await other.goto(linkIn(mail));
    await reads(texts.unusableLink.title, other);
    const invitation = await composeInvitationMail(
      {
        invitation: { kind: 'client_access', role: 'editor', expiresAt: '2026-12-22T00:00:00.000Z' },
        websiteName: 'Bäckerei-am-Marktplatz-mit-einem-langen-Namen',
        link: `${api.url}/app/invitations/${'0123456789'.repeat(4)}`,
      },
      language,
      lookOf({ color }),
    );
    for (const { html } of [mail, invitation]) {
      // The policy of a page that was open before would forbid the mail's styles.
      const opened = await elsewhere.newPage();
      await opened.setContent(html);
      await looksRight(opened, language, ['wcag2a', 'wcag2aa', 'wcag21aa', 'wcag22aa']);
    }

    const tab = await context.newPage();
    await tab.goto(linkIn(mail));
    await reads(texts.link.title, tab);
    await tab.close();
    await page.getByLabel(texts.code.label).fill(codeIn(mail));
    await submit(texts.code.signIn);
    await page.waitForURL(/\/auth\/callback\?code=/);
    await page.goto(linkIn(mail));
    await reads(texts.unusableLink.title);

    const device = (await (
      await fetch(`${api.url}/oidc/device/auth`, {
        method: 'POST',
        body: new URLSearchParams({ client_id: 'doorstep-cli', scope: 'openid email' }),
      })
    ).json()) as { user_code: string; verification_uri_complete: string };
    await page.goto(device.verification_uri_complete);
    await reads(texts.deviceCode.title);
    await page.getByLabel(texts.deviceCode.label).fill('BBBB-BBBB');
    await submit(texts.deviceCode.goOn);
    await page.getByText(texts.deviceCode.unknown).waitFor();
    await reads(texts.deviceCode.title);
    await page.getByLabel(texts.deviceCode.label).fill(device.user_code);
    await submit(texts.deviceCode.goOn);
    await reads(texts.deviceConfirm.title);
    await submit(texts.deviceConfirm.deny);
    await reads(texts.deviceDenied.title);
    await page.goto(`${api.url}/oidc/authorize?client_id=nobody`);
    await reads(texts.refused.title);
    await page.goto(`${api.url}/oidc/sign-out`);
    await reads(texts.signOut.title);
    await submit(texts.signOut.signOut);
    await reads(texts.signedOut.title);
    await context.close();
    await elsewhere.close();
  });
});
