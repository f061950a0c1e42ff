import { createHash } from 'node:crypto';
import { readdirSync, statSync } from 'node:fs';
import { mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { LRUCache } from 'lru-cache';
import { hashOfJson } from '../../platform/canonicalJson.js';
import { isoTime, type Clock } from '../../platform/clock.js';
import { createKeyedMutex } from '../../platform/keyedMutex.js';
import { parseUrl } from '../../platform/urls.js';
import type { CountPage } from '../analytics/port.js';
import {
  embedded,
  isPlainName,
  makeFolder,
  makeSubfolder,
  permanentFault,
  publishFolder,
  replaceFile,
  nullIfMissing,
  systemErrorCode,
  withDiskFaults,
  withdrawFolder,
  writeNewFile,
} from '../embeddedFiles.js';
import { branchHead, UnreadableRepository } from '../gitObjects.js';
import { createShardedFolder, repositoriesIn, type ShardedFolder } from '../shardedFolder.js';
import type { Repository } from '../sourceHost/port.js';
import type {
  Deployment,
  FindAtAddress,
  FindAtDomain,
  Hosting,
  HostingProject,
  PreviewAuthor,
  SiteAddress,
  SitePreviews,
} from './port.js';
import { createPreviews } from './previews.js';
import { createSiteHandlers, type FindSite, type FindSiteAtDomain, type ServedSite, type SiteHandlers } from './serve.js';
import type { SiteBuilder } from './site/builder.js';
import { createSiteUrls } from './siteUrls.js';

/**
 * `project.json` in the project's folder. Variables can be secrets, so only this user can read the file.
 */
interface ProjectFile {
  readonly marker: string;
  readonly repository: Repository;
  readonly variables: Readonly<Record<string, string>>;
}

/**
 * `deployments/<id>/deployment.json` there, beside `site/` and `compressed/`. Neither changes once written.
 */
interface DeploymentFile {
  readonly marker: string;
  readonly status: 'ready' | 'failed';
  readonly commit: string;
  readonly createdAt: string;
  readonly error?: string;
  /** A hash of what it was built from and by; absent in those of before this was kept. */
  readonly inputs?: string;
  /** Whether it shows its template's own content; absent in those of before this was known. */
  readonly isUnedited?: boolean;
  /** Names of the files' compressed forms, in `compressed/`; absent likewise. */
  readonly compressed?: readonly string[];
  /** Content hash by path. */
  readonly files: Readonly<Record<string, string>>;
}

/**
 * Lists a folder synchronously. Every read of a delivery block needs the latest deployment, and an
 * asynchronous listing of this small folder took a quarter of such a request, ten times as long as
 * the listing itself.
 */
const listSync = (folder: string): Promise<string[]> =>
  new Promise((resolveWith) => {
    resolveWith(readdirSync(folder));
  });

/** The modification time in milliseconds, 0 of what is not there; synchronous for the same reason. */
const modifiedAtOf = (path: string): number => statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;

/** `wrote` is false when the file was there already. */
const createFile = async (path: string, content: string): Promise<{ readonly wrote: boolean }> => {
  try {
    await writeFile(path, content, { flag: 'wx', mode: 0o600 });
    return { wrote: true };
  } catch (error) {
    if (systemErrorCode(error) !== 'EEXIST') throw error;
    return { wrote: false };
  }
};

/** A deployment of thousands of files with long names takes a megabyte. */
const maxCachedCharacters = 32_000_000;

/** Much longer than the resolution of any file system's modification times. */
const minListingAgeMs = 3_000;

/** How many deployments of a project are kept, beside the one that is served. */
const maxDeployments = 10;
/** Much longer than a build takes: what is older was left by a crash. */
const draftMs = 3_600_000;

interface StoredDeployment {
  readonly id: string;
  readonly record: DeploymentFile;
  readonly site: ServedSite;
}

/**
 * Hosting in one folder: builds repositories of the embedded source host and serves them at
 * `/sites/<project name>/` or an origin of their own, and each deployment below that at
 * `_deployments/<id>/`. A deployment is one folder, named by its place and created by one rename.
 * Places are given away in the order in which deployments are asked for, each once among all
 * processes. The ready one with the highest is served, so that a kill at any moment leaves the
 * previous or the new one. Disk errors are transient ProviderFaults, all others permanent.
 * @param options `repositoriesFolder`: the source host's folder (default: where `cloneUrl` points);
 * `publicUrl`: the service's base address; `sitesUrl`: see `createSiteUrls`; `findAtAddress`: default:
 * each project is served at its own name; `findAtDomain`: default: there are no domains; `mayPreview`:
 * whether somebody may still see the preview that was made for them (default: until it ends); `version`:
 * of the service: another one may build the same into something else
 */
export const createEmbeddedHosting = (options: {
  folder: string;
  repositoriesFolder?: string;
  publicUrl: () => string;
  builder: SiteBuilder;
  sitesUrl?: string | undefined;
  clock: Clock;
  countPage?: CountPage;
  findAtAddress?: FindAtAddress;
  findAtDomain?: FindAtDomain;
  mayPreview?: (by: PreviewAuthor) => Promise<boolean>;
  version?: string;
}): Hosting & { previews: SitePreviews; handlers: SiteHandlers; siteAddress: SiteAddress } => {
  const projects = createShardedFolder({ folder: resolve(options.folder) });
  const repositories = options.repositoriesFolder === undefined ? null : repositoriesIn(options.repositoriesFolder);
  const { builder, clock, findAtAddress = projectOfThatName, findAtDomain = noDomain, version = '' } = options;
  const previews = createPreviews({ builder, clock, mayPreview: options.mayPreview ?? everybody });
  const siteUrls = createSiteUrls(options.publicUrl, options.sitesUrl);
  /** An empty file for each project that has previews, so that nothing looks for them at all projects. */
  const previewNotes = join(resolve(options.folder), '.previews');
  const mutex = createKeyedMutex();
  const askingMutex = createKeyedMutex();
  // Deployments never change, so they can be cached.
  const deploymentCache = new LRUCache<string, StoredDeployment>({ max: 500, maxSize: maxCachedCharacters });
  const slugCache = new LRUCache<string, { readonly modifiedAt: number; readonly slug: string }>({ max: 5_000 });
  const listingCache = new LRUCache<string, { readonly modifiedAt: number; readonly ids: readonly string[] }>({ max: 5_000 });

  const folderOf = (name: string): Promise<string> => {
    if (!isPlainName(name))
      throw permanentFault(`A project cannot be named "${name}": use lower-case letters, digits and dashes`);
    return projects.locate(name);
  };
  const projectFile = async (name: string): Promise<string> => join(await folderOf(name), 'project.json');
  const deploymentsOf = async (name: string): Promise<string> => join(await folderOf(name), 'deployments');

  const readProject = async (name: string): Promise<ProjectFile | null> => {
    const text = await nullIfMissing(readFile(await projectFile(name), 'utf8'));
    return text === null ? null : (JSON.parse(text) as ProjectFile);
  };
  const projectOf = async (projectId: string): Promise<ProjectFile> => {
    const project = await readProject(projectId);
    if (project === null) throw noProject(projectId);
    return project;
  };

  /** The variable says which address the website has. Cached, because delivery blocks ask for it too. */
  const addressOf = async (name: string): Promise<string> => {
    const path = await projectFile(name);
    const modifiedAt = modifiedAtOf(path);
    const stored = slugCache.get(path);
    if (stored?.modifiedAt === modifiedAt) return siteUrls.urlOf(stored.slug);
    const slug = (await readProject(name))?.variables.SITE_SLUG ?? name;
    if (modifiedAt > 0 && clock.now() - modifiedAt > minListingAgeMs) slugCache.set(path, { modifiedAt, slug });
    return siteUrls.urlOf(slug);
  };
  const projectNamed = async (name: string): Promise<HostingProject> => ({ id: name, name, url: await addressOf(name) });

  /** Newest first. */
  const deploymentIds = async (name: string): Promise<readonly string[]> => {
    const path = await deploymentsOf(name);
    const modifiedAt = modifiedAtOf(path);
    const stored = listingCache.get(path);
    if (stored?.modifiedAt === modifiedAt) return stored.ids;
    const names = (await nullIfMissing(listSync(path))) ?? [];
    const ids = names.filter((id) => deploymentId.test(id)).sort((one, other) => (one < other ? 1 : -1));
    // A folder that changed just now may change again without a new modification time.
    if (modifiedAt > 0 && clock.now() - modifiedAt > minListingAgeMs) listingCache.set(path, { modifiedAt, ids });
    return ids;
  };
  const readDeployment = async (name: string, id: string): Promise<StoredDeployment | null> => {
    const path = join(await deploymentsOf(name), id);
    const read = deploymentCache.get(path);
    if (read !== undefined) return read;
    const text = await nullIfMissing(readFile(join(path, 'deployment.json'), 'utf8'));
    if (text === null) return null;
    const record = JSON.parse(text) as DeploymentFile;
    const site = {
      project: name,
      folder: join(path, 'site'),
      compressedFolder: join(path, 'compressed'),
      compressed: new Set(record.compressed),
      files: new Map(Object.entries(record.files)),
      isUnedited: record.isUnedited === true,
    };
    const stored = { id, record, site };
    deploymentCache.set(path, stored, { size: text.length });
    return stored;
  };
  const newestReady = async (name: string): Promise<StoredDeployment | null> => {
    for (const id of await deploymentIds(name)) {
      const deployment = await readDeployment(name, id);
      if (deployment?.record.status === 'ready') return deployment;
    }
    return null;
  };
  const newestFor = async (name: string, marker: string): Promise<StoredDeployment | null> => {
    const id = (await deploymentIds(name)).find((other) => other.endsWith(`-${markerHash(marker)}`));
    return id === undefined ? null : readDeployment(name, id);
  };
  const toDeployment = async (name: string, { id, record }: StoredDeployment): Promise<Deployment> => ({
    id,
    status: record.status,
    url: `${await addressOf(name)}_deployments/${id}/`,
    commit: record.commit,
    createdAt: record.createdAt,
    // A fault of the machine fails the build's request, and leaves no record.
    ...(record.error === undefined ? {} : { error: record.error, isErrorOfSite: true }),
  });

  const createProject: Hosting['createProject'] = async ({ name, marker, repository }) => {
    const project: ProjectFile = { marker, repository, variables: {} };
    const path = await folderOf(name);
    await makeFolder(dirname(path));
    await publishFolder(path, draftOf(name, marker), (draft) =>
      writeNewFile(join(draft, 'project.json'), JSON.stringify(project)),
    );
    if ((await projectOf(name)).marker !== marker) throw permanentFault(`The project name ${name} is already taken`);
    return projectNamed(name);
  };

  const deleteProject: Hosting['deleteProject'] = async ({ name, marker }) => {
    if ((await readProject(name))?.marker !== marker) return false;
    await withdrawFolder(await folderOf(name), draftOf(name, marker));
    // The next project of that name starts its sequence again and would reuse ids.
    deploymentCache.clear();
    listingCache.clear();
    slugCache.clear();
    return true;
  };

  const setVariables: Hosting['setVariables'] = async (projectId, variables) => {
    const invalidName = Object.keys(variables).find((variable) => !/^[A-Za-z_][A-Za-z0-9_]{0,255}$/.test(variable));
    if (invalidName !== undefined) throw permanentFault(`"${invalidName}" is not a name for a variable`);
    const project = await projectOf(projectId);
    await replaceFile(
      await projectFile(projectId),
      JSON.stringify({ ...project, variables: { ...project.variables, ...variables } } satisfies ProjectFile),
    );
  };

  /**
   * The id of the next deployment: its place, which is beyond all that were given away, and its
   * marker. An attempt at the deployment that was asked for last has the same id.
   */
  const nextId = async (name: string, marker: string): Promise<string> => {
    await projectOf(name);
    const places = join(await folderOf(name), 'places');
    await makeSubfolder(places);
    const idAt = (place: number): string => `${String(place).padStart(8, '0')}-${markerHash(marker)}`;
    for (;;) {
      const taken = (await readdir(places)).map(Number);
      const ids = await deploymentIds(name);
      const lastTaken = Math.max(0, ...taken);
      const last = Math.max(lastTaken, Number(ids[0]?.split('-')[0] ?? 0));
      const isOurs =
        last === lastTaken && last > 0 && (await readFile(join(places, String(last)), 'utf8')) === markerHash(marker);
      if (isOurs && !ids.includes(idAt(last))) return idAt(last);
      if ((await createFile(join(places, String(last + 1)), markerHash(marker))).wrote) return idAt(last + 1);
    }
  };

  const previewsOf = async (name: string): Promise<string> => join(await folderOf(name), 'previews');

  const notePreviews = async (name: string): Promise<void> => {
    await makeFolder(previewNotes);
    await writeFile(join(previewNotes, name), '');
  };
  /** Once: those of an earlier version have no note. */
  const noteFormerPreviews = async (): Promise<void> => {
    const areNoted = join(previewNotes, '.all');
    if ((await nullIfMissing(stat(areNoted))) !== null) return;
    await projects.moveOver(new AbortController().signal);
    for (const shard of projects.shards) {
      for (const name of await projects.namesIn(shard)) {
        if ((await nullIfMissing(stat(await previewsOf(name)))) !== null) await notePreviews(name);
      }
    }
    await makeFolder(previewNotes);
    await writeFile(areNoted, '');
  };

  const removeEnded = async (): Promise<number> => {
    await noteFormerPreviews();
    let removed = 0;
    for (const name of (await readdir(previewNotes)).filter(isPlainName)) {
      await mutex.run(name, async () => {
        const found = await previews.tidyUp(await previewsOf(name));
        removed += found.removed;
        if (found.left === 0) await rm(join(previewNotes, name), { force: true });
      });
    }
    return removed;
  };

  const showPreview: SitePreviews['show'] = async (projectId, draft) => {
    const project = await projectOf(projectId);
    const gitdir = await gitdirOf(project.repository, repositories);
    const commit = await headOf(gitdir, project.repository);
    const url = `${await addressOf(projectId)}_previews/${draft.secret}/`;
    const variables = { SITE_NAME: projectId, SITE_SLUG: projectId, ...project.variables, SITE_URL: url };
    await notePreviews(projectId);
    const built = await previews.show(await previewsOf(projectId), draft, { gitdir, commit, variables });
    return 'failure' in built ? built : { url };
  };

  const variablesFor = async (projectId: string, project: ProjectFile): Promise<Readonly<Record<string, string>>> => {
    const defaults = { SITE_NAME: projectId, SITE_SLUG: projectId };
    // The service's current address wins over the one at the time the variables were set.
    return { ...defaults, ...project.variables, SITE_URL: await addressOf(projectId) };
  };

  const inputsOf = (commit: string, variables: Readonly<Record<string, string>>): string =>
    hashOfJson({ version, commit, variables });

  const findUnchanged = async (projectId: string, commit: string): Promise<Deployment | null> => {
    const inputs = inputsOf(commit, await variablesFor(projectId, await projectOf(projectId)));
    const [id] = await deploymentIds(projectId);
    const newest = id === undefined ? null : await readDeployment(projectId, id);
    return newest?.record.status === 'ready' && newest.record.inputs === inputs ? toDeployment(projectId, newest) : null;
  };

  /**
   * Removes all deployments but the newest ones and the one that is served, each by a rename first, so that it is there
   * or gone; and what a crash has left of earlier removals and builds.
   */
  const removeOldDeployments = async (name: string): Promise<void> => {
    const served = (await newestReady(name))?.id;
    const path = await deploymentsOf(name);
    for (const id of (await deploymentIds(name)).slice(maxDeployments)) {
      if (id !== served) await withdrawFolder(join(path, id), id);
    }
    const drafts = join(path, '.drafts');
    for (const draft of (await nullIfMissing(readdir(drafts))) ?? []) {
      const isLeft = deploymentId.test(draft) || modifiedAtOf(join(drafts, draft)) < clock.now() - draftMs;
      if (isLeft) await rm(join(drafts, draft), { recursive: true, force: true });
    }
    const places = join(await folderOf(name), 'places');
    const taken = (await readdir(places)).map(Number).sort((one, other) => other - one);
    for (const place of taken.slice(maxDeployments)) await rm(join(places, String(place)), { force: true });
  };

  const build = async (projectId: string, marker: string, id: string): Promise<Deployment> => {
    const project = await projectOf(projectId);
    const earlier = await newestFor(projectId, marker);
    if (earlier?.record.status === 'ready') return toDeployment(projectId, earlier);

    const gitdir = await gitdirOf(project.repository, repositories);
    const commit = await headOf(gitdir, project.repository);
    const variables = await variablesFor(projectId, project);

    const deployments = await deploymentsOf(projectId);
    await makeSubfolder(deployments);
    await publishFolder(join(deployments, id), markerHash(marker), async (draft) => {
      // The draft vanishes with the project: one that was deleted meanwhile, or made again for
      // another website, gets nothing of this build.
      if ((await readProject(projectId))?.marker !== project.marker) throw noProject(projectId);
      const [site, compressedFolder] = [join(draft, 'site'), join(draft, 'compressed')];
      for (const path of [site, compressedFolder]) await mkdir(path);
      const built = await builder.build({ gitdir, commit, variables, folder: site, compressedFolder });
      if ('failure' in built) for (const path of [site, compressedFolder]) await rm(path, { recursive: true });
      const record: DeploymentFile = {
        marker,
        commit,
        inputs: inputsOf(commit, variables),
        createdAt: isoTime(clock.now()),
        ...('failure' in built ? { status: 'failed', error: built.failure, files: {} } : { status: 'ready', ...built }),
      };
      await writeNewFile(join(draft, 'deployment.json'), JSON.stringify(record));
    });
    const stored = await readDeployment(projectId, id);
    if (stored === null) throw new Error(`Deployment ${id} vanished`);
    await removeOldDeployments(projectId);
    return toDeployment(projectId, stored);
  };

  const deploy: Hosting['deploy'] = async (projectId, marker) => {
    // Before anything is waited for: who asks last is served.
    const id = await askingMutex.run(projectId, () => nextId(projectId, marker));
    return mutex.run(projectId, () => build(projectId, marker, id));
  };

  const servedOf = async (project: string, id: string | null): Promise<ServedSite | null> => {
    if (id !== null && !(await deploymentIds(project)).includes(id)) return null;
    const deployment = id === null ? await newestReady(project) : await readDeployment(project, id);
    return deployment?.record.status === 'ready' ? deployment.site : null;
  };

  const findServed: FindSite = async (name, id, secret) => {
    if (!isPlainName(name) || (id !== null && !deploymentId.test(id))) return null;
    const found = await findAtAddress(name);
    if (found === null) return null;
    if (found.kind === 'archived') return 'archived';
    if (found.kind === 'moved') return { movedTo: found.to };
    return secret === null ? servedOf(found.project, id) : previews.find(await previewsOf(found.project), found.project, secret);
  };

  const findServedAtDomain: FindSiteAtDomain = async (hostname, id) => {
    const found = await findAtDomain(hostname);
    if (found === null) return null;
    if (found.kind !== 'site') return found.kind;
    const site = id !== null && !deploymentId.test(id) ? null : await servedOf(found.project, id);
    return site === null ? 'nothing' : { site, name: found.slug };
  };

  return {
    provider: embedded,
    needsDomains: false,
    findProject: async ({ name, marker }) =>
      (await withDiskFaults(readProject(name)))?.marker === marker ? projectNamed(name) : null,
    createProject: (request) => withDiskFaults(mutex.run(request.name, () => createProject(request))),
    setVariables: (projectId, variables) => withDiskFaults(mutex.run(projectId, () => setVariables(projectId, variables))),
    listVariables: async (projectId) => Object.keys((await withDiskFaults(projectOf(projectId))).variables),
    findDeployment: async (projectId, marker) => {
      const deployment = await withDiskFaults(newestFor(projectId, marker));
      return deployment === null ? null : toDeployment(projectId, deployment);
    },
    readDeployment: async (projectId, id) => {
      // The listing says what is there; what was read once is cached.
      const isThere = (await withDiskFaults(deploymentIds(projectId))).includes(id);
      const found = isThere ? await withDiskFaults(readDeployment(projectId, id)) : null;
      return found === null ? null : toDeployment(projectId, found);
    },
    deploy: (projectId, marker) => withDiskFaults(deploy(projectId, marker)),
    // Waits for the build: it takes a fraction of a second.
    startDeployment: (projectId, marker) => withDiskFaults(deploy(projectId, marker)),
    findUnchanged: (projectId, commit) => withDiskFaults(findUnchanged(projectId, commit)),
    latestDeployment: async (projectId) => {
      const deployment = await withDiskFaults(newestReady(projectId));
      return deployment === null ? null : toDeployment(projectId, deployment);
    },
    listDeployments: async (projectId, limit, before) => {
      const all = await withDiskFaults(deploymentIds(projectId));
      const ids = all.filter((id) => before === undefined || id < before.id).slice(0, limit);
      const found: Deployment[] = [];
      // One after the other: the lists of files of all of them would take much memory.
      for (const id of ids) {
        const stored = await withDiskFaults(readDeployment(projectId, id));
        if (stored !== null) found.push(await toDeployment(projectId, stored));
      }
      return found;
    },
    // Whose a domain is, is asked at each request (`findAtDomain`).
    addDomain: async (projectId) => {
      await withDiskFaults(projectOf(projectId));
    },
    findDomain: async (projectId) => {
      await withDiskFaults(projectOf(projectId));
      return { isAdded: true, records: [] };
    },
    removeDomain: () => Promise.resolve(),
    deleteProject: (request) => withDiskFaults(mutex.run(request.name, () => deleteProject(request))),
    previews: {
      provider: embedded,
      removeEnded: () => withDiskFaults(removeEnded()),
      show: (projectId, draft) => withDiskFaults(mutex.run(projectId, () => showPreview(projectId, draft))),
    },
    handlers: createSiteHandlers(findServed, siteUrls, options.countPage, findServedAtDomain),
    siteAddress: ({ slug, hosting, url }) => (hosting?.provider === embedded ? siteUrls.urlOf(slug ?? hosting.projectId) : url),
  };
};

/**
 * `00000007-<hash of the marker>`: sorts by sequence, and a marker's deployment is found by its
 * name.
 */
const deploymentId = /^\d{8}-[0-9a-f]{16}$/;

const projectOfThatName: FindAtAddress = (project) => Promise.resolve({ kind: 'site', project });

const noDomain: FindAtDomain = () => Promise.resolve(null);

const everybody = (): Promise<boolean> => Promise.resolve(true);

const noProject = (projectId: string) => permanentFault(`Project ${projectId} does not exist`);

const markerHash = (marker: string): string => createHash('sha256').update(marker).digest('hex').slice(0, 16);

const draftOf = (name: string, marker: string): string => `${name}.${markerHash(marker)}`;

const gitdirOf = async (repository: Repository, repositories: ShardedFolder | null): Promise<string> => {
  const url = parseUrl(repository.cloneUrl);
  if (url?.protocol !== 'file:' || !isPlainName(repository.name))
    throw permanentFault(
      `Repository ${repository.name} is not on the embedded source host; the embedded hosting can build no other`,
    );
  return repositories === null ? fileURLToPath(url) : repositories.locate(repository.name);
};

const headOf = async (gitdir: string, { name, defaultBranch }: Repository): Promise<string> => {
  try {
    const commit = await branchHead(gitdir, defaultBranch);
    if (commit !== null) return commit;
  } catch (error) {
    if (error instanceof UnreadableRepository) throw permanentFault(`Repository ${name} cannot be read: ${error.message}`);
    throw error;
  }
  throw permanentFault(`Repository ${name} has no commit to deploy`);
};
