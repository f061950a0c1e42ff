import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import type { SeoScanResult } from '../../src/events/seo/seo.events.js';
import { ProviderFault } from '../../src/integrations/fault.js';
import { createEmbeddedHosting } from '../../src/integrations/hosting/embedded.js';
import { createEmbeddedSourceHost } from '../../src/integrations/sourceHost/embedded.js';
import type { LlmGateway, LlmQuestion } from '../../src/integrations/llm/port.js';
import { systemClock } from '../../src/platform/clock.js';
import { createScan } from '../../src/workers/seo/scan.js';
import { serveSites } from '../contracts/hostingSites.js';
import { hastyClock } from '../support/provider.js';
import { siteBuilder } from '../support/siteBuilder.js';
import { temporaryFolder } from '../support/temporary.js';
import { filesAt, startWebsite, type ServePage } from '../workers/websites.js';

const address = '127.0.0.2';
const host = 'bakery.example';

/** Scans a website at 127.0.0.2, which counts as a public address here. */
const scanOf = async (serve: ServePage, llm?: LlmGateway): Promise<SeoScanResult> => {
  const { port } = await startWebsite(serve, address);
  const scan = createScan({
    clock: hastyClock(),
    servedSiteUrl: () => null,
    resolve: () => Promise.resolve([{ address, family: 4 }]),
    isPublic: (other) => other === address,
    llm,
  });
  const result = await scan({ url: `http://${host}:${port}/`, name: 'Corner Bakery' });
  // The port differs each time.
  return JSON.parse(JSON.stringify(result).replaceAll(`:${port}`, '')) as SeoScanResult;
};

const description = 'Sourdough bread, rolls and cakes from our own oven in Leeds, every morning from six.';
const data =
  '<script type="application/ld+json">{"@context":"https://schema.org","@type":"Bakery","name":"Corner Bakery"}</script>';

/** A page without findings, except for the given changes. */
const pageAt =
  (path: string, changes: { title?: string; description?: string; head?: string; body?: string; html?: string } = {}) =>
  (request: Parameters<ServePage>[0]): string => {
    const origin = `http://${request.headers.host ?? ''}`;
    const { title = `Page ${path} of the Corner Bakery`, head = `<link rel="canonical" href="${origin}${path}">${data}` } =
      changes;
    return `<!doctype html><html ${changes.html ?? 'lang="en"'}><head><title>${title}</title>
      <meta name="description" content="${changes.description ?? `${path}: ${description}`}">${head}</head>
      <body>${changes.body ?? '<h1>Bread</h1><h2>Opening hours</h2><a href="/about">About us</a><img src="/b.png" alt="A loaf">'}</body></html>`;
  };

type Content = ((request: Parameters<ServePage>[0]) => string) | Parameters<typeof filesAt>[0][string];

const sitemapOf = (...paths: readonly string[]): Content => {
  const locations = (request: Parameters<ServePage>[0]) =>
    paths.map((path) => `<url><loc>http://${request.headers.host ?? ''}${path}</loc></url>`).join('');
  return (request) =>
    `<?xml version="1.0"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">${locations(request)}</urlset>`;
};

const goodSite: Readonly<Record<string, Content>> = {
  '/': pageAt('/'),
  '/about': pageAt('/about'),
  '/robots.txt': { headers: { 'content-type': 'text/plain' }, body: 'User-agent: *\nDisallow: /admin\nSitemap: /sitemap.xml' },
  '/sitemap.xml': sitemapOf('/', '/about'),
};

const serving =
  (files: Readonly<Record<string, Content>>): ServePage =>
  (request, response) => {
    const file = files[request.url ?? ''];
    filesAt(file === undefined ? {} : { [request.url ?? '']: typeof file === 'function' ? file(request) : file })(
      request,
      response,
    );
  };

const rulesOf = ({ findings }: SeoScanResult): string[] => findings.map(({ rule }) => rule);

