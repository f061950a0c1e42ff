import { createHash } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { LRUCache } from 'lru-cache';
import { isoTime, type Clock } from '../../platform/clock.js';
import { systemErrorCode } from '../../platform/systemError.js';
import {
  isPlainName,
  makeFolder,
  makeSubfolder,
  nullIfMissing,
  parseFile,
  permanentFault,
  publishFolder,
  removeLeftDrafts,
  replaceFile,
  withdrawFolder,
  writeNewFile,
} from '../embeddedFiles.js';
import { createShardedFolder } from '../shardedFolder.js';
import type { Repository } from '../sourceHost/port.js';
import { createFolderReads } from './folderReads.js';
import type { ServedSite } from './sendSiteFile.js';
import type { BuildRequest, Built } from './site/builder.js';

/**
 * `project.json` in the project's folder. Variables can be secrets, so only this user can read the file.
 */
export interface ProjectFile {
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

/** Synchronously, as `folderReads.ts` says why. */
const listSync = (folder: string): Promise<string[]> =>
  new Promise((resolveWith) => {
    resolveWith(readdirSync(folder));
  });

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

/** How many deployments of a project are kept, beside the one that is served. */
const maxDeployments = 10;

export interface StoredDeployment {
  readonly id: string;
  readonly record: DeploymentFile;
  readonly site: ServedSite;
}

/** A deployment without its files. */
export interface DeploymentSummary {
  readonly id: string;
  readonly record: Pick<DeploymentFile, 'status' | 'commit' | 'createdAt' | 'error'>;
}

/** Small, because that of many projects is kept. */
export interface Served {
  readonly deployment: DeploymentSummary;
  readonly slug: string;
}

type NewDeployment = Pick<StoredDeployment, 'id'> & Required<Pick<DeploymentFile, 'marker' | 'commit' | 'inputs'>>;

/** Builds the deployment's site into the folders. */
type BuildInto = (folders: Pick<BuildRequest, 'folder' | 'compressedFolder'>) => Promise<Built>;

/** The methods throw a permanent ProviderFault for a name that no project may have, and system errors of the disk. */
export interface ProjectFolders {
  /** Where all that belongs to the project is kept. */
  folderOf(name: string): Promise<string>;
  /** Of all projects that there are, in any order. */
  names(): AsyncIterable<string>;

  find(name: string): Promise<ProjectFile | null>;
  /** @throws ProviderFault when there is none */
  get(name: string): Promise<ProjectFile>;
  /** The name at which the website is served. */
  slugOf(name: string): Promise<string>;
  /** Creates it unless it is there already for the same marker. */
  create(project: { name: string; marker: string; repository: Repository }): Promise<void>;
  /** Removes it with all that is in its folder; returns whether it was there for that marker. */
  remove(project: { name: string; marker: string }): Promise<boolean>;
  /** Sets these variables and leaves the others. One call of a project at a time. */
  setVariables(name: string, variables: Readonly<Record<string, string>>): Promise<void>;

