import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, jest, test } from '@jest/globals';
import { buildSite } from '../../src/integrations/hosting/site/build.js';
import { readCommit } from '../../src/integrations/hosting/site/readHead.js';
import { commitTo, git, repositoryOf, treeEntry as entry, writeCommit, writeObject } from './hostingSites.js';

type Source = Readonly<Record<string, string | Uint8Array>>;

const encode = (content: string | Uint8Array): Uint8Array =>
  typeof content === 'string' ? new TextEncoder().encode(content) : content;
const build = async (source: Source, variables: Record<string, string> = { SITE_NAME: 'Acme' }) => {
  const files = new Map(Object.entries({ 'index.html': 'Home', ...source }).map(([path, content]) => [path, encode(content)]));
  return buildSite(files, variables);
};
/** The result of rendering `template` as the home page. */
const page = async (template: string, variables?: Record<string, string>, rest: Source = {}): Promise<string> => {
  const files = new Map(
    Object.entries({ 'index.html.liquid': template, ...rest }).map(([path, content]) => [path, encode(content)]),
  );
  return new TextDecoder().decode((await buildSite(files, variables ?? { SITE_NAME: 'Acme' })).get('index.html'));
};
const text = (files: ReadonlyMap<string, Uint8Array>, path: string): string => new TextDecoder().decode(files.get(path));
const failure = { name: 'BuildFailure' };

describe('what is published', () => {
  test('everything except names with a leading _ or dot, and files about the template itself', async () => {
    const files = await build({
      'assets/site.css': '',
      '_parts/header.liquid': '',
      'about/_draft.html': '',
      '.env': '',
      'a/.b/c.txt': '',
      '.well-known/security.txt': '',
      'template.json': '{}',
      'README.md': '',
      'notes/README.md': '',
    });
    expect([...files.keys()].sort()).toEqual(['.well-known/security.txt', 'assets/site.css', 'index.html', 'notes/README.md']);
  });

  test('other files unchanged', async () => {
    const bytes = Uint8Array.from({ length: 256 }, (_, index) => index);
    expect((await build({ 'picture.png': bytes })).get('picture.png')).toEqual(bytes);
  });

  test('liquid files of any type, under their name without the extension', async () => {
    const files = await build({ 'robots.txt.liquid': '{{ site.name }}', 'a/b.svg.liquid': '{{ site.initial }}' });
    expect(text(files, 'robots.txt')).toBe('Acme');
    expect(text(files, 'a/b.svg')).toBe('A');
  });
});

describe('what a template is given', () => {
  test('the variables that begin with SITE_, and no others', async () => {
    const variables = { SITE_NAME: 'Acme', SITE_PHONE_NUMBER_2: '555', SHOP_KEY: 'secret', SITE_: 'x', XSITE_A: 'x' };
    expect(await page('{{ site.name }} {{ site.phoneNumber2 }}', variables)).toBe('Acme 555');
    await expect(page('{{ SHOP_KEY }}', variables)).rejects.toMatchObject(failure);
    await expect(page('{{ site.shopKey }}', variables)).rejects.toMatchObject(failure);
  });

  test('its own defaults where nothing is set', async () => {
    const defaults = { '_data/site.json': '{"color":"#ABCDEF","lang":"de","name":"Nobody"}' };
    expect(await page('{{ site.color }} {{ site.lang }} {{ site.name }}', {}, defaults)).toBe('#abcdef de Nobody');
    expect(await page('{{ site.color }} {{ site.name }}', { SITE_COLOR: '#111111', SITE_NAME: '' }, defaults)).toBe(
      '#111111 Nobody',
    );
  });

  test('a readable text colour for the brand colour, and a theme', async () => {
    expect(await page('{{ site.onColor }} {{ theme.light.brand }}', { SITE_COLOR: '#E60012' })).toBe('#ffffff #e60012');
    expect(await page('{% for colour in theme.dark %}{{ colour[0] }} {% endfor %}')).toContain('paper surface tint');
  });

  test('data, page by page', async () => {
    const source = {
      'a/b/index.html.liquid': '{{ page.path }} {{ page.root }} {{ page.url }} {{ data.words.hello }}',
      'a/c.html.liquid': '{{ page.path }} {{ page.root }}',
      '404.html.liquid': '{{ page.root }}',
      'sitemap.xml.liquid': '{% for entry in pages %}{{ entry.url }} {% endfor %}',
      '_data/words.json': '{"hello":"Hello"}',
    };
    const built = await build(source, { SITE_URL: 'https://acme.example/sites/acme' });
    expect(text(built, 'a/b/index.html')).toBe('a/b/ ../../ https://acme.example/sites/acme/a/b/ Hello');
    expect(text(built, 'a/c.html')).toBe('a/c.html ../');
    expect(text(built, '404.html')).toBe('/sites/acme/');
    expect(text(built, 'sitemap.xml')).toBe(
      ['a/b/', 'a/c.html', ''].map((path) => `https://acme.example/sites/acme/${path} `).join(''),
    );
  });

  test('addresses of files that change with the content', async () => {
    const files = (colour: string) => ({ 'site.css.liquid': `p { color: {{ theme.light.ink }} } /* ${colour} */` });
    const template = '{{ "site.css" | asset }}';
    const [one, same, other] = [
      await page(template, {}, files('a')),
      await page(template, {}, files('a')),
      await page(template, {}, files('b')),
    ];
    expect(one).toMatch(/^\.\/site\.css\?v=[0-9a-f]{16}$/);
    expect(same).toBe(one);
    expect(other).not.toBe(one);
  });
});