describe('a scan', () => {
  test('has no findings for a good site', async () => {
    expect(await scanOf(serving(goodSite))).toStrictEqual({
      url: `http://${host}/`,
      score: 100,
      pages: 2,
      complete: true,
      findings: [],
      probes: { status: 'notConfigured', answers: [] },
    });
  });

  const about = (changes: Parameters<typeof pageAt>[1]): Record<string, Content> => ({ '/about': pageAt('/about', changes) });
  const withRules = (rules: string[]): Record<string, Content> => ({
    '/about': { headers: { 'x-robots-tag': rules }, body: pageAt('/about')({ headers: {} } as never) },
  });
  const canonical = `<link rel="canonical" href="http://${host}/about">`;

  test.each<[string, Record<string, Content>]>([
    ['noindex', withRules(['noindex'])],
    ['noindex', withRules(['otherbot: nofollow', 'noindex'])],
    ['noindex', about({ head: '<meta name="ROBOTS" content="none">' })],
    ['placeholder', about({ body: '<h1>Bread</h1><p>Write to HELLO@Example.com' })],
    ['placeholder', about({ body: '<h1>Bread</h1><a href="mailto:ada@mail.example.org">Mail</a>' })],
    ['placeholder', about({ body: '<h1>Bread</h1>+1 555 0100' })],
    ['placeholder', about({ body: '<h1>Bread</h1>(212) 555-0123' })],
    ['placeholder', about({ body: '<h1>Bread</h1><a href="tel:+15550100">Call</a>' })],
    ['placeholder', about({ body: '<h1>Bread</h1><p>Lorem\nipsum dolor' })],
    ['placeholder', about({ body: '<h1>Bread</h1><address>Second floor<br>\nYour town' })],
    ['title-missing', about({ title: '' })],
    ['title-length', about({ title: 'About' })],
    ['title-length', about({ title: 'Bread '.repeat(20) })],
    ['title-several', about({ head: '<title>Another title of this page</title>' })],
    ['title-duplicate', about({ title: 'Page / of the Corner Bakery' })],
    ['description-missing', about({ description: '' })],
    ['description-length', about({ description: 'Bread' })],
    ['description-duplicate', about({ description: `/: ${description}` })],
    ['heading-missing', about({ body: '<h2>Bread</h2>' })],
    ['heading-several', about({ body: '<h1>Bread</h1><h1>Cake</h1>' })],
    ['heading-skipped', about({ body: '<h1>Bread</h1><h3>Rye</h3>' })],
    ['image-alternative-missing', about({ body: '<h1>Bread</h1><img src="/b.png">' })],
    ['canonical-missing', about({ head: '' })],
    ['canonical-wrong', about({ head: '<link rel="canonical" href="/about">' })],
    ['canonical-wrong', about({ head: canonical + canonical })],
    ['canonical-wrong', about({ head: '<link rel="canonical" href="https://other.example/about">' })],
    ['language-missing', about({ html: '' })],
    ['language-wrong', about({ html: 'lang="english language"' })],
    ['language-wrong', about({ head: '<link rel="alternate" hreflang="de" href="/de">' })],
    // The time that V8 takes for it grows with the square of its length.
    [
      'language-wrong',
      about({ html: `lang="de-${Array.from({ length: 200_000 }, (_, n) => String(10_000_000 + n)).join('-')}"` }),
    ],
    ['links-broken', about({ body: '<h1>Bread</h1><a href="/gone#now">Gone</a>' })],
    ['link-text-missing', about({ body: '<h1>Bread</h1><a href="/"><img src="/b.png" alt=""></a>' })],
    ['structured-data-invalid', about({ head: '<script type="application/ld+json">{"@type":</script>' })],
    ['structured-data-missing', { '/': pageAt('/', { head: '' }), ...about({ head: '' }) }],
    ['robots-missing', { '/robots.txt': { status: 404 }, '/sitemap.xml': sitemapOf('/') }],
    ['robots-shut-out', { '/robots.txt': { headers: { 'content-type': 'text/plain' }, body: 'User-agent: *\nDisallow: /' } }],
    ['sitemap-missing', { '/sitemap.xml': { status: 404 } }],
    ['sitemap-invalid', { '/sitemap.xml': '<html><p>Not found' }],
    ['sitemap-outdated', { '/sitemap.xml': sitemapOf('/', '/old') }],
  ])('finds %s, and lowers the score', async (rule, changes) => {
    const result = await scanOf(serving({ ...goodSite, ...changes }));
    const finding = result.findings.find((one) => one.rule === rule);
    expect([rule, finding]).toStrictEqual([rule, expect.objectContaining({ advice: expect.stringMatching(/\w{3}/) as unknown })]);
    expect(result.score).toBeLessThan(100);
    expect(result.score).toBeGreaterThan(50);
  });

  test('names the affected pages, and the page with a broken link', async () => {
    const { findings } = await scanOf(
      serving({ ...goodSite, ...about({ body: '<h1>Bread</h1><a href="/gone">Gone</a>', title: '' }) }),
    );
    expect(findings).toMatchObject([
      { rule: 'title-missing', severity: 'error', affected: 1, pages: [`http://${host}/about`] },
      { rule: 'links-broken', affected: 1, pages: [`http://${host}/gone (linked from http://${host}/about)`] },
    ]);
  });

  test('names the placeholders, each once', async () => {
    const body = '<h1>Bread</h1><a href="mailto:hello@example.com">hello@example.com</a> +1 555 0100';
    const { findings } = await scanOf(serving({ ...goodSite, ...about({ body }) }));
    expect(findings).toMatchObject([
      { rule: 'placeholder', affected: 1, pages: [`http://${host}/about (hello@example.com, +1 555 0100)`] },
    ]);
  });

  test('takes no real address or number for a placeholder', async () => {
    const real = 'ada@example.co.uk ada@bestexample.com ada@example.community +49 221 5550100 555 0199 +1 555 01000 Your town';
    const { findings } = await scanOf(serving({ ...goodSite, ...about({ body: `<h1>Bread</h1>${real}` }) }));
    expect(findings).toEqual([]);
  });

  test('reports many findings for a poor page, and still ends', async () => {
    const result = await scanOf((_, response) =>
      response.writeHead(200, { 'content-type': 'text/html' }).end('<p><a href="x"></a>'),
    );
    expect(result.score).toBeLessThan(40);
    expect(rulesOf(result)).toContain('title-missing');
  });

  test('stops at the limit of pages on an endless site, and follows robots.txt', async () => {
    const asked: string[] = [];
    const endless: ServePage = (request, response) => {
      const path = request.url ?? '';
      asked.push(path);
      if (path === '/robots.txt') {
        response.writeHead(200, { 'content-type': 'text/plain' }).end('User-agent: DoorstepBot\nDisallow: /private');
        return;
      }
      const links = Array.from({ length: 30 }, (_, index) => `<a href="${path}${index}/">x</a><a href="/private/${index}">y</a>`);
      response.writeHead(200, { 'content-type': 'text/html' }).end(`<title>${path}</title>${links.join('')}`);
    };
    expect(await scanOf(endless)).toMatchObject({ pages: 25, complete: false });
    expect(asked.filter((path) => path.startsWith('/private'))).toStrictEqual([]);
    expect(asked.length).toBeLessThan(30);
  });

  test('reads every page, though many links lead to what robots.txt forbids', async () => {
    const links = Array.from({ length: 70 }, (_, index) => `<a href="/admin/${String(index)}">x</a>`).join('');
    const site = serving({
      ...goodSite,
      '/': pageAt('/', { body: `<h1>Bread</h1>${links}<a href="/about">a</a><a href="/rolls">b</a><a href="/cakes">c</a>` }),
      '/rolls': pageAt('/rolls'),
      '/cakes': pageAt('/cakes'),
      '/sitemap.xml': sitemapOf('/'),
    });
    expect(await scanOf(site)).toMatchObject({ pages: 4, complete: true });
  });

  test('reads only the beginning of a long sitemap, because reading it holds other work up', async () => {
    const elsewhere = '<url><loc>http://a/</loc></url>'.repeat(65_000);
    const long = (request: Parameters<ServePage>[0]) =>
      `<urlset><url><loc>http://${request.headers.host ?? ''}/about</loc></url>${elsewhere}</urlset>`;
    const before = process.cpuUsage();
    const { findings, pages } = await scanOf(
      serving({ ...goodSite, '/sitemap.xml': long, '/': pageAt('/', { body: '<h1>Bread</h1>' }) }),
    );
    const { user } = process.cpuUsage(before);
    expect(pages).toBe(2);
    expect(findings.filter(({ rule }) => rule.startsWith('sitemap'))).toEqual([]);
    expect(user / 1_000).toBeLessThan(700);
  });

  test('ends in time on a slow site, with what it has found', async () => {
    const slow: ServePage = (request, response) => {
      // Each page except the home page times out, and the crawl has time for six timeouts.
      if (request.url !== '/') return;
      const links = Array.from({ length: 20 }, (_, index) => `<a href="/${index}">x</a>`);
      response.writeHead(200, { 'content-type': 'text/html' }).end(links.join(''));
    };
    expect(await scanOf(slow)).toMatchObject({ pages: 1, complete: false });
  });

  test.each([
    ['is not there', { status: 404 }, false],
    ['is in trouble', { status: 503 }, true],
    ['is no page', { headers: { 'content-type': 'application/pdf' } }, false],
  ])('of a site whose home page %s is a fault', async (_, home, transient) => {
    const fault: unknown = await scanOf(filesAt({ '/': home })).catch((error: unknown) => error);
    expect(fault).toBeInstanceOf(ProviderFault);
    expect(fault).toMatchObject({ transient });
  });

  test('of a site built and served here has few findings', async () => {
    const folder = temporaryFolder();
    const clock = systemClock;
    let base = '';
    const sourceHost = createEmbeddedSourceHost({
      folder: join(folder, 'repositories'),
      templatesFolder: join(process.cwd(), 'templates'),
      clock,
    });
    const hosting = createEmbeddedHosting({ folder: join(folder, 'sites'), publicUrl: () => base, builder: siteBuilder, clock });
    base = await serveSites(() => hosting.handlers.belowSites);
    const repository = await sourceHost.createRepository({
      name: 'bakery',
      templateId: 'business',
      marker: 'm',
      description: 'x',
    });
    const { id, url } = await hosting.createProject({ name: 'bakery', marker: 'm', repository });
    await hosting.setVariables(id, { SITE_NAME: 'Corner Bakery', SITE_SLUG: 'bakery', SITE_URL: url });
    await hosting.deploy(id, 'm');
    const servedSiteUrl = (asked: URL): URL | null => (asked.href.startsWith(`${base}/sites/`) ? asked : null);
    const result = await createScan({ clock, servedSiteUrl, llm: undefined })({ url, name: 'Corner Bakery' });
    expect(result).toMatchObject({ url, complete: true });
    expect(result.pages).toBeGreaterThan(2);
    // It was never edited.
    expect(result.findings.map(({ rule, affected }) => [rule, affected])).toEqual([
      ['noindex', result.pages],
      ['placeholder', result.pages],
    ]);
  });
});

