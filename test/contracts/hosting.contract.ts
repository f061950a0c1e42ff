import { beforeAll, describe, expect, test } from '@jest/globals';
import type { Hosting, HostingProject } from '../../src/integrations/hosting/port.js';
import type { Repository } from '../../src/integrations/sourceHost/port.js';

/** What an adapter provides to the suite. */
export interface HostingUnderTest {
  readonly hosting: Hosting;
  /** An unused project name. */
  freshName(): string;
  /** A new repository with a site that can be built. */
  freshRepository(): Promise<Repository>;
  /** Commits a home page with the text `words`, or one that cannot be built; returns the commit. */
  commit(repository: Repository, home: { words: string } | 'broken'): Promise<string>;
  /** The response that visitors get at an address. */
  visit(address: string): Promise<{ status: number; text: string }>;
}

/** The contract of every hosting provider (`src/integrations/hosting/port.ts`). */
export const hostingContract = (adapter: string, open: () => Promise<HostingUnderTest>): void => {
  describe(`hosting: ${adapter}`, () => {
    let under: HostingUnderTest;
    let hosting: Hosting;
    beforeAll(async () => {
      under = await open();
      ({ hosting } = under);
    });

    const permanent = { name: 'ProviderFault', transient: false };
    const newProject = async (): Promise<{ project: HostingProject; repository: Repository }> => {
      const [name, repository] = [under.freshName(), await under.freshRepository()];
      return { project: await hosting.createProject({ name, marker: `job-${name}`, repository }), repository };
    };

    test('a project is found by its marker once it is created, and by no other', async () => {
      const [name, repository] = [under.freshName(), await under.freshRepository()];
      const marker = `job-${name}`;
      expect(await hosting.findProject({ name, marker })).toBeNull();
      const project = await hosting.createProject({ name, marker, repository });
      expect(project).toMatchObject({ name, url: expect.stringMatching(/^https?:\/\//) });
      expect(await hosting.findProject({ name, marker })).toEqual(project);
      expect(await hosting.findProject({ name, marker: 'another job' })).toBeNull();
      expect(await hosting.createProject({ name, marker, repository })).toEqual(project);
    });

    test('a project is read by its id, and there is none with any other', async () => {
      const { project } = await newProject();
      expect(await hosting.readProject(project.id)).toEqual(project);
      expect(await hosting.readProject('unknown')).toBeNull();
    });

    test('a name of another project is a permanent fault with a clear message', async () => {
      const { project, repository } = await newProject();
      const attempt = hosting.createProject({ name: project.name, marker: 'another job', repository });
      await expect(attempt).rejects.toMatchObject({ ...permanent, message: expect.stringContaining(project.name) });
    });

    test('variables are set and replaced one by one', async () => {
      const { project } = await newProject();
      expect(await hosting.listVariables(project.id)).toEqual([]);
      await hosting.setVariables(project.id, { SITE_NAME: 'Acme', SITE_COLOR: '#123456' });
      await hosting.setVariables(project.id, { SITE_NAME: 'Acme Ltd', SHOP_KEY: 'secret' });
      expect([...(await hosting.listVariables(project.id))].sort()).toEqual(['SHOP_KEY', 'SITE_COLOR', 'SITE_NAME']);
    });

    test('a deployment is found by its marker, built from the head, and open to visitors', async () => {
      const { project, repository } = await newProject();
      const commit = await under.commit(repository, { words: 'Open since this morning' });
      expect(await hosting.findDeployment(project.id, 'first')).toBeNull();
      expect(await hosting.latestDeployment(project.id)).toBeNull();
      expect(await hosting.listDeployments(project.id, 10)).toEqual([]);

      const deployment = await hosting.deploy(project.id, 'first');
      expect(deployment).toMatchObject({ status: 'ready', commit, createdAt: expect.stringMatching(/^\d{4}-.*Z$/) });
      expect(deployment).not.toHaveProperty('error');
      expect(await hosting.findDeployment(project.id, 'first')).toEqual(deployment);
      expect(await hosting.readDeployment(project.id, deployment.id)).toEqual(deployment);
      expect(await hosting.readDeployment(project.id, 'unknown')).toBeNull();
      expect(await hosting.latestDeployment(project.id)).toEqual(deployment);
      for (const address of [project.url, deployment.url])
        expect(await under.visit(address)).toEqual({ status: 200, text: expect.stringContaining('Open since this morning') });
    });

    test('the newest deployment is unchanged until the commit or a variable is another', async () => {
      const { project, repository } = await newProject();
      const first = await under.commit(repository, { words: 'First' });
      expect(await hosting.findUnchanged(project.id, first)).toBeNull();
      await hosting.setVariables(project.id, { SITE_NAME: 'Acme' });
      const deployment = await hosting.deploy(project.id, 'first');
      expect(await hosting.findUnchanged(project.id, first)).toEqual(deployment);
      const second = await under.commit(repository, { words: 'Second' });
      expect(await hosting.findUnchanged(project.id, second)).toBeNull();
      expect(await hosting.findUnchanged(project.id, first)).toEqual(deployment);
      await hosting.setVariables(project.id, { SITE_NAME: 'Acme Ltd' });
      expect(await hosting.findUnchanged(project.id, first)).toBeNull();
      const broken = await under.commit(repository, 'broken');
      expect(await hosting.deploy(project.id, 'broken')).toMatchObject({ status: 'failed' });
      expect(await hosting.findUnchanged(project.id, broken)).toBeNull();
    });

    test('the same marker makes no second deployment, even when the head has moved', async () => {
      const { project, repository } = await newProject();
      const [deployment, meanwhile] = await Promise.all([hosting.deploy(project.id, 'job'), hosting.deploy(project.id, 'job')]);
      expect(meanwhile).toEqual(deployment);
      await under.commit(repository, { words: 'Something else' });
      expect(await hosting.deploy(project.id, 'job')).toEqual(deployment);
      expect(await hosting.listDeployments(project.id, 10)).toEqual([deployment]);
    });

    test('the newest is served and listed first; each keeps its own address', async () => {
      const { project, repository } = await newProject();
      const deployments = [];
      for (const number of ['one', 'two', 'three']) {
        await under.commit(repository, { words: `Edition ${number}` });
        deployments.unshift(await hosting.deploy(project.id, number));
      }
      expect(await hosting.listDeployments(project.id, 10)).toEqual(deployments);
      expect(await hosting.listDeployments(project.id, 2)).toEqual(deployments.slice(0, 2));
      expect(await hosting.listDeployments(project.id, 200, deployments[0])).toEqual(deployments.slice(1));
      expect(await hosting.listDeployments(project.id, 200, deployments[2])).toEqual([]);
      expect(await hosting.latestDeployment(project.id)).toEqual(deployments[0]);
      expect((await under.visit(project.url)).text).toContain('Edition three');
      expect((await under.visit(deployments[2]?.url ?? '')).text).toContain('Edition one');
    });

    test('of two at once, the one that was asked for last is served', async () => {
      const { project } = await newProject();
      const [one, two] = await Promise.all([hosting.deploy(project.id, 'one'), hosting.deploy(project.id, 'two')]);
      expect(one.id).not.toBe(two.id);
      expect(await hosting.latestDeployment(project.id)).toEqual(two);
      expect(await hosting.listDeployments(project.id, 10)).toEqual([two, one]);
    });

    test('a failed build says why, and the previous deployment stays', async () => {
      const { project, repository } = await newProject();
      await under.commit(repository, { words: 'Still here' });
      const good = await hosting.deploy(project.id, 'good');
      const commit = await under.commit(repository, 'broken');
      const failed = await hosting.deploy(project.id, 'bad');
      expect(failed).toMatchObject({ status: 'failed', commit, error: expect.stringMatching(/\w+ \w+/) });
      expect(await hosting.findDeployment(project.id, 'bad')).toEqual(failed);
      expect(await hosting.latestDeployment(project.id)).toEqual(good);
      expect(await hosting.listDeployments(project.id, 10)).toEqual([failed, good]);
      expect((await under.visit(project.url)).text).toContain('Still here');
      expect((await under.visit(failed.url)).status).toBe(404);
    });

    test('after a failed build the same marker builds again', async () => {
      const { project, repository } = await newProject();
      await under.commit(repository, 'broken');
      expect(await hosting.deploy(project.id, 'job')).toMatchObject({ status: 'failed' });
      await under.commit(repository, { words: 'Repaired' });
      const deployment = await hosting.deploy(project.id, 'job');
      expect(deployment.status).toBe('ready');
      expect(await hosting.findDeployment(project.id, 'job')).toEqual(deployment);
      expect((await under.visit(project.url)).text).toContain('Repaired');
    });

    test('a started deployment ends by itself, and is found and awaited by its marker', async () => {
      const { project, repository } = await newProject();
      const commit = await under.commit(repository, { words: 'Once more' });
      const { id } = await hosting.startDeployment(project.id, 'job');
      expect(await hosting.findDeployment(project.id, 'job')).toMatchObject({ id });
      expect((await hosting.startDeployment(project.id, 'job')).id).toBe(id);
      expect(await hosting.deploy(project.id, 'job')).toMatchObject({ id, status: 'ready', commit });
      expect(await hosting.listDeployments(project.id, 10)).toHaveLength(1);
    });

    test('only the project of the marker is deleted, once, and its name is free again', async () => {
      const { project, repository } = await newProject();
      const { name } = project;
      const marker = `job-${name}`;
      await hosting.deploy(project.id, 'first');
      expect(await hosting.deleteProject({ name, marker: 'another job' })).toBe(false);
      expect((await under.visit(project.url)).status).toBe(200);
      expect(await hosting.deleteProject({ name, marker })).toBe(true);
      expect(await hosting.findProject({ name, marker })).toBeNull();
      expect(await hosting.deleteProject({ name, marker })).toBe(false);
      expect((await under.visit(project.url)).status).toBe(404);
      const next = await hosting.createProject({ name, marker, repository });
      expect(await hosting.listDeployments(next.id, 10)).toEqual([]);
      const commit = await under.commit(repository, { words: 'A new beginning' });
      expect(await hosting.deploy(next.id, 'first')).toMatchObject({ status: 'ready', commit });
    });

    test('a project that has another name by now is deleted by its id, with its marker only', async () => {
      const { project } = await newProject();
      const marker = `job-${project.name}`;
      const former = { name: under.freshName(), id: project.id };
      expect(await hosting.deleteProject({ ...former, marker: 'another job' })).toBe(false);
      expect(await hosting.deleteProject({ name: former.name, marker })).toBe(false);
      expect(await hosting.deleteProject({ ...former, marker })).toBe(true);
      expect(await hosting.deleteProject({ ...former, marker })).toBe(false);
      expect(await hosting.findProject({ name: project.name, marker })).toBeNull();
    });

    test('a domain is added and removed, each as often as one likes', async () => {
      const { project } = await newProject();
      const domain = `www.${project.name}.example`;
      await hosting.removeDomain(project.id, domain);
      for (let time = 0; time < 2; time += 1) await hosting.addDomain(project.id, domain);
      expect(await hosting.findDomain(project.id, domain)).toMatchObject({ isAdded: true });
      for (let time = 0; time < 2; time += 1) await hosting.removeDomain(project.id, domain);
      await hosting.addDomain(project.id, domain);
      expect(await hosting.findDomain(project.id, domain)).toMatchObject({ isAdded: true });
    });

    test('a site that was served to nobody is served again, each as often as it is said', async () => {
      const { project } = await newProject();
      await hosting.deploy(project.id, 'first');
      for (const isServed of [true, false, false, true, true]) await hosting.setServed(project.id, isServed);
      expect((await under.visit(project.url)).status).toBe(200);
    });

    test('a project that does not exist is a permanent fault', async () => {
      await expect(hosting.deploy('no-such-project', 'job')).rejects.toMatchObject(permanent);
      await expect(hosting.setVariables('no-such-project', { SITE_NAME: 'Acme' })).rejects.toMatchObject(permanent);
      await expect(hosting.setServed('no-such-project', false)).rejects.toMatchObject(permanent);
      await expect(hosting.addDomain('no-such-project', 'www.acme.example')).rejects.toMatchObject(permanent);
      await expect(hosting.listVariables('no-such-project')).rejects.toMatchObject(permanent);
    });
  });
};