describe('what is escaped', () => {
  const name = `<script>alert("O'Neil & Sons")</script>`;
  test('every value, unless the template says otherwise', async () => {
    expect(await page('{{ site.name }}', { SITE_NAME: name })).not.toMatch(/<|"|'/);
    expect(await page('{% assign x = site.name %}{{ x | upcase }}', { SITE_NAME: name })).not.toContain('<');
    expect(
      await page("{% render '_parts/x.liquid' %}", { SITE_NAME: name }, { '_parts/x.liquid': '{{ site.name }}' }),
    ).not.toContain('<');
  });

  test('JSON for a script element, which an end tag cannot close', async () => {
    const json = await page('{{ site.name | json | raw }}', { SITE_NAME: name });
    expect(json).not.toMatch(/[<>&]/);
    expect(JSON.parse(json)).toBe(name);
  });
});

describe('what fails the build, with a message', () => {
  test.each<[string, Source, RegExp]>([
    ['an unknown tag', { 'a.html.liquid': 'x\n{% nonsense %}' }, /^a\.html\.liquid cannot be rendered: .*nonsense.*line:2/],
    ['an unknown filter', { 'a.html.liquid': '{{ site.name | nonsense }}' }, /^a\.html\.liquid .*nonsense/],
    ['an unknown variable', { 'a.html.liquid': '{{ site.nmae }}' }, /^a\.html\.liquid .*nmae/],
    ['a missing part', { 'a.html.liquid': "{% render '_parts/x.liquid' %}" }, /^a\.html\.liquid .*_parts\/x\.liquid/],
    ['a missing asset', { 'a.html.liquid': "{{ 'x.css' | asset }}" }, /^a\.html\.liquid .*no file x\.css/],
    ['an unclosed tag', { 'a.html.liquid': '{% if true %}' }, /^a\.html\.liquid /],
    ['data that is no JSON', { '_data/a.json': '{' }, /^_data\/a\.json is not JSON/],
    ['a template that is no text', { 'a.html.liquid': Uint8Array.of(0xff, 0xfe) }, /^a\.html\.liquid is not UTF-8/],
    ['data that is no text', { '_data/a.json': Uint8Array.of(0xff) }, /^_data\/a\.json is not UTF-8/],
    ['two files for one address', { 'a.txt': '', 'a.txt.liquid': '' }, /a\.txt/],
    ['a file where a folder is', { 'a.liquid': '', 'a/b.txt': '' }, /^a would be both/],
  ])('%s', async (_, source, words) => {
    const building = build(source);
    await expect(building).rejects.toMatchObject(failure);
    await expect(building).rejects.toThrow(words);
  });

  test('no home page', async () => {
    await expect(buildSite(new Map([['a.html', encode('')]]), {})).rejects.toThrow(/no home page/);
  });

  test.each(['red', '#fff', '#12345z'])('the colour %j', async (colour) => {
    await expect(page('', { SITE_COLOR: colour })).rejects.toThrow(`"${colour}"`);
  });
});

describe('what a template cannot do', () => {
  test.each([
    ["{% render '/etc/passwd' %}"],
    ["{% include '../../../../etc/passwd' %}"],
    ["{% layout '/etc/passwd' %}"],
    ["{% include 'file:///etc/passwd' %}"],
    ["{% assign path = '/etc/passwd' %}{% include path %}"],
    ["{% render 'constructor' %}"],
    ["{% render '__proto__' %}"],
    ["{{ '../package.json' | asset }}"],
    ["{{ 'constructor' | asset }}"],
  ])('read outside the repository: %s', async (template) => {
    await expect(page(template)).rejects.toMatchObject(failure);
  });

  test.each([
    ['{{ site.constructor }}'],
    ['{{ site.__proto__ }}'],
    ['{{ site.name.constructor.name }}'],
    ['{{ data.toString }}'],
    ['{{ pages.constructor }}'],
  ])('reach behind the values it is given: %s', async (template) => {
    await expect(page(template)).rejects.toMatchObject(failure);
  });

  test('put a prototype under its data', async () => {
    const polluting = { '_data/site.json': '{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}}}' };
    await page('', {}, polluting);
    expect({}).not.toHaveProperty('polluted');
    await expect(page('{{ site.polluted }}', {}, polluting)).rejects.toMatchObject(failure);
  });

  test.each([
    ['an endless chain of parts', "{% render '_parts/x.liquid' %}", { '_parts/x.liquid': "{% render '_parts/x.liquid' %}" }],
    ['a layout of itself', "{% layout '_parts/x.liquid' %}", { '_parts/x.liquid': "{% layout '_parts/x.liquid' %}" }],
    ['a list without end', '{% for i in (1..1000000000) %}x{% endfor %}', {}],
    [
      'loops in loops',
      '{% for i in (1..9999) %}{% for j in (1..9999) %}{% for k in (1..9999) %}x{% endfor %}{% endfor %}{% endfor %}',
      {},
    ],
    [
      'words that double',
      `{% assign x = 'xxxxxxxxxxxxxxxx' %}{% for i in (1..60) %}{% assign x = x | append: x %}{% endfor %}`,
      {},
    ],
    [
      'words that double by capture',
      `{% assign x = 'xxxxxxxxxxxxxxxx' %}{% for i in (1..60) %}{% capture x %}{{ x }}{{ x }}{% endcapture %}{% endfor %}`,
      {},
    ],
    [
      'replacing without end',
      `{% assign x = 'aaaaaaaaaaaaaaaaaaaa' %}{% for i in (1..60) %}{% assign x = x | replace: 'a', 'aaaaaaaaaa' %}{% endfor %}`,
      {},
    ],
    [
      'a list that is sorted again and again',
      "{% assign a = (1..900) | join: 'x,' | split: ',' %}{% for i in (1..99999) %}{% assign b = a | sort_natural %}{% endfor %}",
      {},
    ],
    [
      'a long date',
      "{% assign f = '%x%x%x%x%x%x%x%x' %}{% for i in (1..9) %}{% assign f = f | append: f %}{% endfor %}{{ 0 | date: f }}",
      {},
    ],
    [
      'a page without end',
      "{% assign x = 'xxxxxxxxxxxxxxxx' %}{% for i in (1..16) %}{% assign x = x | append: x %}{% endfor %}{% for i in (1..30) %}{{ x | raw }}{% endfor %}",
      {},
    ],
    ['a template that is too long', 'x'.repeat(2_000_001), {}],
    ['data that is too large', '', { '_data/a.json': `[${'[],'.repeat(1_400_000)}[]]` }],
    ['data that is too deep', '{{ data.a | json }}', { '_data/a.json': `${'['.repeat(90_000)}${']'.repeat(90_000)}` }],
  ])('hold the process up: %s', async (_, template, parts) => {
    const before = process.cpuUsage();
    await expect(page(template, {}, parts)).rejects.toMatchObject(failure);
    const { user, system } = process.cpuUsage(before);
    // Measures processor time, because other work on the machine affects wall time.
    expect((user + system) / 1_000).toBeLessThan(5_000);
  });
});

test('on a busy machine, the time in which others have the processor is not counted as the page’s', async () => {
  const now = performance.now();
  let seconds = 0;
  const clock = jest.spyOn(performance, 'now').mockImplementation(() => now + (seconds += 1) * 1_000);
  try {
    expect(await page('{% for i in (1..9) %}{{ i | plus: 1 }}{% endfor %}')).toBe('2345678910');
    expect(seconds).toBeGreaterThan(9);
  } finally {
    clock.mockRestore();
  }
});

test.each(['where_exp', 'reject_exp', 'group_by_exp', 'has_exp', 'find_exp', 'find_index_exp'])(
  'a template has no filter %s: it would evaluate an expression for each entry, without a limit',
  async (filter) => {
    await expect(page(`{% assign a = (1..3) %}{{ a | ${filter}: 'x', 'x == 2' }}`)).rejects.toThrow(
      `undefined filter: ${filter}`,
    );
  },
);

test('other filters work on lists', async () => {
  const list = '{% assign list = "c,a,b" | split: "," %}';
  expect(await page(`${list}{{ list | sort | reverse | join: "-" }} {{ list | size }} {{ list | first }}`)).toBe('c-b-a 3 c');
  expect(await page(`{{ 0 | date: '%Y-%m-%d' }} {{ x | default: 'y' }} {{ 'a<b' | raw }}`)).toBe('1970-01-01 y a<b');
});

type Make = (kind: 'tree' | 'blob', content: Uint8Array | string) => string;

describe('what is read from a repository', () => {
  const read = async (repository: { cloneUrl: string }, commit: string) =>
    (await readCommit(fileURLToPath(repository.cloneUrl), commit)).files;

  test('every file of the commit, and of no other', async () => {
    const repository = repositoryOf({ 'a.txt': 'one', 'b/c/ü.txt': 'two' });
    const first = git(fileURLToPath(repository.cloneUrl), ['rev-parse', 'main']);
    const second = commitTo(repository, { 'a.txt': 'changed' });
    git(fileURLToPath(repository.cloneUrl), ['gc', '--quiet']);
    expect([...(await read(repository, first))].map(([path, content]) => [path, new TextDecoder().decode(content)])).toEqual([
      ['a.txt', 'one'],
      ['b/c/ü.txt', 'two'],
    ]);
    expect(text(await read(repository, second), 'a.txt')).toBe('changed');
  });

  test('nothing of one that is damaged', async () => {
    const repository = repositoryOf({ 'index.html': 'Home' });
    const gitdir = fileURLToPath(repository.cloneUrl);
    const [head, blob] = [git(gitdir, ['rev-parse', 'main']), git(gitdir, ['rev-parse', 'main:index.html'])];
    await rm(join(gitdir, 'objects', blob.slice(0, 2)), { recursive: true });
    await expect(read(repository, head)).rejects.toMatchObject(failure);
  });

  test.each<[string, (make: Make) => string, RegExp]>([
    [
      'folders that are too deep',
      (make) => {
        let tree = make('tree', entry('100644', 'a', make('blob', 'a')));
        for (let depth = 0; depth < 40; depth += 1) tree = make('tree', entry('40000', 'x', tree));
        return tree;
      },
      /^The folders are too deep: at most 32/,
    ],
    [
      'too many files',
      (make) => {
        const blob = make('blob', 'a');
        return make('tree', Buffer.concat(Array.from({ length: 5_001 }, (_, index) => entry('100644', String(index), blob))));
      },
      /^The repository is too large: at most 5,000 files/,
    ],
    [
      'too many folders',
      (make) => {
        const tree = make('tree', Buffer.alloc(0));
        return make('tree', Buffer.concat(Array.from({ length: 5_001 }, (_, index) => entry('40000', String(index), tree))));
      },
      /^The repository is too large: at most 5,000 files/,
    ],
    [
      'files that are too large in all, though they are one',
      (make) => {
        const blob = make('blob', Buffer.alloc(1_048_576));
        return make('tree', Buffer.concat(Array.from({ length: 201 }, (_, index) => entry('100644', String(index), blob))));
      },
      /^The repository is too large: at most 5,000 files/,
    ],
    [
      'a folder that says it has millions of files',
      (make) => {
        const blob = make('blob', 'a');
        return make('tree', Buffer.concat(Array.from({ length: 110_000 }, () => entry('100644', 'a', blob))));
      },
      /^The repository cannot be read: An object is too large/,
    ],
    [
      'a name that no file system takes',
      (make) => make('tree', entry('100644', 'ü'.repeat(128), make('blob', 'a'))),
      /a name that cannot be published/,
    ],
    [
      'names that are too long in all',
      (make) => {
        const blob = make('blob', 'a');
        const names = Array.from({ length: 4_500 }, (_, index) => String(index).padStart(250, 'x'));
        return make('tree', Buffer.concat(names.map((name) => entry('100644', name, blob))));
      },
      /^The names of the files are too long/,
    ],
    ['a folder that is no folder', (make) => make('tree', '100644 a'), /A folder is damaged/],
    [
      'a file that is a folder',
      (make) => make('tree', entry('100644', 'a', make('tree', Buffer.alloc(0)))),
      /is a tree, not a blob/,
    ],
  ])('not %s', async (_, tree, words) => {
    const { gitdir, make, commitOf } = crafting();
    await expect(readCommit(gitdir, commitOf(tree(make)))).rejects.toThrow(words);
  });

  test('no links', async () => {
    const repository = repositoryOf({ 'index.html': { link: '/etc/passwd' } });
    await expect(read(repository, git(fileURLToPath(repository.cloneUrl), ['rev-parse', 'main']))).rejects.toThrow(
      /^index\.html is a link/,
    );
  });

  test.each(['..', '.', '../x', 'a\\b', 'a\nb'])('no file with the crafted name %j', async (name) => {
    const { gitdir, make, commitOf } = crafting();
    const blob = make('blob', 'sly');
    const inner = make('tree', entry('100644', 'x.html', blob));
    for (const tree of [entry('40000', name, inner), entry('100644', name, blob)])
      await expect(readCommit(gitdir, commitOf(make('tree', tree)))).rejects.toMatchObject(failure);
  });
});

const crafting = () => {
  const gitdir = fileURLToPath(repositoryOf({ 'index.html': 'Home' }).cloneUrl);
  const make: Make = (kind, content) => writeObject(gitdir, kind, content);
  return { gitdir, make, commitOf: (tree: string) => writeCommit(gitdir, tree) };
};
