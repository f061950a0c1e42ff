import { execFileSync } from 'node:child_process';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { START } from '../../src/events/store/eventStore.js';
import { createVercel } from '../../src/integrations/hosting/vercel.js';
import { createGitHub } from '../../src/integrations/sourceHost/github.js';
import { hashOfJson } from '../../src/platform/canonicalJson.js';
import { createLogger } from '../../src/platform/logger.js';
import { systemRandom } from '../../src/platform/random.js';
import { commitTo } from '../contracts/hostingSites.js';
import { startSite, type Document, type Site } from '../support/contentSite.js';
import { hastyClock } from '../support/provider.js';
import { createGitHubFake, type GitHubFake } from '../support/providers/gitHubFake.js';
import { createVercelFake } from '../support/providers/vercelFake.js';
import { serveFake, type FakeProvider, type ServedFake } from '../support/providers/wire.js';
import { repositoryIn } from '../support/folders.js';

describe('on the embedded pair', () => {
  let site: Site;
  beforeAll(async () => {
    site = await startSite();
  }, 60_000);

  const page = async (path = ''): Promise<string> => (await fetch(`${site.api.url}/sites/bakery/${path}`)).text();
  const gitdir = (): string => repositoryIn(site.api.folder, 'bakery');
  const git = (...args: string[]): string => execFileSync('git', ['-C', gitdir(), ...args], { encoding: 'utf8' }).trim();

  test('what nobody has saved is what the repository holds', async () => {
    const company = await site.read('company');
    expect(company.body).toMatchObject({ tagline: 'Good work, clearly agreed and carefully done.' });
    expect([company.hash, company.updatedAt]).toEqual([hashOfJson(company.body), undefined]);
    const listed = (await site.call('GET', '/content')).body as readonly Document[];
    expect(listed.map(({ id }) => id)).toEqual([
      'company',
      'promises',
      'questions',
      'roles',
      'sections',
      'services',
      'steps',
      'texts',
      'values',
    ]);
    expect(listed[0]).toEqual(company);
    expect((await site.call('GET', '/content?count=true&limit=3')).headers.get('total-count')).toBe('9');
    expect((await site.call('GET', '/content/none')).status).toBe(404);
    expect(await site.call('GET', '/content/company/versions')).toMatchObject({ status: 200, body: [] });
    expect((await site.call('GET', '/content/none/versions')).status).toBe(404);
    expect(await site.call('GET', `/content/company/versions/${company.hash}`)).toMatchObject({
      status: 404,
      body: { code: 'content_version_not_found' },
    });
  });

  test('what nobody has saved is named to whoever edited another version of it', async () => {
    const { body, hash } = await site.read('company');
    expect(await site.call('PUT', '/content/company', { baseHash: hashOfJson('another'), body })).toMatchObject({
      status: 400,
      body: { code: 'stale', details: { currentHash: hash, updatedAt: null, updatedBy: null } },
    });
  });

  test('a text, hours, a contact and a section that is off reach the page when they are published', async () => {
    const before = await page();
    const { body: company } = await site.read('company');
    const tagline = '<script>alert("1")</script> & Brot';
    const hours = [{ days: 'Every day', times: '4:00 – 18:00' }];
    const saved = await site.save('company', { ...company, tagline, hours, phone: '+49 30 123', phoneLink: '+4930123' });
    await site.save('sections', { ...(await site.read('sections')).body, questions: false });
    await site.save('note', { free: ['anything'] });
    expect(await page()).toBe(before);
    expect(saved.publishedHash).toBeUndefined();

    const deployment = await site.publish();
    expect(deployment).toMatchObject({ status: 'ready', commit: git('rev-parse', 'main') });
    const home = await page();
    expect(home).toContain('<h1>&lt;script&gt;alert(&#34;1&#34;)&lt;/script&gt; &amp; Brot</h1>');
    expect(home).not.toContain('<script>alert');
    expect(home).not.toContain('Asked before');
    expect(before).toContain('Asked before');
    expect(await page('contact/')).toContain('<tr><th scope="row">Every day</th><td>4:00 – 18:00</td></tr>');
    expect(await page('contact/')).toContain('<a href="tel:+4930123">+49 30 123</a>');

    expect((await site.read('company')).publishedHash).toBe(saved.hash);
    expect(git('log', '-1', '--format=%an: %s')).toBe('Doorstep: Publish company, note, sections');
    expect(JSON.parse(git('show', 'main:_data/company.json'))).toMatchObject({ tagline, hours });
    expect(git('show', 'main:_content/note.json')).toBe('{\n  "free": [\n    "anything"\n  ]\n}');
    expect(git('fsck', '--full', '--strict', '--no-dangling')).toBe('');
  });

  describe('a preview', () => {
    interface Preview {
      readonly url: string;
      readonly expiresAt: string;
    }
    const preview = async (): Promise<Preview> => {
      const answer = await site.call('POST', '/content/preview');
      expect([answer.status, answer.status === 200 ? '' : answer.text]).toEqual([200, '']);
      return answer.body as Preview;
    };

    test('shows what is saved and not published, to those who have its address', async () => {
      const { body: company } = await site.read('company');
      const before = await page();
      await site.save('company', { ...company, tagline: 'Only a draft' });
      const { url, expiresAt } = await preview();
      expect(url).toMatch(/^http:\/\/[^/]+\/sites\/bakery\/_previews\/[0-9a-f]{64}\/$/);
      expect(Date.parse(expiresAt) - Date.now()).toBeGreaterThan(3_500_000);

      const home = await fetch(url);
      const html = await home.text();
      expect(html).toContain('<h1>Only a draft</h1>');
      expect(html).toContain(`<link rel="canonical" href="${url}">`);
      expect(home.headers.get('cache-control')).toBe('no-store');
      expect(home.headers.get('x-robots-tag')).toBe('noindex');
      expect(home.headers.get('content-security-policy')).toMatch(/^sandbox allow-scripts/);
      const style = /href="([^"]*site\.css[^"]*)"/.exec(html)?.[1] ?? '';
      const css = await fetch(new URL(style, url));
      expect([css.status, css.headers.get('cache-control')]).toEqual([200, 'no-store']);
      expect((await fetch(`${url}contact/`)).status).toBe(200);

      expect(await page()).toBe(before);
      expect((await site.read('company')).publishedHash).not.toBe((await site.read('company')).hash);
      expect((await fetch(url.replace(/[0-9a-f]\/$/, 'x/'))).status).toBe(404);
      expect((await fetch(url.replace(/[0-9a-f]{64}/, ''))).status).toBe(404);
      await site.save('company', company);
    });

    test('is another each time, and the same when the request is repeated with its key', async () => {
      const token = await site.api.mintToken();
      const once = () =>
        site.api.call('POST', `${site.path}/content/preview`, { token, headers: { 'idempotency-key': 'draft' } });
      const [one, again] = [await once(), await once()];
      expect(again.body).toEqual(one.body);
      expect((await preview()).url).not.toBe((await preview()).url);
    });

    test('ends with the access of whoever made it', async () => {
      const admin = await site.api.mintToken();
      const email = 'editor@example.com';
      const link = await site.api.call('POST', '/clients', { token: admin, body: { email } });
      const { id: clientId } = link.body as { id: string };
      await site.api.call('POST', `${site.path}/clients`, { token: admin, body: { email, role: 'editor' } });
      const editor = await site.api.mintToken({ role: 'client', subject: email, verifiedEmail: email });
      const made = await site.api.call('POST', `${site.path}/content/preview`, { token: editor });
      const { url } = made.body as Preview;
      expect((await fetch(url)).status).toBe(200);
      await site.api.call('PATCH', `${site.path}/clients/${clientId}`, { token: admin, body: { role: 'viewer' } });
      expect((await fetch(url)).status).toBe(404);
      await site.api.call('PATCH', `${site.path}/clients/${clientId}`, { token: admin, body: { role: 'editor' } });
      expect((await fetch(url)).status).toBe(200);
      await site.api.call('DELETE', `${site.path}/clients/${clientId}`, { token: admin });
      expect((await fetch(url)).status).toBe(404);
    });

    test('that cannot be built says why', async () => {
      const repository = { id: 'bakery', name: 'bakery', defaultBranch: 'main', cloneUrl: `file://${gitdir()}` };
      commitTo(repository, { 'broken.html.liquid': '{{ content.sketch.title | upcase }}' });
      expect(await site.call('POST', '/content/preview')).toMatchObject({
        status: 400,
        body: { code: 'preview_not_built', error: expect.stringContaining('broken.html.liquid') },
      });
      await site.save('sketch', { title: 'free' });
      const { url } = await preview();
      expect(await (await fetch(`${url}broken.html`)).text()).toBe('FREE');
      commitTo(repository, { 'broken.html.liquid': '' });
    });
  });

  test('nothing to publish makes no commit, and builds', async () => {
    await site.publish();
    const head = git('rev-parse', 'main');
    expect(await site.publish()).toMatchObject({ status: 'ready', commit: head });
    expect(git('rev-parse', 'main')).toBe(head);
  });

  test('what was pushed stays, but for a document that was saved since', async () => {
    const repository = { id: 'bakery', name: 'bakery', defaultBranch: 'main', cloneUrl: `file://${gitdir()}` };
    const pushed = { ...(await site.read('company')).body, tagline: 'Pushed' };
    commitTo(repository, { '_data/company.json': JSON.stringify(pushed), 'new.html': 'New page' });
    await site.save('sections', { ...(await site.read('sections')).body, questions: true });
    await site.publish();
    expect(await page()).toContain('<h1>Pushed</h1>');
    expect(await page('new.html')).toBe('New page');
    await site.save('company', { ...pushed, tagline: 'Saved' });
    await site.publish();
    expect(await page()).toContain('<h1>Saved</h1>');
    expect(await page('new.html')).toBe('New page');
  });

  test('what is published at once, by several, is what was saved last', async () => {
    const { body: company } = await site.read('company');
    const answers = await Promise.all(
      Array.from({ length: 3 }, async (_, one) => {
        if (one === 0) await site.save('company', { ...company, tagline: 'Together' });
        return site.publish();
      }),
    );
    expect(answers.map(({ status }) => status)).toEqual(['ready', 'ready', 'ready']);
    await site.publish();
    expect(await page()).toContain('<h1>Together</h1>');
    expect(git('fsck', '--full', '--strict', '--no-dangling')).toBe('');
  });

  test('a picture reaches the page with its files, and in a preview before', async () => {
    const { body: company } = await site.read('company');
    expect(
      await site.call('PUT', '/content/company', {
        baseHash: (await site.read('company')).hash,
        body: { ...company, picture: { mediaId: 'none' } },
      }),
    ).toMatchObject({
      status: 400,
      body: { error: 'Invalid request body — body.picture.mediaId: is no picture or video of this website' },
    });
    await site.save('company', { ...company, picture: { mediaId: 'loaf' } });
    const { url } = (await site.call('POST', '/content/preview')).body as { url: string };
    expect(await (await fetch(url)).text()).toContain('src="./media/loaf/800.webp"');
    expect(await (await fetch(`${url}media/loaf/400.webp`)).text()).toBe('picture of 400');
    expect(await page()).not.toContain('media/loaf');

    await site.publish();
    const home = await page();
    expect(home).toContain('srcset="./media/loaf/800.webp 800w, ./media/loaf/400.webp 400w"');
    expect(home).toContain('width="800" height="600" alt="A loaf"');
    expect(await page('media/loaf/800.webp')).toBe('picture of 800');
    expect(await page('about/')).toContain('src="../media/loaf/800.webp"');
    await site.save('company', company);
    await site.publish();
    expect(await page()).not.toContain('media/loaf');
  });

  test('what is too large is neither published nor previewed, and says so', async () => {
    await site.save('gallery', [{ mediaId: 'film-1' }, { mediaId: 'film-2' }, { mediaId: 'film-3' }]);
    const head = git('rev-parse', 'main');
    expect(await site.call('POST', '/content/publish')).toMatchObject({
      status: 400,
      body: { code: 'publication_failed', error: expect.stringMatching(/^The content is too large: at most 8 MB/) },
    });
    expect(await site.call('POST', '/content/preview')).toMatchObject({
      status: 400,
      body: { code: 'preview_not_built', error: expect.stringContaining('The content is too large: at most 8 MB') },
    });
    expect(git('rev-parse', 'main')).toBe(head);
    await site.save('gallery', []);
    await site.publish();
  });

  test('a restored version is published like any other', async () => {
    const { hash: first } = await site.save('texts', { ...(await site.read('texts')).body, statement: 'First' });
    await site.publish();
    const { hash: second } = await site.save('texts', { ...(await site.read('texts')).body, statement: 'Second' });
    await site.publish();
    expect(await page()).toContain('<p>Second</p>');
    expect(await site.call('POST', '/content/texts/restore', { hash: first, baseHash: second })).toMatchObject({ status: 200 });
    await site.publish();
    expect(await page()).toContain('<p>First</p>');
  });

  test('the same key publishes once', async () => {
    const token = await site.api.mintToken();
    const publish = () =>
      site.api.call('POST', `${site.path}/content/publish`, { token, headers: { 'idempotency-key': 'once' } });
    const [one, other] = [await publish(), await publish()];
    expect([one.status, other.text]).toEqual([202, one.text]);
    expect(other.headers.get('idempotent-replayed')).toBe('true');
  });

  test('a dry run publishes nothing', async () => {
    const head = git('rev-parse', 'main');
    await site.save('note', { free: ['more'] });
    const tried = await site.call('POST', '/content/publish?dryRun=1');
    expect(tried).toMatchObject({
      status: 200,
      body: { events: [{ type: 'RedeployRequested' }, { type: 'PublicationRequested' }] },
    });
    expect(git('rev-parse', 'main')).toBe(head);
  });

  test('what nobody has saved is saved under the tag that it was read with, once', async () => {
    const read = await site.call('GET', '/content/promises');
    const { hash, body } = read.body as Document;
    const save = (ifMatch: string) =>
      site.api.call('PUT', `${site.path}/content/promises`, {
        token: site.token,
        headers: { 'if-match': ifMatch },
        body: { baseHash: hash, body },
      });
    const tag = read.headers.get('etag') ?? '';
    const any = { token: site.token, headers: { 'if-match': '*' }, body: { baseHash: hash, body } };
    expect((await site.api.call('PUT', `${site.path}/content/promises?dryRun=1`, any)).status).toBe(200);
    const saved = await save(tag);
    expect([saved.status, (saved.body as Document).hash]).toEqual([200, hash]);
    expect(saved.headers.get('etag')).toBe((await site.call('GET', '/content/promises')).headers.get('etag'));
    expect(await save(tag)).toMatchObject({ status: 400, body: { code: 'stale' } });
    expect((await save('*')).status).toBe(200);
    expect((await save(saved.headers.get('etag') ?? '')).status).toBe(200);
  });
});

