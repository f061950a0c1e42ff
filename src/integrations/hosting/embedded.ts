import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { hashOfJson } from '../../platform/canonicalJson.js';
import type { Clock } from '../../platform/clock.js';
import { createKeyedMutex } from '../../platform/keyedMutex.js';
import { parseUrl } from '../../platform/urls.js';
import type { CountPage } from '../analytics/port.js';
import { embedded, isPlainName, permanentFault, withDiskFaults } from '../embeddedFiles.js';
import { branchHead } from '../git/refs.js';
import { UnreadableRepository } from '../git/source.js';
import { repositoriesIn, type ShardedFolder } from '../shardedFolder.js';
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
import {
  createProjectFolders,
  isDeploymentId,
  type ProjectFile,
  type DeploymentSummary,
  type StoredDeployment,
} from './projectFolders.js';
import type { ServedSite } from './sendSiteFile.js';
import { createSiteHandlers, type FindSite, type FindSiteAtDomain, type SiteHandlers } from './serve.js';
import type { BuildRequest, SiteBuilder } from './site/builder.js';
import { createSiteUrls } from './siteUrls.js';

/**
 * Hosting in one folder: builds repositories of the embedded source host and serves them at
 * `/sites/<project name>/` or an origin of their own, and each deployment below that at
 * `_deployments/<id>/`. Disk errors are transient ProviderFaults, all others permanent.
 * @param options `repositoriesFolder`: the source host's folder (default: where `cloneUrl` points);
 * `publicUrl`: the service's base address; `sitesUrl`: see `createSiteUrls`; `findAtAddress`: default:
 * each project is served at its own name; `forgetViews`: called before a project is deleted, whose name
 * another one may have then; `findAtDomain`: default: there are no domains; `mayPreview`:
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
  forgetViews?: (project: string) => Promise<void>;
  findAtAddress?: FindAtAddress;
  findAtDomain?: FindAtDomain;
  mayPreview?: (by: PreviewAuthor) => Promise<boolean>;
  version?: string;
}): Hosting & { previews: SitePreviews; handlers: SiteHandlers; siteAddress: SiteAddress } => {
  const repositories = options.repositoriesFolder === undefined ? null : repositoriesIn(options.repositoriesFolder);
  const { builder, clock, findAtAddress = projectOfThatName, findAtDomain = noDomain, version = '' } = options;
  const folder = resolve(options.folder);
  const projects = createProjectFolders({ folder, clock });
  const previews = createPreviews({ folder, projects, builder, clock, mayPreview: options.mayPreview ?? everybody });
  const siteUrls = createSiteUrls(options.publicUrl, options.sitesUrl);
  const mutex = createKeyedMutex();
  const askingMutex = createKeyedMutex();

  const addressOf = async (name: string): Promise<string> => siteUrls.urlOf(await projects.slugOf(name));
  const projectNamed = async (name: string): Promise<HostingProject> => ({ id: name, name, url: await addressOf(name) });

  const createProject: Hosting['createProject'] = async (request) => {
    await projects.create(request);
    return projectNamed(request.name);
  };

  const deploymentAt = (slug: string, { id, record }: DeploymentSummary): Deployment => ({
    id,
    status: record.status,
    url: `${siteUrls.urlOf(slug)}_deployments/${id}/`,
    commit: record.commit,
    createdAt: record.createdAt,
    // A fault of the machine fails the build's request, and leaves no record.
    ...(record.error === undefined ? {} : { error: record.error, isErrorOfSite: true }),
  });
  const toDeployment = async (name: string, stored: StoredDeployment): Promise<Deployment> =>
    deploymentAt(await projects.slugOf(name), stored);

  const variablesFor = (name: string, { variables }: ProjectFile, url: string): BuildRequest['variables'] => ({
    SITE_NAME: name,
    SITE_SLUG: name,
    ...variables,
    // The service's current address wins over the one at the time the variables were set.
    SITE_URL: url,
  });

  /** The head of the project's repository. */
  const sourceOf = async ({ repository }: ProjectFile): Promise<Pick<BuildRequest, 'gitdir' | 'commit'>> => {
    const gitdir = await gitdirOf(repository, repositories);
    return { gitdir, commit: await headOf(gitdir, repository) };
  };

  const inputsOf = (commit: string, variables: BuildRequest['variables']): string => hashOfJson({ version, commit, variables });

  const findUnchanged = async (projectId: string, commit: string): Promise<Deployment | null> => {
    const variables = variablesFor(projectId, await projects.get(projectId), await addressOf(projectId));
    const [id] = await projects.deploymentIds(projectId);
    const newest = id === undefined ? null : await projects.readDeployment(projectId, id);
    return newest?.record.status === 'ready' && newest.record.inputs === inputsOf(commit, variables)
      ? toDeployment(projectId, newest)
      : null;
  };

  const build = async (projectId: string, marker: string, id: string): Promise<Deployment> => {
    const project = await projects.get(projectId);
    const earlier = await projects.newestFor(projectId, marker);
    if (earlier?.record.status === 'ready') return toDeployment(projectId, earlier);

    const { gitdir, commit } = await sourceOf(project);
    const variables = variablesFor(projectId, project, await addressOf(projectId));
    const deployment = { id, marker, commit, inputs: inputsOf(commit, variables) };
    const stored = await projects.addDeployment(projectId, project, deployment, (folders) =>
      builder.build({ gitdir, commit, variables, ...folders }),
    );
    return toDeployment(projectId, stored);
  };

  const deploy: Hosting['deploy'] = async (projectId, marker) => {
    // Before anything is waited for: who asks last is served.
    const id = await askingMutex.run(projectId, () => projects.nextDeploymentId(projectId, marker));
    return mutex.run(projectId, () => build(projectId, marker, id));
  };

  const deleteProject = async (request: { name: string; marker: string }): Promise<boolean> => {
    if ((await projects.find(request.name))?.marker !== request.marker) return false;
    await options.forgetViews?.(request.name);
    return projects.remove(request);
  };

  const showPreview: SitePreviews['show'] = async (projectId, draft) => {
    const project = await projects.get(projectId);
    const { gitdir, commit } = await sourceOf(project);
    const url = `${await addressOf(projectId)}_previews/${draft.secret}/`;
    const variables = variablesFor(projectId, project, url);
    const built = await previews.show(projectId, draft, { gitdir, commit, variables });
    return 'failure' in built ? built : { url };
  };

  const servedOf = async (project: string, id: string | null): Promise<ServedSite | null> => {
    if (id !== null && !(await projects.deploymentIds(project)).includes(id)) return null;
    const deployment = id === null ? await projects.newestReady(project) : await projects.readDeployment(project, id);
    return deployment?.record.status === 'ready' ? deployment.site : null;
  };

  const findServed: FindSite = async (name, id, secret) => {
    if (!isPlainName(name) || (id !== null && !isDeploymentId(id))) return null;
    const found = await findAtAddress(name);
    if (found === null) return null;
    if (found.kind === 'archived') return 'archived';
    if (found.kind === 'moved') return { movedTo: found.to };
    return secret === null ? servedOf(found.project, id) : previews.find(found.project, secret);
  };

  const findServedAtDomain: FindSiteAtDomain = async (hostname, id) => {
    const found = await findAtDomain(hostname);
    if (found === null) return null;
    if (found.kind !== 'site') return found.kind;
    const site = id !== null && !isDeploymentId(id) ? null : await servedOf(found.project, id);
    return site === null ? 'nothing' : { site, name: found.slug };
  };

  return {
    provider: embedded,
    needsDomains: false,
    findProject: async ({ name, marker }) =>
      (await withDiskFaults(projects.find(name)))?.marker === marker ? projectNamed(name) : null,
    readProject: async (name) => ((await withDiskFaults(projects.find(name))) === null ? null : projectNamed(name)),
    createProject: (request) => withDiskFaults(mutex.run(request.name, () => createProject(request))),
    setVariables: (projectId, variables) =>
      withDiskFaults(mutex.run(projectId, () => projects.setVariables(projectId, variables))),
    // Whether a website is archived is asked at each request (`findAtAddress`).
    setServed: async (projectId) => {
      await withDiskFaults(projects.get(projectId));
    },
    listVariables: async (projectId) => Object.keys((await withDiskFaults(projects.get(projectId))).variables),
    findDeployment: async (projectId, marker) => {
      const deployment = await withDiskFaults(projects.newestFor(projectId, marker));
      return deployment === null ? null : toDeployment(projectId, deployment);
    },
    readDeployment: async (projectId, id) => {
      // The listing says what is there; what was read once is cached.
      const isThere = (await withDiskFaults(projects.deploymentIds(projectId))).includes(id);
      const found = isThere ? await withDiskFaults(projects.readDeployment(projectId, id)) : null;
      return found === null ? null : toDeployment(projectId, found);
    },
    deploy: (projectId, marker) => withDiskFaults(deploy(projectId, marker)),
    // Waits for the build: it takes a fraction of a second.
    startDeployment: (projectId, marker) => withDiskFaults(deploy(projectId, marker)),
    findUnchanged: (projectId, commit) => withDiskFaults(findUnchanged(projectId, commit)),
    latestDeployment: async (projectId) => {
      const served = await withDiskFaults(projects.served(projectId));
      return served === null ? null : deploymentAt(served.slug, served.deployment);
    },
    listDeployments: async (projectId, limit, before) => {
      const all = await withDiskFaults(projects.deploymentIds(projectId));
      const ids = all.filter((id) => before === undefined || id < before.id).slice(0, limit);
      const slug = await withDiskFaults(projects.slugOf(projectId));
      const found: Deployment[] = [];
      // One after the other: the lists of files of all of them would take much memory.
      for (const id of ids) {
        const stored = await withDiskFaults(projects.readDeployment(projectId, id));
        if (stored !== null) found.push(deploymentAt(slug, stored));
      }
      return found;
    },
    // Whose a domain is, is asked at each request (`findAtDomain`).
    addDomain: async (projectId) => {
      await withDiskFaults(projects.get(projectId));
    },
    findDomain: async (projectId) => {
      await withDiskFaults(projects.get(projectId));
      return { isAdded: true, records: [] };
    },
    removeDomain: () => Promise.resolve(),
    // Names never change here; an id is one.
    deleteProject: async ({ name, marker, id = name }) => {
      const remove = (at: string) => withDiskFaults(mutex.run(at, () => deleteProject({ name: at, marker })));
      return (await remove(name)) || (id !== name && (await remove(id)));
    },
    previews: {
      provider: embedded,
      removeEnded: () => withDiskFaults(previews.removeEnded(mutex)),
      show: (projectId, draft) => withDiskFaults(mutex.run(projectId, () => showPreview(projectId, draft))),
    },
    handlers: createSiteHandlers({
      find: findServed,
      findAtDomain: findServedAtDomain,
      urls: siteUrls,
      countPage: options.countPage,
    }),
    siteAddress: ({ slug, hosting, url }) => (hosting?.provider === embedded ? siteUrls.urlOf(slug ?? hosting.projectId) : url),
  };
};

const projectOfThatName: FindAtAddress = (project) => Promise.resolve({ kind: 'site', project });

const noDomain: FindAtDomain = () => Promise.resolve(null);

const everybody = (): Promise<boolean> => Promise.resolve(true);

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