describe('probes', () => {
  const questions = ['Where is good bread in Leeds?', 'Who bakes cakes?', 'Which bakery opens at six?'];
  const modelThat = (answer: (question: LlmQuestion) => string): LlmGateway & { readonly asked: LlmQuestion[] } => {
    const asked: LlmQuestion[] = [];
    return {
      provider: 'LLM gateway',
      asked,
      ask: (question) =>
        new Promise((resolve) => {
          asked.push(question);
          resolve(answer(question));
        }),
    };
  };
  const answering = (toCustomer: string, list = JSON.stringify(questions)): ReturnType<typeof modelThat> =>
    modelThat(({ instructions, question }) => {
      if (instructions.includes('JSON array')) return list;
      return question.startsWith('What do you know') ? 'A bakery in Leeds.' : toCustomer;
    });

  test('report whether an assistant names the business, and what it says about it', async () => {
    const llm = answering('Try the CORNER-Bakéry in the market.');
    const { probes, findings, score } = await scanOf(serving(goodSite), llm);
    expect(probes).toStrictEqual({
      status: 'answered',
      answers: questions.map((question) => ({ question, answer: 'Try the CORNER-Bakéry in the market.', named: true })),
      description: 'A bakery in Leeds.',
    });
    expect([findings, score]).toStrictEqual([[], 100]);
    // The questions about a bakery do not name this one.
    for (const { question } of llm.asked.slice(1, 4)) expect(question).not.toContain('Corner');
  });

  test('that never name it are a finding, which does not lower the score', async () => {
    const { probes, findings, score } = await scanOf(serving(goodSite), answering('Corner shops have a bakery.'));
    expect(probes.answers.map(({ named }) => named)).toStrictEqual([false, false, false]);
    expect(findings).toMatchObject([{ rule: 'assistant-does-not-name', severity: 'notice' }]);
    expect(score).toBe(100);
  });

  test.each([
    ['words around it', `Here you are:\n\`\`\`json\n${JSON.stringify(questions)}\n\`\`\``],
    ['a list instead', questions.map((question, index) => `${index + 1}. ${question}`).join('\n')],
    ['more than asked for', JSON.stringify([...questions, 'And?', 'x'.repeat(500)])],
  ])('take the questions from %s', async (_, list) => {
    const { probes } = await scanOf(serving(goodSite), answering('No idea.', list));
    expect(probes.answers.map(({ question }) => question)).toStrictEqual(questions);
  });

  test('are short, however long the model talks', async () => {
    const { probes } = await scanOf(serving(goodSite), answering('bla '.repeat(10_000)));
    expect(JSON.stringify(probes).length).toBeLessThan(5_000);
  });

  test.each([
    ['is away', () => Promise.reject(new ProviderFault({ provider: 'x', message: 'It is away', transient: true })), 'It is away'],
    ['thinks of nothing', () => Promise.resolve('I cannot help with that.'), 'The model thought of no questions'],
  ])('of a model that %s fail, and the scan does not', async (_, ask, reason) => {
    const { probes, score } = await scanOf(serving(goodSite), { provider: 'x', ask });
    expect(probes).toStrictEqual({ status: 'failed', reason, answers: [] });
    expect(score).toBe(100);
  });
});