describe('on GitHub and Vercel', () => {
  let site: Site;
  let gitHub: GitHubFake;
  let served: readonly ServedFake[];
  let askedOfRepository = 0;
  beforeAll(async () => {
    gitHub = createGitHubFake();
    const schema = { type: 'object', properties: { company: { type: 'object', required: ['tagline'] } } };
    gitHub.addFile(gitHub.template, '_content.schema.json', JSON.stringify(schema));
    gitHub.addFile(gitHub.template, '_data/company.json', '{"tagline":"From the template"}');
    const vercel = createVercelFake({ repositoryOf: (name) => gitHub.repositories.get(name.split('/')[1] ?? '') });
    const ask: FakeProvider = (request) => {
      if (request.path.includes('/bakery/')) askedOfRepository += 1;
      return gitHub.provider(request);
    };
    const [onGitHub, onVercel] = [await serveFake(ask), await serveFake(vercel.provider)];
    served = [onGitHub, onVercel];
    const { owner, template } = gitHub;
    const common = {
      clock: hastyClock(100),
      random: systemRandom,
      logger: createLogger({ level: 'silent' }),
      timeoutMs: 100_000,
    };
    site = await startSite(() => ({
      sourceHost: createGitHub({
        ...common,
        settings: { token: gitHub.token, owner, template: { owner, name: template }, apiUrl: onGitHub.url },
        paced: false,
      }),
      hosting: createVercel({
        ...common,
        settings: { token: vercel.token, teamId: vercel.teamId, apiUrl: onVercel.url },
        fetchStatus: (url) => Promise.resolve(vercel.visit(url).status),
      }),
    }));
  }, 60_000);

  const files = (): Record<string, string> =>
    Object.fromEntries(
      [...(gitHub.repositories.get('bakery')?.commits[0]?.files ?? [])].map(([path, content]) => [
        path,
        Buffer.from(content, 'base64').toString(),
      ]),
    );

  test('the template’s own schema holds, and its documents are read from the repository', async () => {
    expect(await site.read('company')).toMatchObject({ body: { tagline: 'From the template' } });
    expect(await site.call('PUT', '/content/company', { baseHash: null, body: {} })).toMatchObject({
      status: 400,
      body: { error: 'Invalid request body — body.tagline: is required' },
    });
  });

  test('what is saved is listed without its repository', async () => {
    const { body } = (await site.call('GET', '/content')) as { body: readonly Document[] };
    expect(body.map(({ id }) => id)).toEqual(['company']);
    await site.save('company', { tagline: 'Cakes' });
    const before = askedOfRepository;
    for (const query of ['', '?ids=company', '?count=true']) {
      expect(await site.call('GET', `/content${query}`)).toMatchObject({ status: 200, body: [{ body: { tagline: 'Cakes' } }] });
    }
    expect(askedOfRepository).toBe(before);
  });

  test('what is saved is committed, and the commit is deployed, though somebody pushes meanwhile', async () => {
    const { hash } = await site.save('company', { tagline: 'Bread' });
    const repository = gitHub.repositories.get('bakery');
    if (repository === undefined) throw new Error('there is no repository');
    repository.races = 1;
    const deployment = await site.publish();
    const [published, pushed] = repository.commits;
    expect([published?.message, pushed?.message]).toEqual(['Publish company', 'Push something']);
    expect(deployment).toMatchObject({ status: 'building', commit: published?.sha });
    expect(files()).toMatchObject({ '_data/company.json': '{\n  "tagline": "Bread"\n}\n' });
    expect((await site.read('company')).publishedHash).toBe(hash);
  });

  test('a draft of a site that is served elsewhere cannot be previewed here', async () => {
    expect(await site.call('POST', '/content/preview')).toMatchObject({
      status: 400,
      body: { error: 'Drafts cannot be previewed on vercel' },
    });
  });

  test('every request and answer is as the providers describe them', () => {
    for (const { complaints } of served) expect(complaints).toEqual([]);
  });

  test('the log says who asked, and what was done', async () => {
    const { events } = await site.api.engine.eventStore.readAll({ after: START, filter: { streamPrefixes: ['publication-'] } });
    expect(events.map(({ type, metadata }) => [type, metadata.actor.role])).toEqual([
      ['PublicationRequested', 'admin'],
      ['PublicationStarted', 'system'],
      ['PublicationCommitted', 'system'],
      ['PublicationDeployed', 'system'],
    ]);
  });
});
