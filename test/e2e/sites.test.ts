import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { createEmbeddedHosting } from '../../src/integrations/hosting/embedded.js';
import { createEmbeddedSourceHost } from '../../src/integrations/sourceHost/embedded.js';
import { systemClock } from '../../src/platform/clock.js';
import { createScan } from '../../src/workers/seo/scan.js';
import { commitTo, git, serveSites } from '../contracts/hostingSites.js';
import { hasChromium, startChromium } from '../support/chromium.js';
import { siteBuilder } from '../support/siteBuilder.js';
import { temporaryFolder } from '../support/temporary.js';
import { createTestClock } from '../support/testClock.js';
import { repositoryIn } from '../support/folders.js';

const templatesFolder = join(process.cwd(), 'templates');
const templates = readdirSync(templatesFolder, { withFileTypes: true }).flatMap((entry) =>
  entry.isDirectory() ? entry.name : [],
);
const clock = createTestClock();
const name = `O'Neil & "Söns" </script><Ltd> 🥖\\`;
const escaped = 'O&#39;Neil &amp; &#34;Söns&#34; &lt;/script&gt;&lt;Ltd&gt; 🥖\\';

interface Page {
  readonly address: string;
  readonly status: number;
  readonly html: string;
}

const folder = temporaryFolder();
const sourceHost = createEmbeddedSourceHost({ folder: join(folder, 'repositories'), templatesFolder, clock });
const hosting = createEmbeddedHosting({ folder: join(folder, 'sites'), publicUrl: () => base, builder: siteBuilder, clock });
let base = '';

/** Creates a website as provisioning does; returns its address. */
const provision = async (slug: string, templateId: string, color?: string, siteName = name): Promise<string> => {
  const description = `Website of ${slug}`;
  const repository = await sourceHost.createRepository({ name: slug, templateId, marker: slug, description });
  const { id, url } = await hosting.createProject({ name: slug, marker: slug, repository });
  const variables = {
    SITE_NAME: siteName,
    SITE_SLUG: slug,
    SITE_URL: url,
    ...(color === undefined ? {} : { SITE_COLOR: color }),
  };
  await hosting.setVariables(id, variables);
  expect(await hosting.deploy(id, slug)).toMatchObject({ status: 'ready' });
  return url;
};

/** Commits `files` to a website's repository and deploys. */
const change = async (slug: string, files: Readonly<Record<string, string>>): Promise<void> => {
  const repository = await sourceHost.findRepository({ name: slug, marker: slug });
  if (repository === null) throw new Error(`There is no website ${slug}`);
  expect(await hosting.deploy(slug, commitTo(repository, files))).toMatchObject({ status: 'ready' });
};

/** Replaces the words of a website, wherever its template has them in `_data/`, and deploys. */
const edit = async (slug: string, replace: (words: string, field: string) => string): Promise<void> => {
  const gitdir = repositoryIn(folder, slug);
  const paths = git(gitdir, ['ls-tree', '-r', '--name-only', 'main', '_data']).split('\n');
  const words = paths.filter((path) => path !== '_data/site.json');
  const edited = words.map((path) => {
    const data: unknown = JSON.parse(git(gitdir, ['show', `main:${path}`]));
    const isKey = (field: string): boolean => ['id', 'path'].includes(field);
    return [
      path,
      JSON.stringify(data, (field, value: unknown) =>
        typeof value === 'string' && !isKey(field) ? replace(value, field) : value,
      ),
    ] as const;
  });
  await change(slug, Object.fromEntries(edited));
};

beforeAll(async () => {
  base = await serveSites(() => hosting.handlers.belowSites);
});

const read = async (address: string): Promise<Page> => {
  const response = await fetch(address);
  return { address, status: response.status, html: await response.text() };
};

const attributes = (html: string, attribute: string): string[] =>
  [...html.matchAll(new RegExp(`\\s${attribute}="([^"]*)"`, 'g'))].map(([, value = '']) => value);

const data = /<script type="application\/ld\+json">([^<]*)<\/script>/g;
/** The structured data of a page, which browsers do not execute. */
const dataIn = (html: string): string[] => [...html.matchAll(data)].map(([, text = '']) => text);
const withoutData = (html: string): string => html.replaceAll(data, '');

/** The targets of a page's links and files within the site, without mail and telephone. */
const targets = ({ address, html }: Page): URL[] =>
  [...attributes(html, 'href'), ...attributes(html, 'src')]
    .map((target) => new URL(target, address))
    .filter(({ protocol }) => protocol !== 'mailto:' && protocol !== 'tel:');

