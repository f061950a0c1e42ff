import { readFileSync } from 'node:fs';
import { AxeBuilder } from '@axe-core/playwright';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { openDemo } from '../../scripts/portal/seat.mjs';
import { visits, type Visit, type Visitor } from '../../scripts/portal/visits.mjs';
import { hasChromium } from '../support/chromium.js';
import { transitionsEnd } from '../support/portal.js';
import { temporaryFolder } from '../support/temporary.js';

jest.setTimeout(300_000);

const widths = [320, 768, 1280];
const schemes = ['light', 'dark'] as const;
const paths = JSON.parse(readFileSync(new URL('../../portal/src/paths.json', import.meta.url), 'utf8')) as Record<string, string>;

/** WCAG 2.2 AA, and what axe knows of good practice. */
const tags = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];

const withBrowser = hasChromium ? describe : describe.skip;

withBrowser('every page of the portal, in every state that the demo has', () => {
  let demo: Awaited<ReturnType<typeof openDemo>>;
  const windows = new Map<Visitor | null, Page>();
  const complaints: string[] = [];
  const elsewhere: string[] = [];

  beforeAll(async () => {
    demo = await openDemo(temporaryFolder());
  });
  afterAll(() => demo.close());

  const windowOf = async (who: Visitor | null): Promise<Page> => {
    const open = windows.get(who);
    if (open !== undefined) return open;
    const page = await demo.openWindow(who);
    page.on('console', (message) => {
      // What the service refuses, browsers report as an error too; the page says it in words.
      if (message.type() === 'error' && !message.text().startsWith('Failed to load resource')) complaints.push(message.text());
    });
    page.on('pageerror', (error) => complaints.push(error.message));
    page.on('request', (request) => {
      if (new URL(request.url()).origin !== demo.address && /^https?:/.test(request.url())) elsewhere.push(request.url());
    });
    windows.set(who, page);
    return page;
  };

  const violationsOf = async (page: Page): Promise<readonly string[]> => {
    const { violations } = await new AxeBuilder({ page }).withTags(tags).setLegacyMode().analyze();
    return violations.map(
      ({ id, nodes }) => `${id}: ${nodes.map(({ html, failureSummary = '' }) => `${html} (${failureSummary})`).join(' ')}`,
    );
  };

  /** How far the page scrolls sideways, in CSS pixels. */
  const overflowOf = (page: Page): Promise<number> =>
    page.evaluate<number>('document.documentElement.scrollWidth - document.documentElement.clientWidth');

  test('the visits leave no page out', () => {
    const patterns = Object.entries(paths).map(
      ([page, path]) => [page, new RegExp(`^${path.replaceAll(/:\w+/g, '[^/]+')}$`)] as const,
    );
    const missed = patterns.filter(([, pattern]) => !visits.some(({ path }) => pattern.test(path.split('?')[0] ?? '')));
    expect(missed.map(([page]) => page)).toEqual([]);
  });

  test.each(visits.map((visit): [string, Visit] => [visit.name, visit]))('%s', async (_name, visit) => {
    complaints.length = 0;
    elsewhere.length = 0;
    const page = await windowOf(visit.who);
    await page.setViewportSize({ width: 1280, height: 800 });
    await demo.open(page, visit);
    const found: Record<string, unknown> = {};
    for (const width of widths) {
      await page.setViewportSize({ width, height: 800 });
      const overflow = await overflowOf(page);
      if (overflow > 0) found[`overflow at ${width}`] = overflow;
      for (const colorScheme of schemes) {
        await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
        await transitionsEnd(page);
        const violations = await violationsOf(page);
        if (violations.length > 0) found[`axe at ${width}, ${colorScheme}`] = violations;
      }
    }
    // A window of 1280 at 200 %.
    await page.setViewportSize({ width: 640, height: 400 });
    const zoomed = await overflowOf(page);
    if (zoomed > 0) found['overflow at 200 %'] = zoomed;
    expect({ found, complaints, elsewhere }).toEqual({ found: {}, complaints: [], elsewhere: [] });
  });
});
