import { beforeAll, describe, expect, test } from '@jest/globals';
import type { Repository, SourceHost } from '../../src/integrations/sourceHost/port.js';

/** What an adapter provides to the suite. */
export interface SourceHostUnderTest {
  readonly host: SourceHost;
  /** A template that exists. */
  readonly templateId: string;
  /** An unused repository name. */
  freshName(): string;
  /**
   * The head commit of the default branch, read independently of the adapter; null when there is
   * none.
   */
  headOf(repository: Repository): Promise<string | null>;
}

/** The contract of every source host (`src/integrations/sourceHost/port.ts`). */
export const sourceHostContract = (adapter: string, open: () => Promise<SourceHostUnderTest>): void => {
  describe(`source host: ${adapter}`, () => {
    let under: SourceHostUnderTest;
    let host: SourceHost;
    beforeAll(async () => {
      under = await open();
      ({ host } = under);
    });

    const create = (name: string, marker = `job-${name}`): Promise<Repository> =>
      host.createRepository({ name, templateId: under.templateId, marker, description: 'Website of Acme' });
    const permanent = { name: 'ProviderFault', transient: false };

    test('a repository is found by its marker once it is created, and by no other', async () => {
      const name = under.freshName();
      expect(await host.findRepository({ name, marker: `job-${name}` })).toBeNull();
      const repository = await create(name);
      expect(repository).toMatchObject({ name });
      expect(await host.findRepository({ name, marker: `job-${name}` })).toEqual(repository);
      expect(await host.findRepository({ name, marker: 'another job' })).toBeNull();
    });

    test('its default branch has a commit as soon as it is created', async () => {
      expect(await under.headOf(await create(under.freshName()))).toMatch(/^[0-9a-f]{40}$/);
    });

    test('creating it again for the same marker creates no second and changes nothing', async () => {
      const name = under.freshName();
      const repository = await create(name);
      const head = await under.headOf(repository);
      expect(await create(name)).toEqual(repository);
      expect(await under.headOf(repository)).toBe(head);
    });

    test('of two markers that request one name at once, exactly one gets it', async () => {
      const name = under.freshName();
      const outcomes = await Promise.allSettled([create(name, 'one'), create(name, 'other')]);
      expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
      const found = await Promise.all(['one', 'other'].map((marker) => host.findRepository({ name, marker })));
      expect(found.filter((repository) => repository !== null)).toHaveLength(1);
    });

    test('a name of another repository is a permanent fault with a clear message', async () => {
      const name = under.freshName();
      await create(name);
      await expect(create(name, 'another job')).rejects.toMatchObject({ ...permanent, message: expect.stringContaining(name) });
    });

    test('an unknown template is a permanent fault and leaves the name free', async () => {
      const name = under.freshName();
      const attempt = host.createRepository({ name, templateId: 'no-such-template', marker: 'job', description: '' });
      await expect(attempt).rejects.toMatchObject({ ...permanent, message: expect.stringContaining('no-such-template') });
      expect(await host.findRepository({ name, marker: 'job' })).toBeNull();
      expect(await create(name)).toMatchObject({ name });
    });

    test('collaborators are listed once, however often they are invited', async () => {
      const { id } = await create(under.freshName());
      expect(await host.listCollaborators(id)).not.toContain('ada');
      await host.inviteCollaborator(id, 'ada');
      await host.inviteCollaborator(id, 'grace');
      await host.inviteCollaborator(id, 'ada');
      expect([...(await host.listCollaborators(id))].sort()).toEqual(expect.arrayContaining(['ada', 'grace']));
      expect((await host.listCollaborators(id)).filter((username) => username === 'ada')).toHaveLength(1);
    });

    test('collaborators that are invited concurrently are all listed', async () => {
      const { id } = await create(under.freshName());
      const usernames = ['ada', 'grace', 'edsger', 'barbara'];
      await Promise.all(usernames.map((username) => host.inviteCollaborator(id, username)));
      expect(await host.listCollaborators(id)).toEqual(expect.arrayContaining(usernames));
    });

    test('inviting or listing collaborators of a missing repository is a permanent fault', async () => {
      await expect(host.inviteCollaborator('no-such-repository', 'ada')).rejects.toMatchObject(permanent);
      await expect(host.listCollaborators('no-such-repository')).rejects.toMatchObject(permanent);
    });

    test('its commits are listed, newest first', async () => {
      const repository = await create(under.freshName());
      const commits = (await host.listCommits(repository.id, 10)) ?? [];
      expect(commits[0]).toMatchObject({
        id: await under.headOf(repository),
        message: expect.stringMatching(/^\S/),
        author: expect.stringMatching(/^\S/),
        committedAt: expect.stringMatching(/^\d{4}-.*Z$/),
      });
      expect(await host.listCommits(repository.id, 1)).toEqual(commits.slice(0, 1));
      const head = commits[0]?.id ?? '';
      expect(await host.listCommits(repository.id, 200, { head, skip: 0 })).toEqual(commits);
      expect(await host.listCommits(repository.id, 200, { head, skip: 1 })).toEqual(commits.slice(1));
      expect(await host.listCommits(repository.id, 200, { head, skip: 1_000 })).toEqual([]);
      expect(await host.listCommits(repository.id, 200, { head: 'f'.repeat(40), skip: 1 })).toBeNull();
      await expect(host.listCommits('no-such-repository', 1)).rejects.toMatchObject(permanent);
    });

    test('only the repository of the marker is deleted, once, and its name is free again', async () => {
      const name = under.freshName();
      const marker = `job-${name}`;
      expect(await host.deleteRepository({ name, marker })).toBe(false);
      await create(name);
      expect(await host.deleteRepository({ name, marker: 'another job' })).toBe(false);
      expect(await host.findRepository({ name, marker })).not.toBeNull();
      expect(await host.deleteRepository({ name, marker })).toBe(true);
      expect(await host.findRepository({ name, marker })).toBeNull();
      expect(await host.deleteRepository({ name, marker })).toBe(false);
      expect(await create(name, 'another job')).toMatchObject({ name });
    });

    test('a repository that has another name or owner by now is deleted by its id, with its marker only', async () => {
      const name = under.freshName();
      const marker = `job-${name}`;
      const { id } = await create(name);
      const former = { name: under.freshName(), id };
      expect(await host.deleteRepository({ ...former, marker: 'another job' })).toBe(false);
      expect(await host.deleteRepository({ name: former.name, marker })).toBe(false);
      expect(await host.deleteRepository({ ...former, marker })).toBe(true);
      expect(await host.deleteRepository({ ...former, marker })).toBe(false);
      expect(await host.findRepository({ name, marker })).toBeNull();
    });

    const texts = (files: ReadonlyMap<string, Uint8Array>): Record<string, string> =>
      Object.fromEntries([...files].map(([path, content]) => [path, Buffer.from(content).toString()]));
    const filesFrom = (all: Readonly<Record<string, string>>): ReadonlyMap<string, Uint8Array> =>
      new Map(Object.entries(all).map(([path, text]) => [path, Buffer.from(text)]));

    const assertHeld = (): void => undefined;

    test('files are put into a commit on top of the newest one, and read from it', async () => {
      const repository = await create(under.freshName());
      const { head, files } = await host.readFiles(repository.id, ['_data/new.json', 'no/such/file']);
      expect([head, files.size]).toEqual([await under.headOf(repository), 0]);
      const change = { '_data/new.json': '{"öffnen": true}\n', 'media/a/b/c.bin': '\u0000\uFFFD', '_content/x.json': '[]' };
      const announced: (string | null)[][] = [];
      const announce = async (made: string): Promise<void> => {
        announced.push([made, await under.headOf(repository)]);
      };
      const content = filesFrom(change);
      const commit = await host.commitFiles(repository.id, {
        parent: head,
        files: content,
        message: 'Publish new',
        assertHeld,
        announce,
      });
      expect(commit).toMatch(/^[0-9a-f]{40}$/);
      // While the branch was still where it was.
      expect(announced).toEqual([[commit, head]]);
      expect(await under.headOf(repository)).toBe(commit);
      expect((await host.listCommits(repository.id, 1))?.[0]).toMatchObject({ id: commit, message: 'Publish new' });
      const after = await host.readFiles(repository.id, [...Object.keys(change), 'media', 'media/a']);
      expect([after.head, texts(after.files)]).toEqual([commit, change]);

      const again = await host.commitFiles(repository.id, {
        parent: after.head,
        files: filesFrom(change),
        message: 'Publish',
        assertHeld,
        announce,
      });
      expect([again, await under.headOf(repository)]).toEqual([commit, commit]);
      expect(announced).toHaveLength(1);
      const second = { ...change, '_data/new.json': '{}' };
      await host.commitFiles(repository.id, {
        parent: after.head,
        files: filesFrom({ '_data/new.json': '{}' }),
        message: 'Again',
        assertHeld,
      });
      expect(texts((await host.readFiles(repository.id, Object.keys(change))).files)).toEqual(second);
    });

    test('folders are listed, and removed with all that is in them', async () => {
      const { id } = await create(under.freshName());
      const { head } = await host.readFiles(id, []);
      const change = { 'media/a/1.bin': '1', 'media/a/2.bin': '2', 'media/b/1.bin': '3', 'mediaa.txt': '4', 'c/d/e.txt': '5' };
      const first = await host.commitFiles(id, { parent: head, files: filesFrom(change), message: 'Add', assertHeld });
      if (first === null) throw new Error('there is no commit');
      const namesIn = async (commit: string, path: string) => [...(await host.listFolder(id, commit, path))].sort();
      expect(await namesIn(first, 'media')).toEqual(['a', 'b']);
      expect(await namesIn(first, 'media/a')).toEqual(['1.bin', '2.bin']);
      for (const path of ['no', 'media/c', 'media/b/1.bin/x']) expect(await namesIn(first, path)).toEqual([]);
      expect(await namesIn(head, 'media')).toEqual([]);

      const gone = ['media/a', 'c/d/e.txt', 'no/such/file', 'media/b/2.bin'].map((path) => [path, null] as const);
      const files = new Map<string, Uint8Array | null>([...gone, ...filesFrom({ 'media/b/9.bin': '9' })]);
      const second = await host.commitFiles(id, { parent: first, files, message: 'Remove', assertHeld });
      if (second === null) throw new Error('there is no commit');
      expect([await namesIn(second, 'media'), await namesIn(second, 'c')]).toEqual([['b'], []]);
      const left = { 'media/b/1.bin': '3', 'mediaa.txt': '4', 'media/b/9.bin': '9' };
      expect(texts((await host.readFiles(id, [...Object.keys(change), ...Object.keys(left)])).files)).toEqual(left);
      const again = new Map(gone);
      expect(await host.commitFiles(id, { parent: second, files: again, message: 'Remove', assertHeld })).toBe(second);
    });

    test('a file of more than a megabyte is read', async () => {
      const { id } = await create(under.freshName());
      const { head } = await host.readFiles(id, []);
      const change = { '_data/long.json': JSON.stringify('x'.repeat(1_500_000)) };
      await host.commitFiles(id, { parent: head, files: filesFrom(change), message: 'Add', assertHeld });
      expect(texts((await host.readFiles(id, ['_data/long.json'])).files)).toEqual(change);
    });

    test('of commits on top of the same one, exactly one is made', async () => {
      const { id } = await create(under.freshName());
      const { head } = await host.readFiles(id, []);
      const names = ['one', 'two', 'three'];
      const made = await Promise.all(
        names.map((name) =>
          host.commitFiles(id, { parent: head, files: filesFrom({ 'who.txt': name }), message: name, assertHeld }),
        ),
      );
      expect(made.filter((commit) => commit !== null)).toHaveLength(1);
      const winner = names[made.findIndex((commit) => commit !== null)];
      expect(texts((await host.readFiles(id, ['who.txt'])).files)).toEqual({ 'who.txt': winner });
      expect(await host.listCommits(id, 10)).toHaveLength(2);
    });

    test('files that are there already are no commit, unless the branch is elsewhere by now', async () => {
      const { id } = await create(under.freshName());
      const { head } = await host.readFiles(id, []);
      const files = filesFrom({ 'who.txt': 'one' });
      const one = await host.commitFiles(id, { parent: head, files, message: 'One', assertHeld });
      if (one === null) throw new Error('there is no commit');
      expect(await host.commitFiles(id, { parent: one, files, message: 'One', assertHeld })).toBe(one);
      await host.commitFiles(id, { parent: one, files: filesFrom({ 'who.txt': 'two' }), message: 'Two', assertHeld });
      expect(await host.commitFiles(id, { parent: one, files, message: 'One', assertHeld })).toBeNull();
    });

    test('a commit whose attempt has lost its lease goes no further, and the next attempt makes it', async () => {
      const repository = await create(under.freshName());
      const { head } = await host.readFiles(repository.id, []);
      const change = { 'a.json': '{}', 'media/a.bin': '\u0000a', 'media/b.bin': '\u0000b' };
      const lost = new Error('the lease has lapsed');
      /** Commits under a lease that is lost once it has been asked for so often. */
      const commitWithin = (often: number): Promise<string | null> => {
        let asked = 0;
        return host.commitFiles(repository.id, {
          parent: head,
          files: filesFrom(change),
          message: 'Publish',
          assertHeld: () => {
            asked += 1;
            if (asked > often) throw lost;
          },
        });
      };
      let held = 0;
      let outcome: unknown = lost;
      for (; outcome === lost; held += 1) {
        expect(await under.headOf(repository)).toBe(head);
        outcome = await commitWithin(held).catch((error: unknown) => error);
      }
      // Each of the files, the commit and the branch at least.
      expect(held).toBeGreaterThan(4);
      expect(outcome).toBe(await under.headOf(repository));
      expect(texts((await host.readFiles(repository.id, Object.keys(change))).files)).toEqual(change);
    });

    test('reading or changing files of a missing repository is a permanent fault', async () => {
      await expect(host.readFiles('no-such-repository', [])).rejects.toMatchObject(permanent);
      const change = { parent: 'a'.repeat(40), files: new Map(), message: 'No', assertHeld };
      await expect(host.commitFiles('no-such-repository', change)).rejects.toMatchObject(permanent);
    });

    test('a template that there is not declares nothing that can be edited', async () => {
      expect(await host.readEditable('palace')).toBeNull();
      expect(await host.readEditable('../palace')).toBeNull();
    });

    test('its templates have a name and a description', async () => {
      const templates = await host.listTemplates();
      expect(templates.map(({ id }) => id)).toContain(under.templateId);
      expect(templates.map(({ id }) => id)).toContain(host.defaultTemplateId);
      for (const template of templates) {
        expect(template.name).not.toBe('');
        expect(template.description).not.toBe('');
      }
    });

    test('a template that there is not has no picture', async () => {
      expect(await host.readPicture('palace')).toBeNull();
      expect(await host.readPicture('../palace')).toBeNull();
    });
  });
};
