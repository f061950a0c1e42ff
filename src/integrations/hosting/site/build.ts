import { createHash } from 'node:crypto';
import { performance } from 'node:perf_hooks';
import type { Context, FilterImplOptions } from 'liquidjs';
import { parseUrl } from '../../../platform/urls.js';
import { onColour, parseHex } from '../../../platform/colour.js';
import { themeOf } from './theme.js';

/** Content by path. Paths are relative, use `/`, and never lead out of the site. */
export type SiteFiles = ReadonlyMap<string, Uint8Array>;

/** A site that cannot be built. The message is shown to people. */
export class BuildFailure extends Error {
  override readonly name = 'BuildFailure';
}

/**
 * Limits per page, in milliseconds of processor time, characters, and characters and entries of lists. They give a
 * clear reason early; what they miss ends with the building process (`builder.ts`).
 */
const limits = { renderLimit: 500, parseLimit: 2_000_000, memoryLimit: 20_000_000 };
/** What an entry of a list counts in a filter: it takes much longer than a character. */
const entryCost = 20;
/** In characters; some of a date's formats take a tenth of a millisecond. */
const maxDateFormat = 200;
const maxPageLength = 20_000_000;
const maxDataBytes = 4_000_000;
const maxSiteBytes = 200 * 1024 * 1024;
const defaultColour = '#1f5f5b';
const utf8 = new TextDecoder('utf-8', { fatal: true });

interface Page {
  /** Address within the site: `''` is the home page, `services/` another. */
  readonly path: string;
  /** The relative path from this page to the home page: `./`, `../`, … */
  readonly root: string;
  readonly url: string;
}

/** They evaluate an expression for each entry, within which the limits do not count. */
const filtersOff = ['where_exp', 'reject_exp', 'group_by_exp', 'has_exp', 'find_exp', 'find_index_exp'];

/**
 * Builds a site (see `docs/templates.md`): renders `*.liquid` files with those of `variables` whose
 * names begin with `SITE_`, copies other files, and omits files that begin with `_` or `.`. Reads
 * only `source` and runs none of its code.
 * @throws BuildFailure when a file is wrong or a page takes more time or memory than allowed
 */
export const buildSite = async (source: SiteFiles, variables: Readonly<Record<string, string>>): Promise<SiteFiles> => {
  const data = readData(source, /^_data\/([\w-]+)\.json$/);
  const content = readData(source, /^_content\/([\w-]+)\.json$/);
  const site = siteVariables(data['site'], variables);
  const published = [...source.keys()].filter(isPublished).sort();
  const outputs = published.map((path) => path.replace(/\.liquid$/, ''));
  refuseClashes(outputs);

  const built = new Map<string, Uint8Array>();
  const pages = outputs.filter((path) => path.endsWith('.html') && path !== '404.html').map((path) => pageOf(path, site.url));
  const globals = { site, data, content, pages, theme: themeOf(site.color) };
  const renderPage = await createRenderer(source, built);
  let bytes = 0;
  for (const path of published.sort((one, other) => Number(isTemplatePage(one)) - Number(isTemplatePage(other)))) {
    const file = source.get(path) ?? new Uint8Array();
    const output = path.replace(/\.liquid$/, '');
    const page = { ...globals, page: pageOf(output, site.url) };
    const written = output === path ? file : await render(renderPage, path, decode(path, file), page);
    bytes += written.length;
    if (bytes > maxSiteBytes) throw new BuildFailure('The site is too large: at most 200 MiB can be published');
    built.set(output, written);
  }
  if (!built.has('index.html')) throw new BuildFailure('The site has no home page: index.html or index.html.liquid is missing');
  return built;
};

const isPublished = (path: string): boolean =>
  path !== 'template.json' &&
  path !== 'README.md' &&
  path.split('/').every((part) => part === '.well-known' || !/^[._]/.test(part));

/** Pages are built last, since they contain the hashes of other files. */
const isTemplatePage = (path: string): boolean => path.endsWith('.html.liquid');

const decode = (path: string, content: Uint8Array): string => {
  try {
    return utf8.decode(content);
  } catch (error) {
    throw new BuildFailure(`${path} is not UTF-8 text`, { cause: error });
  }
};

const readData = (source: SiteFiles, where: RegExp): Record<string, unknown> => {
  const data: Record<string, unknown> = {};
  let bytes = 0;
  for (const [path, content] of source) {
    const name = where.exec(path)?.[1];
    if (name === undefined) continue;
    bytes += content.length;
    if (bytes > maxDataBytes) throw new BuildFailure(`${path} is too large: at most 4 MB of data can be used`);
    try {
      data[name] = JSON.parse(decode(path, content)) as unknown;
    } catch (error) {
      if (error instanceof BuildFailure) throw error;
      throw new BuildFailure(`${path} is not JSON: ${error instanceof Error ? error.message : ''}`, { cause: error });
    }
  }
  return data;
};

/**
 * `SITE_PHONE_NUMBER` is `site.phoneNumber`; the template's own `_data/site.json` says what holds
 * where nothing is set.
 */