/** Every page that is reachable from the home page, and the 404 page. */
const crawl = async (home: string): Promise<Page[]> => {
  const pages = new Map<string, Page>();
  const visit = async (address: string): Promise<void> => {
    if (pages.has(address)) return;
    const page = await read(address);
    pages.set(address, page);
    for (const target of targets(page)) if (target.pathname.endsWith('/')) await visit(`${target.origin}${target.pathname}`);
  };
  await visit(home);
  await visit(`${home}no/such/page`);
  return [...pages.values()];
};

test('there are several templates, each with a name and a description', async () => {
  const listed = await sourceHost.listTemplates();
  expect(listed.map(({ id }) => id)).toEqual([...templates].sort());
  expect(listed.length).toBeGreaterThanOrEqual(2);
});

describe.each(templates)('the template %s', (template) => {
  let home = '';
  let pages: Page[] = [];
  beforeAll(async () => {
    home = await provision(`${template}-site`, template, '#FFF59D');
    pages = await crawl(home);
  });

  test('has no broken links', async () => {
    for (const page of pages) {
      expect([page.address, page.status]).toEqual([page.address, page.address.endsWith('no/such/page') ? 404 : 200]);
      for (const target of targets(page)) {
        expect(target.href.startsWith(home)).toBe(true);
        const response = await read(target.href);
        const expected = target.href.split('#')[0] === page.address ? page.status : 200;
        expect([target.href, response.status]).toEqual([target.href, expected]);
        if (target.hash !== '') expect(attributes(response.html, 'id')).toContain(target.hash.slice(1));
      }
    }
  });

  test('works under any address: its links are relative', () => {
    for (const { html, address } of pages.filter(({ status }) => status === 200)) {
      const links = [...attributes(html, 'href'), ...attributes(html, 'src')].filter((link) => !/^(mailto|tel):/.test(link));
      expect(links.filter((link) => link.startsWith('/') || (/^\w+:/.test(link) && link !== address))).toEqual([]);
    }
  });

  test('has no scripts and no inline styles, and loads nothing from other origins', async () => {
    const styles = await Promise.all(
      [...new Set(pages.flatMap(targets).map(({ href }) => href))].filter((href) => /\.(css|svg)\b/.test(href)).map(read),
    );
    expect(styles.length).toBeGreaterThan(1);
    for (const { html } of pages) expect(withoutData(html)).not.toMatch(/<script|<style|<iframe|\sstyle=|\son\w+=|http-equiv/i);
    for (const { html } of styles)
      expect(html.replaceAll('http://www.w3.org/2000/svg', '')).not.toMatch(/https?:|\/\/|@import|<script/i);
  });

  test('says the name of the website, as text', () => {
    for (const { html } of pages) {
      expect(html).toContain(escaped);
      expect(html).not.toContain(name);
    }
  });

  test('shows the brand colour', async () => {
    const css = await read(`${home}assets/theme.css`);
    expect(css.html).toContain('--brand: #fff59d;');
    expect((await read(`${home}assets/mark.svg`)).html).toContain('fill="#fff59d"');
  });

  test('has a default colour', async () => {
    const url = await provision(`${template}-plain`, template);
    expect((await read(`${url}assets/theme.css`)).html).toMatch(/--brand: #[0-9a-f]{6};/);
  });

  test('every page has what browsers, screen readers and search engines need', () => {
    const titles = pages.map(({ html }) => /<title>(.+)<\/title>/.exec(html)?.[1] ?? '');
    expect(titles).not.toContain('');
    expect(new Set(titles).size).toBe(pages.length);
    for (const { html, status, address } of pages) {
      expect(html).toMatch(/^<!doctype html>\n<html lang="en">/);
      expect(html).toMatch(/<meta charset="utf-8">/);
      expect(html).toMatch(/<meta name="viewport" content="width=device-width, initial-scale=1">/);
      expect(html).toMatch(/<meta name="description" content=".{40,}">/);
      for (const property of ['type', 'site_name', 'title', 'description'])
        expect(html).toMatch(new RegExp(`<meta property="og:${property}" content=".+">`));
      expect(html).toMatch(/<link rel="icon" href="[^"]+" type="image\/svg\+xml">/);
      if (status === 200) expect(html).toContain(`<link rel="canonical" href="${address}">`);
      else expect(html).toContain('<meta name="robots" content="noindex">');

      expect(html.match(/<h1[ >]/g)).toHaveLength(1);
      expect(html.match(/<main[ >]/g)).toHaveLength(1);
      expect(/<body>\s*<a [^>]*href="([^"]*)"/.exec(html)?.[1]).toBe('#content');
      const levels = [...html.matchAll(/<h([1-6])[ >]/g)].map(([, level]) => Number(level));
      levels.forEach((level, index) => {
        expect(level).toBeLessThanOrEqual((levels[index - 1] ?? 0) + 1);
      });
      const ids = attributes(html, 'id');
      expect(new Set(ids).size).toBe(ids.length);
      for (const id of attributes(html, 'aria-labelledby')) expect(ids).toContain(id);
      for (const svg of html.match(/<svg[^>]*>/g) ?? []) expect(svg).toContain('aria-hidden="true"');
      expect(html).not.toMatch(/lorem ipsum|\{\{|\{%|undefined|\[object/i);
    }
  });

  test('has structured data about the business, once', () => {
    const blocks = pages.flatMap(({ html }) => dataIn(html));
    expect(blocks.map((text) => JSON.parse(text) as unknown)).toStrictEqual([
      {
        '@context': 'https://schema.org',
        '@graph': [
          { '@type': 'Organization', '@id': `${home}#organization`, name, url: home },
          {
            '@type': 'WebSite',
            '@id': `${home}#website`,
            name,
            url: home,
            inLanguage: 'en',
            publisher: { '@id': `${home}#organization` },
          },
        ],
      },
    ]);
  });

  test('is for search engines once its words are its own', async () => {
    const servedSiteUrl = (asked: URL): URL | null => (asked.href.startsWith(`${base}/sites/`) ? asked : null);
    const scan = createScan({ clock: systemClock, servedSiteUrl, llm: undefined });
    const slug = `${template}-bakery`;
    const url = await provision(slug, template, undefined, 'Corner Bakery');
    const robotsOf = async (path: string) => (await fetch(`${url}${path}`)).headers.get('x-robots-tag');

    for (const path of ['', 'assets/site.css', 'no/such/page']) expect([path, await robotsOf(path)]).toEqual([path, 'noindex']);
    const unedited = await scan({ url, name: 'Corner Bakery' });
    expect(unedited.findings.map(({ rule, affected }) => [rule, affected])).toEqual([
      ['noindex', unedited.pages],
      ['placeholder', unedited.pages],
    ]);
    // They can only read that when they are let in.
    expect((await read(`${url}robots.txt`)).html).toContain('Allow: /');

    await change(slug, {});
    expect(await robotsOf('')).toBe('noindex');

    const placeholders = /hello@example\.com|\+1 ?555 ?0100|Second floor/;
    await edit(slug, (words) => words.replace(placeholders, 'Leeds'));
    expect(await robotsOf('')).toBeNull();
    expect(await scan({ url, name: 'Corner Bakery' })).toMatchObject({ findings: [], score: 100, complete: true });
  });

  (hasChromium ? test : test.skip)('has no line that is wider than a phone of 320 pixels, whatever the words', async () => {
    const longest = 'Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft';
    const slug = `${template}-long`;
    const url = await provision(slug, template, undefined, longest);
    await edit(slug, (words, field) => {
      if (field === 'phoneLink') return words;
      return field === 'email' ? `${longest}@${longest}.de` : `${longest} ${words}`;
    });
    const chromium = await startChromium();
    try {
      const tab = await chromium.newPage({ viewport: { width: 320, height: 640 } });
      for (const { address } of await crawl(url)) {
        await tab.goto(address);
        expect([address, await tab.evaluate('document.documentElement.scrollWidth')]).toEqual([address, 320]);
      }
    } finally {
      await chromium.close();
    }
  });

  test('lists its pages in the sitemap, and not its internal files', async () => {
    const sitemap = await read(`${home}sitemap.xml`);
    const listed = [...sitemap.html.matchAll(/<loc>(.*?)<\/loc>/g)].map(([, address]) => address);
    expect(listed.sort()).toEqual(
      pages
        .filter(({ status }) => status === 200)
        .map(({ address }) => address)
        .sort(),
    );
    expect((await read(`${home}robots.txt`)).html).toContain(`Sitemap: ${home}sitemap.xml`);
    for (const path of ['template.json', 'README.md', '_data/site.json', '_layouts/page.liquid', 'index.html.liquid'])
      expect((await read(`${home}${path}`)).status).toBe(404);
  });
});