  /** Newest first. */
  deploymentIds(name: string): Promise<readonly string[]>;
  /** What was read once is cached: whether it is still there, `deploymentIds` says. */
  readDeployment(name: string, id: string): Promise<StoredDeployment | null>;
  /** The deployment that is served. */
  newestReady(name: string): Promise<StoredDeployment | null>;
  /** The deployment that is served, and the name at which the website is. Every read of a delivery block asks for it. */
  served(name: string): Promise<Served | null>;
  /** The newest that was asked for with the marker. */
  newestFor(name: string, marker: string): Promise<StoredDeployment | null>;
  /**
   * The id of the next deployment: its place, which is beyond all that were given away, and its
   * marker. An attempt at the deployment that was asked for last has the same id.
   */
  nextDeploymentId(name: string, marker: string): Promise<string>;
  /**
   * Adds the deployment with what `build` writes, and removes those that are too old. One call of a
   * project at a time.
   * @param project as it was when the build began
   */
  addDeployment(name: string, project: ProjectFile, deployment: NewDeployment, build: BuildInto): Promise<StoredDeployment>;
}

/**
 * The projects of the embedded hosting on the disk, each in a folder of its own. A deployment is one
 * folder there, named by its place and created by one rename. Places are given away in the order in
 * which deployments are asked for, each once among all processes. The ready one with the highest is
 * served, so that a kill at any moment leaves the previous or the new one.
 */
export const createProjectFolders = ({ folder, clock }: { folder: string; clock: Clock }): ProjectFolders => {
  const projects = createShardedFolder({ folder });
  // Deployments never change, so they can be cached.
  const deploymentCache = new LRUCache<string, StoredDeployment>({ max: 500, maxSize: maxCachedCharacters });
  const reads = createFolderReads({ changesFile: join(folder, '.changes'), clock });

  const folderOf = (name: string): Promise<string> => {
    if (!isPlainName(name))
      throw permanentFault(`A project cannot be named "${name}": use lower-case letters, digits and dashes`);
    return projects.locate(name);
  };
  const projectFile = async (name: string): Promise<string> => join(await folderOf(name), 'project.json');
  const deploymentsOf = async (name: string): Promise<string> => join(await folderOf(name), 'deployments');

  const find = async (name: string): Promise<ProjectFile | null> => {
    const path = await projectFile(name);
    const text = await nullIfMissing(readFile(path, 'utf8'));
    return text === null ? null : (parseFile(path, text) as ProjectFile);
  };
  const get = async (name: string): Promise<ProjectFile> => {
    const project = await find(name);
    if (project === null) throw noProject(name);
    return project;
  };

  /** The variable says which address the website has. */
  const slugOf = async (name: string): Promise<string> => (await find(name))?.variables.SITE_SLUG ?? name;

  const listDeployments = async (name: string): Promise<readonly string[] | null> => {
    const entries = await nullIfMissing(listSync(await deploymentsOf(name)));
    return entries?.filter((id) => deploymentId.test(id)).sort((one, other) => (one < other ? 1 : -1)) ?? null;
  };
  const listing = reads.cached(async (name) => [await deploymentsOf(name)], listDeployments);
  const deploymentIds = async (name: string): Promise<readonly string[]> => (await listing(name)) ?? [];
  const readDeployment = async (name: string, id: string): Promise<StoredDeployment | null> => {
    const path = join(await deploymentsOf(name), id);
    const read = deploymentCache.get(path);
    if (read !== undefined) return read;
    const file = join(path, 'deployment.json');
    const text = await nullIfMissing(readFile(file, 'utf8'));
    if (text === null) return null;
    const record = parseFile(file, text) as DeploymentFile;
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
  const served = reads.cached<Served>(
    async (name) => [await projectFile(name), await deploymentsOf(name)],
    async (name) => {
      const deployment = await newestReady(name);
      if (deployment === null) return null;
      const { status, commit, createdAt } = deployment.record;
      return { deployment: { id: deployment.id, record: { status, commit, createdAt } }, slug: await slugOf(name) };
    },
  );
  const newestFor = async (name: string, marker: string): Promise<StoredDeployment | null> => {
    const id = (await deploymentIds(name)).find((other) => other.endsWith(`-${markerHash(marker)}`));
    return id === undefined ? null : readDeployment(name, id);
  };

  const create: ProjectFolders['create'] = async ({ name, marker, repository }) => {
    const project: ProjectFile = { marker, repository, variables: {} };
    const path = await folderOf(name);
    await makeFolder(dirname(path));
    await publishFolder(path, draftOf(name, marker), (draft) =>
      writeNewFile(join(draft, 'project.json'), JSON.stringify(project)),
    );
    if ((await get(name)).marker !== marker) throw permanentFault(`The project name ${name} is already taken`);
  };

  const remove: ProjectFolders['remove'] = async ({ name, marker }) => {
    if ((await find(name))?.marker !== marker) return false;
    await withdrawFolder(await folderOf(name), draftOf(name, marker));
    await reads.addChange();
    // The next project of that name starts its sequence again and would reuse ids.
    deploymentCache.clear();
    return true;
  };

  const setVariables: ProjectFolders['setVariables'] = async (name, variables) => {
    const invalidName = Object.keys(variables).find((variable) => !/^[A-Za-z_][A-Za-z0-9_]{0,255}$/.test(variable));
    if (invalidName !== undefined) throw permanentFault(`"${invalidName}" is not a name for a variable`);
    const project = await get(name);
    await replaceFile(
      await projectFile(name),
      JSON.stringify({ ...project, variables: { ...project.variables, ...variables } } satisfies ProjectFile),
    );
    await reads.addChange();
  };

  const nextDeploymentId = async (name: string, marker: string): Promise<string> => {
    await get(name);
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

  /**
   * Removes all deployments but the newest ones and the one that is served, each by a rename first, so that it is there
   * or gone; and what a crash has left of earlier removals and builds.
   */
  const removeOldDeployments = async (name: string): Promise<void> => {
    const servedId = (await newestReady(name))?.id;
    const path = await deploymentsOf(name);
    for (const id of (await deploymentIds(name)).slice(maxDeployments)) {
      if (id === servedId) continue;
      await withdrawFolder(join(path, id), id);
      await reads.addChange();
    }
    // A removal has the name of its deployment.
    await removeLeftDrafts(path, clock.now(), isDeploymentId);
    const places = join(await folderOf(name), 'places');
    const taken = (await readdir(places)).map(Number).sort((one, other) => other - one);
    for (const place of taken.slice(maxDeployments)) await rm(join(places, String(place)), { force: true });
  };

  const addDeployment: ProjectFolders['addDeployment'] = async (name, project, { id, ...asked }, build) => {
    const deployments = await deploymentsOf(name);
    await makeSubfolder(deployments);
    await publishFolder(join(deployments, id), markerHash(asked.marker), async (draft) => {
      // The draft vanishes with the project: one that was deleted meanwhile, or made again for
      // another website, gets nothing of this build.
      if ((await find(name))?.marker !== project.marker) throw noProject(name);
      const folders = { folder: join(draft, 'site'), compressedFolder: join(draft, 'compressed') };
      for (const path of Object.values(folders)) await mkdir(path);
      const built = await build(folders);
      if ('failure' in built) for (const path of Object.values(folders)) await rm(path, { recursive: true });
      const record: DeploymentFile = {
        ...asked,
        createdAt: isoTime(clock.now()),
        ...('failure' in built ? { status: 'failed', error: built.failure, files: {} } : { status: 'ready', ...built }),
      };
      await writeNewFile(join(draft, 'deployment.json'), JSON.stringify(record));
    });
    await reads.addChange();
    const stored = await readDeployment(name, id);
    if (stored === null) throw new Error(`Deployment ${id} vanished`);
    await removeOldDeployments(name);
    return stored;
  };

  async function* names(): AsyncGenerator<string> {
    await projects.moveOver(new AbortController().signal);
    for (const shard of projects.shards) yield* await projects.namesIn(shard);
  }

  return {
    folderOf,
    names,
    find,
    get,
    slugOf,
    create,
    remove,
    setVariables,
    deploymentIds,
    readDeployment,
    newestReady,
    served,
    newestFor,
    nextDeploymentId,
    addDeployment,
  };
};

/**
 * `00000007-<hash of the marker>`: sorts by sequence, and a marker's deployment is found by its
 * name.
 */
const deploymentId = /^\d{8}-[0-9a-f]{16}$/;

/** Whether a deployment may have this id. */
export const isDeploymentId = (id: string): boolean => deploymentId.test(id);

const noProject = (name: string) => permanentFault(`Project ${name} does not exist`);

const markerHash = (marker: string): string => createHash('sha256').update(marker).digest('hex').slice(0, 16);

const draftOf = (name: string, marker: string): string => `${name}.${markerHash(marker)}`;