const siteVariables = (defaults: unknown, variables: Readonly<Record<string, string>>) => {
  const site: Record<string, unknown> = typeof defaults === 'object' ? { ...defaults } : {};
  for (const [variable, value] of Object.entries(variables)) {
    const name = /^SITE_([A-Z][A-Z0-9_]*)$/.exec(variable)?.[1]?.toLowerCase();
    if (name !== undefined && value !== '')
      site[name.replaceAll(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase())] = value;
  }
  const given = typeof site['color'] === 'string' ? site['color'] : defaultColour;
  const color = parseHex(given);
  if (color === null) throw new BuildFailure(`The colour "${given}" is not of the form #RRGGBB`);
  const { href: url } = parseUrl(typeof site['url'] === 'string' ? site['url'] : '') ?? new URL('http://localhost/');
  const [initial = ''] = typeof site['name'] === 'string' ? site['name'] : '';
  return { ...site, initial: initial.toUpperCase(), color, onColor: onColour(color), url: url.replace(/\/?$/, '/') };
};

/** `404.html` is served at any depth, so its links start from the site's absolute path. */
const pageOf = (output: string, siteUrl: string): Page => {
  const path = output.replace(/(^|\/)index\.html$/, '$1');
  const up = '../'.repeat(output.split('/').length - 1);
  const root = output === '404.html' ? new URL(siteUrl).pathname : up === '' ? './' : up;
  return { path, root, url: new URL(path.split('/').map(encodeURIComponent).join('/'), siteUrl).href };
};

const refuseClashes = (outputs: readonly string[]): void => {
  const taken = new Set<string>();
  for (const output of outputs) {
    if (taken.has(output)) throw new BuildFailure(`Two files would become ${output}`);
    taken.add(output);
  }
  for (const output of outputs) {
    const parts = output.split('/');
    const file = parts.map((_, index) => parts.slice(0, index).join('/')).find((folder) => taken.has(folder));
    if (file !== undefined) throw new BuildFailure(`${file} would be both a file and a folder`);
  }
};

type Renderer = (path: string, text: string, globals: object) => Promise<unknown>;

const createRenderer = async (source: SiteFiles, built: SiteFiles): Promise<Renderer> => {
  const { Context, Liquid: Engine } = await import('liquidjs');
  // Without a prototype, so that `{% render 'constructor' %}` finds no file.
  const templates = Object.create(null) as Record<string, string>;
  for (const [path, content] of source) if (path.endsWith('.liquid')) templates[path] = decode(path, content);
  const engine = new Engine({
    templates,
    ...limits,
    outputEscape: 'escape',
    strictFilters: true,
    strictVariables: true,
    lenientIf: true,
    ownPropertyOnly: true,
    cache: true,
    timezoneOffset: 0,
    locale: 'en',
  });
  for (const name of filtersOff) engine.unregisterFilter(name);
  for (const [name, filter] of Object.entries(engine.filters)) engine.registerFilter(name, limited(filter, name));
  engine.registerFilter('asset', function (path: unknown) {
    const content = typeof path === 'string' ? built.get(path) : undefined;
    if (content === undefined) throw new Error(`there is no file ${String(path)} to link to`);
    return `${String(this.context.getSync(['page', 'root']))}${String(path)}?v=${contentHash(content)}`;
  });
  // Escaped for a <script type="application/ld+json">, where HTML escaping would break the JSON.
  engine.registerFilter('json', (value: unknown) =>
    (JSON.stringify(value) as string | undefined)?.replaceAll(/[<>&]/g, (sign) => `\\u00${sign.charCodeAt(0).toString(16)}`),
  );
  return (path, text, globals) => {
    const parsed = engine.parse(text, path);
    const begin = performance.now();
    const context = new Context({}, engine.options, { globals });
    limitByProcessor(context, begin);
    return engine.render(parsed, context) as Promise<unknown>;
  };
};

/**
 * Lets the limit of a page's time count what it takes of the processor: on a busy machine it waits
 * most of its time, and is not to blame.
 * @param begin a time right before the limit was set
 */
const limitByProcessor = ({ renderLimit }: Context, begin: number): void => {
  const before = process.cpuUsage();
  const check = renderLimit.check.bind(renderLimit);
  renderLimit.check = (now) => {
    // To ask for it costs more than to render most tags.
    if (now < begin + limits.renderLimit) return;
    const { user, system } = process.cpuUsage(before);
    check(begin + (user + system) / 1_000);
  };
};

/** The filter, within the page's time, and within its memory by the number of a list's entries. */
const limited = (filter: FilterImplOptions, name: string): FilterImplOptions => {
  const handler = typeof filter === 'function' ? filter : filter.handler;
  const isRaw = typeof filter !== 'function' && filter.raw;
  return {
    raw: isRaw,
    handler(value: unknown, ...args: unknown[]) {
      const { renderLimit, memoryLimit } = this.context;
      renderLimit.check(performance.now());
      if (Array.isArray(value)) memoryLimit.use(value.length * entryCost);
      if (name === 'date' && String(args[0]).length > maxDateFormat) throw new Error('the format of the date is too long');
      return handler.call(this, value, ...args) as unknown;
    },
  };
};

const render = async (renderPage: Renderer, path: string, text: string, globals: object): Promise<Uint8Array> => {
  try {
    const page = String(await renderPage(path, text, globals));
    if (page.length > maxPageLength) throw new Error('the page is too long');
    return new TextEncoder().encode(page);
  } catch (error) {
    const reason =
      error instanceof RangeError
        ? 'its parts or its data are too deep within each other'
        : error instanceof Error
          ? error.message
          : '';
    throw new BuildFailure(`${path} cannot be rendered: ${reason.split('\n')[0] ?? ''}`, { cause: error });
  }
};

/** 16 hexadecimal digits of the content's SHA-256. */
export const contentHash = (content: Uint8Array): string => createHash('sha256').update(content).digest('hex').slice(0, 16);
