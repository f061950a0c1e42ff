import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { expect, test } from '@jest/globals';
import { createEmbeddedHosting } from '../../src/integrations/hosting/embedded.js';
import { contentHash } from '../../src/integrations/hosting/site/build.js';
import { createEmbeddedSourceHost } from '../../src/integrations/sourceHost/embedded.js';
import { siteBuilder } from '../support/siteBuilder.js';
import { temporaryFolder } from '../support/temporary.js';
import { createTestClock } from '../support/testClock.js';
import { projectIn, projectNames, repositoryIn, repositoryNames } from '../support/folders.js';

const templatesFolder = join(process.cwd(), 'templates');
const beside = (file: string): string => fileURLToPath(new URL(file, import.meta.url));

/**
 * Starts a process that provisions websites in `folder` and kills it; returns what it had
 * acknowledged.
 */
const killedAfter = async (folder: string, promises: number, prefix: string): Promise<string[]> => {
  const child = spawn(
    process.execPath,
    ['--import', beside('../support/eventStoreTypescript.mjs'), beside('./sitesWriter.ts'), folder, templatesFolder, prefix],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  );
  const lines: string[] = [];
  createInterface({ input: child.stdout }).on('line', (line) => {
    lines.push(line);
    if (lines.length === promises) child.kill('SIGKILL');
  });
  await once(child, 'close');
  expect(lines.length).toBeGreaterThanOrEqual(promises);
  return lines;
};

test('a process killed during provisioning leaves everything complete or absent, and the next one continues', async () => {
  const folder = temporaryFolder();
  const clock = createTestClock();
  const [repositoriesFolder, sitesFolder] = [join(folder, 'repositories'), join(folder, 'sites')];
  const openHost = () => createEmbeddedSourceHost({ folder: repositoriesFolder, templatesFolder, clock });
  const openHosting = () =>
    createEmbeddedHosting({ folder: sitesFolder, publicUrl: () => 'http://127.0.0.1', builder: siteBuilder, clock });

  // Each kill hits a different moment.
  for (const [run, promises] of [1, 3, 6].entries()) {
    const prefix = `run${String(run)}`;
    const lines = await killedAfter(folder, promises, prefix);
    const [host, hosting] = [openHost(), openHosting()];

    for (const [kind, name = '', id = ''] of lines.map((line) => line.split(' '))) {
      if (kind === 'repository') expect(await host.findRepository({ name, marker: name })).not.toBeNull();
      else if (kind === 'project') expect(await hosting.listVariables(name)).toEqual(['SITE_NAME']);
      else expect((await hosting.listDeployments(name, 10)).map((deployment) => deployment.id)).toContain(id);
    }

    const started = Number(lines.at(-1)?.split(' ')[1]?.split('-')[1] ?? 0) + 1;
    for (const name of Array.from({ length: started + 1 }, (_, index) => `${prefix}-${String(index)}`)) {
      const repository = await host.createRepository({ name, templateId: 'landing', marker: name, description: name });
      await hosting.createProject({ name, marker: name, repository });
      for (const marker of ['first', 'second']) expect(await hosting.deploy(name, marker)).toMatchObject({ status: 'ready' });
      expect(await hosting.listDeployments(name, 10)).toHaveLength(2);
    }
  }

  for (const name of await repositoryNames(folder)) {
    expect(name).toMatch(/^run\d-\d+$/);
    expect(
      execFileSync('git', ['-C', repositoryIn(folder, name), 'fsck', '--full', '--strict'], { stdio: 'pipe' }).toString(),
    ).toBe('');
  }
  for (const name of await projectNames(folder)) {
    expect(name).toMatch(/^run\d-\d+$/);
    const deployments = join(projectIn(folder, name), 'deployments');
    for (const id of await readdir(deployments)) {
      if (id === '.drafts') continue;
      expect(id).toMatch(/^\d{8}-[0-9a-f]{16}$/);
      const { files } = JSON.parse(await readFile(join(deployments, id, 'deployment.json'), 'utf8')) as {
        files: Record<string, string>;
      };
      for (const [path, hash] of Object.entries(files))
        expect(contentHash(await readFile(join(deployments, id, 'site', path)))).toBe(hash);
    }
  }
}, 60_000);
