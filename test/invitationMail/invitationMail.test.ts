import { describe, expect, test } from '@jest/globals';
import { paletteOf, type Brand } from '../../src/platform/brand.js';
import { languages, type Language } from '../../src/platform/texts/texts.js';
import { composeInvitationMail, type Invited } from '../../src/workers/invitationMail/invitationMail.js';
import { lookOf } from '../support/mails.js';

const link = 'https://doorstep.example/invitations/01abc?x=1&y=2';

const compose = (changes: Partial<Invited> = {}, language: Language = 'en', brand: Partial<Brand> = {}) =>
  composeInvitationMail(
    {
      invitation: { kind: 'client_access', role: 'viewer', expiresAt: '2026-03-01T23:30:00.000Z' },
      websiteName: 'Corner Bakery',
      link,
      ...changes,
    },
    language,
    lookOf(brand),
  );

describe('an invitation mail', () => {
  test.each([
    ['en', 'You are invited to Corner Bakery', '1 March 2026'],
    ['de', 'Sie sind zu Corner Bakery eingeladen', '1. März 2026'],
  ] as const)(
    'says in %s what it is about, leads to the invitation and says how long it holds, in both bodies',
    async (language, heading, until) => {
      const { subject, html, text } = await compose({}, language, { name: 'Corner Studio' });
      expect(subject).toBe(heading);
      for (const body of [html, text]) {
        expect(body).toContain('Corner Studio');
        expect(body).toContain(until);
        expect(body).not.toMatch(/\[\[|\]\]|\{\{|\}\}|undefined|<mj-|<!--row/);
      }
      expect(text).toContain(`\n${link}\n`);
      expect(text).not.toMatch(/<\w/);
      const escaped = link.replace('&', '&amp;');
      expect([...html.matchAll(/href="([^"]+)"/g)].map(([, href]) => href)).toStrictEqual([escaped, escaped]);
      expect(html).toContain(`>${escaped}</a>`);
    },
  );

  test.each(languages)('in %s is readable by machines that read it aloud, and loads nothing from elsewhere', async (language) => {
    const { html, subject } = await compose({}, language);
    expect(html).toMatch(new RegExp(`<html[^>]* lang="${language}"`));
    expect(html).toContain(`<title>${subject}</title>`);
    expect(html).toMatch(new RegExp(`<h1[^>]*>\\s*${subject}`));
    expect(html).toContain('width=device-width');
    for (const [table] of html.matchAll(/<table[^>]*>/g)) expect(table).toContain('role="presentation"');
    expect(html).not.toMatch(/<img|<script|@import|<link|src=/);
  });

  test.each([
    ['viewer', 'client_access', /read its documents/, /edit its content|owner/],
    ['editor', 'client_access', /edit its content/, /owner/],
    [undefined, 'ownership_transfer', /become the owner/, /edit its content/],
  ] as const)('describes to a %s (%s) what they get', async (role, kind, says, saysNot) => {
    const { html, text } = await compose({
      invitation: { kind, ...(role !== undefined && { role }), expiresAt: '2026-03-01T00:00:00.000Z' },
    });
    for (const body of [html, text]) {
      expect(body).toMatch(says);
      expect(body).not.toMatch(saysNot);
    }
  });

  test("shows the agency's name, and its logo, in its colours, light and dark", async () => {
    const brand: Brand = { name: 'Fox & Sons', color: '#ffd400', logo: undefined };
    const light = paletteOf(brand, 'light');
    const { html } = await compose({}, 'en', brand);
    expect(html).toContain('>Fox &amp; Sons<');
    expect(html).toMatch(new RegExp(`background:${light.brand}[^>]*>[^<]*(?:<[^>]*>[^<]*)?Accept the invitation`));
    expect(html).toContain(`color:${light.brandInk}`);
    expect(html).toMatch(new RegExp(`\\.address a \\{\\s*color: ${light.brandText};`));
    expect(html).toMatch(/@media \(prefers-color-scheme: ?dark\)/);
    expect(html).toContain(paletteOf(brand, 'dark').brandText);
    expect(html).not.toMatch(/\[\[|#0a0b0|Doorstep/);

    const logo = 'https://fox.example/logo.png?a=1&b="2"';
    const pictured = await compose({}, 'en', { ...brand, logo });
    expect(pictured.html).toContain('<img src="https://fox.example/logo.png?a=1&amp;b=&quot;2&quot;" alt=""');
    expect(pictured.html).toContain('>Fox &amp; Sons<');
  });

  test('takes a name for nothing but text', async () => {
    const { subject, html } = await compose({ websiteName: `<img src=x onerror="alert('1')"> & [[link]] {{brand}} $& {{x}}` });
    expect(html).not.toContain('<img');
    expect(html).toContain('&lt;img src=x onerror=&quot;alert(&#39;1&#39;)&quot;&gt; &amp; [[link]] {{brand}} $&amp; {{x}}');
    expect(subject).toBe(`You are invited to <img src=x onerror="alert('1')"> & [[link]] {{brand}} $& {{x}}`);
  });

  test.each([
    ['line breaks', 'Bakery\r\nBcc: eve@example.com', 'You are invited to Bakery Bcc: eve@example.com'],
    ['other breaks and controls', 'Ba\u2028ke\u0000ry\u0085', 'You are invited to Ba ke ry'],
  ])('keeps %s out of the subject', async (_, websiteName, subject) => {
    expect((await compose({ websiteName })).subject).toBe(subject);
  });

  test('shortens a subject that would be too long, between characters', async () => {
    const { subject, html } = await compose({ websiteName: '🥐'.repeat(200) });
    expect(Array.from(subject)).toHaveLength(150);
    expect(subject).toMatch(/🥐…$/u);
    expect(html).toContain('🥐'.repeat(200));
  });
});
