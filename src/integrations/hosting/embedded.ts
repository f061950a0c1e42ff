import { createHash } from 'node:crypto';
import { readdirSync, statSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { RequestHandler } from 'express';
import { LRUCache } from 'lru-cache';
import { isoTime, type Clock } from '../../platform/clock.js';
import { createKeyedMutex } from '../../platform/keyedMutex.js';
import { parseUrl } from '../../platform/urls.js';
import type { CountPage } from '../analytics/port.js';
import {
  embedded,
  isPlainName,
  permanentFault,
  publishFolder,
  replaceFile,
  unlessMissing,
  withDiskFaults,
  withdrawFolder,
  writeFiles,
} from '../embeddedFiles.js';
import type { Repository } from '../sourceHost/port.js';
import type { Deployment, Hosting, HostingProject, SiteAddress } from './port.js';
import { createSiteHandler, type ServedSite } from './serve.js';
import { BuildFailure, buildSite, contentHash, type SiteFiles } from './site/build.js';
import { headOf, readCommit } from './site/readHead.js';

/** `<folder>/<name>/project.json`. Variables can be secrets: the file is readable by this user alone. */
interface ProjectFile {
  readonly marker: string;
  readonly repository: Repository;
  readonly variables: Readonly<Record<string, string>>;
}

/** `<folder>/<name>/deployments/<id>/deployment.json`, beside `site/`; neither ever changes. */
interface DeploymentFile {
  readonly marker: string;
  readonly status: 'ready' | 'failed';
  readonly commit: string;
  readonly createdAt: string;
  readonly error?: string;
  /** Hash of the content by path. */
  readonly files: Readonly<Record<string, string>>;
}

/**
 * Every read of a delivery block asks for the latest deployment: handing a listing of a small folder to the thread pool took a
 * quarter of such a request, ten times as long as the listing itself.
 */
const listAtOnce = (folder: string): Promise<string[]> =>
  new Promise((resolveWith) => {
    resolveWith(readdirSync(folder));
  });

/** When the folder was last changed, in milliseconds: asked at once, for the same reason. */
const changeTimeOf = (folder: string): Promise<number> =>
  new Promise((resolveWith) => {
    resolveWith(statSync(folder).mtimeMs);
  });

/** Much longer than a tick of any file system's clock. */
const settledMs = 3_000;

interface KeptDeployment {
  readonly id: string;
  readonly record: DeploymentFile;
  readonly site: ServedSite;
}

/**
 * Hosting in one folder: builds repositories of the embedded source host and serves them at `/sites/<project name>/`, each
 * deployment for ever at `/sites/<project name>/_deployments/<id>/`. A deployment is one folder named by its place in the
 * order, which appears by one rename: the newest that is ready is the one served, so that a kill at any moment leaves the
 * former or the new one. A refused disk is a transient ProviderFault, everything else a permanent one.
 *
 * `repositoriesFolder` is the source host's folder (default: where `cloneUrl` points), `publicUrl` the service's base address.
 * `handler` is to be mounted at `/sites`.
 */
export const createEmbeddedHosting = (options: {
  folder: string;
  repositoriesFolder?: string;
  publicUrl: () => string;
  clock: Clock;
  countPage?: CountPage;
}): Hosting & { handler: RequestHandler; siteAddress: SiteAddress } => {
  const folder = resolve(options.folder);
  const { repositoriesFolder, publicUrl, clock } = options;
  const mutex = createKeyedMutex();
  // Deployments never change, so that what was read once holds.
  const deploymentsRead = new LRUCache<string, KeptDeployment>({ max: 500 });
  const listings = new LRUCache<string, { readonly changedAt: number; readonly ids: readonly string[] }>({ max: 5_000 });

  const folderOf = (name: string): string => {
    if (!isPlainName(name))
      throw permanentFault(`A project cannot be named "${name}": use lower-case letters, digits and dashes`);
    return join(folder, name);
  };
  const addressOf = (name: string): string => `${publicUrl().replace(/\/$/, '')}/sites/${name}/`;
  const projectNamed = (name: string): HostingProject => ({ id: name, name, url: addressOf(name) });
  const projectFile = (name: string): string => join(folderOf(name), 'project.json');
  const deploymentsOf = (name: string): string => join(folderOf(name), 'deployments');

  const readProject = async (name: string): Promise<ProjectFile | null> => {
    const text = await unlessMissing(readFile(projectFile(name), 'utf8'));
    return text === null ? null : (JSON.parse(text) as ProjectFile);
  };
  const projectOf = async (projectId: string): Promise<ProjectFile> => {
    const project = await readProject(projectId);
    if (project === null) throw permanentFault(`Project ${projectId} does not exist`);
    return project;
  };

  /** Newest first. */
  const deploymentIds = async (name: string): Promise<readonly string[]> => {
    const path = deploymentsOf(name);
    const changedAt = (await unlessMissing(changeTimeOf(path))) ?? 0;
    const kept = listings.get(path);
    if (kept?.changedAt === changedAt) return kept.ids;
    const names = (await unlessMissing(listAtOnce(path))) ?? [];
    const ids = names.filter((id) => deploymentId.test(id)).sort((one, other) => (one < other ? 1 : -1));
    // A folder that changed just now may change again within the same tick of the file system's clock.
    if (changedAt > 0 && clock.now() - changedAt > settledMs) listings.set(path, { changedAt, ids });
    return ids;
  };
  const readDeployment = async (name: string, id: string): Promise<KeptDeployment | null> => {
    const path = join(deploymentsOf(name), id);
    const read = deploymentsRead.get(path);
    if (read !== undefined) return read;
    const text = await unlessMissing(readFile(join(path, 'deployment.json'), 'utf8'));
    if (text === null) return null;
    const record = JSON.parse(text) as DeploymentFile;
    const kept = { id, record, site: { folder: join(path, 'site'), files: new Map(Object.entries(record.files)) } };
    deploymentsRead.set(path, kept);
    return kept;
  };
  const newestReady = async (name: string): Promise<KeptDeployment | null> => {
    for (const id of await deploymentIds(name)) {
      const deployment = await readDeployment(name, id);
      if (deployment?.record.status === 'ready') return deployment;
    }
    return null;
  };
  const newestFor = async (name: string, marker: string): Promise<KeptDeployment | null> => {
    const id = (await deploymentIds(name)).find((other) => other.endsWith(`-${markerHash(marker)}`));
    return id === undefined ? null : readDeployment(name, id);
  };
  const shown = (name: string, { id, record }: KeptDeployment): Deployment => ({
    id,
    status: record.status,
    url: `${addressOf(name)}_deployments/${id}/`,
    commit: record.commit,
    createdAt: record.createdAt,
    ...(record.error === undefined ? {} : { error: record.error }),
  });

  const createProject: Hosting['createProject'] = async ({ name, marker, repository }) => {
    const project: ProjectFile = { marker, repository, variables: {} };
    await publishFolder(folderOf(name), draftOf(name, marker), (draft) =>
      writeFile(join(draft, 'project.json'), JSON.stringify(project), { mode: 0o600 }),
    );
    if ((await projectOf(name)).marker !== marker) throw permanentFault(`The project name ${name} is already taken`);
    return projectNamed(name);
  };

  const deleteProject: Hosting['deleteProject'] = async ({ name, marker }) => {
    if ((await readProject(name))?.marker !== marker) return false;
    await withdrawFolder(folderOf(name), draftOf(name, marker));
    // The next project of that name begins to count its deployments anew.
    deploymentsRead.clear();
    listings.clear();
    return true;
  };

  const setVariables: Hosting['setVariables'] = async (projectId, variables) => {
    const wrong = Object.keys(variables).find((variable) => !/^[A-Za-z_][A-Za-z0-9_]{0,255}$/.test(variable));
    if (wrong !== undefined) throw permanentFault(`"${wrong}" is not a name for a variable`);
    const project = await projectOf(projectId);
    await replaceFile(
      projectFile(projectId),
      JSON.stringify({ ...project, variables: { ...project.variables, ...variables } } satisfies ProjectFile),
    );
  };

  const deploy: Hosting['deploy'] = async (projectId, marker) => {
    const project = await projectOf(projectId);
    const earlier = await newestFor(projectId, marker);
    if (earlier?.record.status === 'ready') return shown(projectId, earlier);

    // Taken before the head is read: a worker that wakes late publishes below what was built from a newer head.
    const place = 1 + Number((await deploymentIds(projectId))[0]?.split('-')[0] ?? 0);
    const id = `${String(place).padStart(8, '0')}-${markerHash(marker)}`;
    const gitdir = gitdirOf(project.repository, repositoriesFolder);
    const commit = await headOf(gitdir, project.repository.defaultBranch);
    if (commit === null) throw permanentFault(`Repository ${project.repository.name} has no commit to deploy`);
    const defaults = { SITE_NAME: projectId, SITE_SLUG: projectId };
    // The address is this service's to say, also when it was another one as the variables were set.
    const variables = { ...defaults, ...project.variables, SITE_URL: addressOf(projectId) };
    const built = await tryBuild(gitdir, commit, variables);

    await publishFolder(join(deploymentsOf(projectId), id), markerHash(marker), async (draft) => {
      const record: DeploymentFile = {
        marker,
        status: built.error === undefined ? 'ready' : 'failed',
        commit,
        createdAt: isoTime(clock.now()),
        ...(built.error === undefined ? {} : { error: built.error }),
        files: Object.fromEntries([...built.files].map(([path, content]) => [path, contentHash(content)])),
      };
      await writeFiles(join(draft, 'site'), built.files);
      await writeFile(join(draft, 'deployment.json'), JSON.stringify(record), { mode: 0o600 });
    });
    const kept = await readDeployment(projectId, id);
    if (kept === null) throw new Error(`Deployment ${id} vanished`);
    return shown(projectId, kept);
  };

  const findServed = async (name: string, id: string | null): Promise<ServedSite | null> => {
    if (!isPlainName(name) || (id !== null && !deploymentId.test(id))) return null;
    const deployment = id === null ? await newestReady(name) : await readDeployment(name, id);
    return deployment?.record.status === 'ready' ? deployment.site : null;
  };

  return {
    provider: embedded,
    findProject: async ({ name, marker }) =>
      (await withDiskFaults(readProject(name)))?.marker === marker ? projectNamed(name) : null,
    createProject: (request) => withDiskFaults(mutex.run(request.name, () => createProject(request))),
    setVariables: (projectId, variables) => withDiskFaults(mutex.run(projectId, () => setVariables(projectId, variables))),
    listVariables: async (projectId) => Object.keys((await withDiskFaults(projectOf(projectId))).variables),
    findDeployment: async (projectId, marker) => {
      const deployment = await withDiskFaults(newestFor(projectId, marker));
      return deployment === null ? null : shown(projectId, deployment);
    },
    deploy: (projectId, marker) => withDiskFaults(mutex.run(projectId, () => deploy(projectId, marker))),
    // A build takes a fraction of a second.
    startDeployment: (projectId, marker) => withDiskFaults(mutex.run(projectId, () => deploy(projectId, marker))),
    latestDeployment: async (projectId) => {
      const deployment = await withDiskFaults(newestReady(projectId));
      return deployment === null ? null : shown(projectId, deployment);
    },
    listDeployments: async (projectId, limit, before) => {
      const all = await withDiskFaults(deploymentIds(projectId));
      const ids = all.filter((id) => before === undefined || id < before.id).slice(0, limit);
      const kept = await withDiskFaults(Promise.all(ids.map((id) => readDeployment(projectId, id))));
      return kept.filter((deployment) => deployment !== null).map((deployment) => shown(projectId, deployment));
    },
    deleteProject: (request) => withDiskFaults(mutex.run(request.name, () => deleteProject(request))),
    handler: createSiteHandler(findServed, options.countPage),
    siteAddress: ({ hosting, url }) => (hosting?.provider === embedded ? addressOf(hosting.projectId) : url),
  };
};

/** `00000007-<hash of the marker>`: sorts by the place in the order, and a marker's deployment is found by its name. */
const deploymentId = /^\d{8}-[0-9a-f]{16}$/;

const markerHash = (marker: string): string => createHash('sha256').update(marker).digest('hex').slice(0, 16);

const draftOf = (name: string, marker: string): string => `${name}.${markerHash(marker)}`;

const gitdirOf = (repository: Repository, repositoriesFolder: string | undefined): string => {
  const url = parseUrl(repository.cloneUrl);
  if (url?.protocol !== 'file:' || !isPlainName(repository.name))
    throw permanentFault(
      `Repository ${repository.name} is not on the embedded source host, and the embedded hosting builds only those`,
    );
  return repositoriesFolder === undefined ? fileURLToPath(url) : join(repositoriesFolder, `${repository.name}.git`);
};

const tryBuild = async (
  gitdir: string,
  commit: string,
  variables: Readonly<Record<string, string>>,
): Promise<{ files: SiteFiles; error?: string }> => {
  try {
    return { files: await buildSite(await readCommit(gitdir, commit), variables) };
  } catch (error) {
    if (error instanceof BuildFailure) return { files: new Map(), error: error.message };
    throw error;
  }
};
