import { ProviderFault } from '../../src/integrations/fault.js';
import type { Deployment, Hosting, HostingProject } from '../../src/integrations/hosting/port.js';
import type { Repository, SourceHost } from '../../src/integrations/sourceHost/port.js';

type Marked<Kept> = Kept & { readonly marker: string };
type Named = { readonly name: string };

/**
 * Everything that stands at the other side. Unlike the real ones it makes one more each time it is
 * asked: nothing hides a slip.
 */
export interface Remote {
  readonly repositories: Marked<Repository>[];
  readonly collaborators: string[];
  readonly projects: Marked<HostingProject>[];
  readonly variables: Map<string, string>;
  /** What was said of whether the site is served. */
  readonly serving: boolean[];
  readonly deployments: Marked<Deployment>[];
  /** Project and domain. */
  readonly domains: Set<string>;
}

export const createRemote = (): Remote => ({
  repositories: [],
  collaborators: [],
  projects: [],
  variables: new Map(),
  serving: [],
  deployments: [],
  domains: new Set(),
});

/** Passes a call on to the other side, or not, as the test has it. */
export type Line = <Result>(call: string, act: () => Result) => Promise<Result>;

export const directLine: Line = (_, act) => Promise.resolve(act());

export const transientFault = (message = 'Try again later', retryAfterMs?: number): ProviderFault =>
  new ProviderFault({ provider: 'remote', message, transient: true, ...(retryAfterMs !== undefined && { retryAfterMs }) });

export const permanentFault = (message: string): ProviderFault =>
  new ProviderFault({ provider: 'remote', message, transient: false });

export interface Providers {
  readonly sourceHost: SourceHost;
  readonly hosting: Hosting;
  readonly visit: (url: string) => Promise<number>;
}

/**
 * The providers as one worker reaches them over its `line`; `visited` notes the pages that it asks
 * for.
 */
export const providersOn = (remote: Remote, line: Line = directLine, visited: string[] = []): Providers => {
  const { repositories, collaborators, projects, variables, serving, deployments, domains } = remote;
  const removeFrom = (
    kept: (Named & { readonly id: string; readonly marker: string })[],
    request: Named & { readonly id?: string; readonly marker: string },
  ): boolean => {
    const at = kept.findIndex(
      ({ name, id, marker }) => (name === request.name || id === request.id) && marker === request.marker,
    );
    if (at >= 0) kept.splice(at, 1);
    return at >= 0;
  };
  const deploy = (marker: string): Marked<Deployment> => {
    const id = `d${deployments.length + 1}`;
    const deployment = { id, marker, status: 'ready', url: `https://${id}.example/`, commit: 'abc', createdAt: '' } as const;
    deployments.push(deployment);
    return deployment;
  };
  const of = <Kept extends { marker: string }>(kept: readonly Kept[], marker: string) =>
    kept.find((one) => one.marker === marker) ?? null;
  const named = <Kept extends Named & { marker: string }>(kept: readonly Kept[], { name, marker }: Named & { marker: string }) =>
    kept.find((one) => one.name === name && one.marker === marker) ?? null;
  return {
    sourceHost: {
      provider: 'remote',
      findRepository: (request) => line('findRepository', () => named(repositories, request)),
      createRepository: ({ name, marker }) =>
        line('createRepository', () => {
          const id = `r${repositories.length + 1}`;
          const repository = { id, name, marker, defaultBranch: 'main', cloneUrl: `https://remote.example/${id}.git` };
          repositories.push(repository);
          return repository;
        }),
      inviteCollaborator: (_, username) => line('inviteCollaborator', () => void collaborators.push(username)),
      listCollaborators: () => line('listCollaborators', () => [...collaborators]),
      listTemplates: () => Promise.resolve([]),
      readEditable: () => Promise.resolve(null),
      readFiles: () => Promise.resolve({ head: '', files: new Map() }),
      listFolder: () => Promise.resolve([]),
      commitFiles: () => Promise.resolve(null),
      readPicture: () => Promise.resolve(null),
      defaultTemplateId: 'business',
      listCommits: () => Promise.resolve([]),
      deleteRepository: (request) => line('deleteRepository', () => removeFrom(repositories, request)),
    },
    hosting: {
      provider: 'remote',
      needsDomains: true,
      findProject: (request) => line('findProject', () => named(projects, request)),
      readProject: (id) => line('readProject', () => projects.find((one) => one.id === id) ?? null),
      createProject: ({ name, marker }) =>
        line('createProject', () => {
          const id = `p${projects.length + 1}`;
          const project = { id, name, marker, url: `https://${name}.example/` };
          projects.push(project);
          return project;
        }),
      setVariables: (_, values) =>
        line('setVariables', () => {
          for (const [name, value] of Object.entries(values)) variables.set(name, value);
        }),
      setServed: (_, isServed) => line('setServed', () => void serving.push(isServed)),
      listVariables: () => line('listVariables', () => [...variables.keys()]),
      findDeployment: (_, marker) => line('findDeployment', () => of(deployments, marker)),
      readDeployment: (_, id) => line('readDeployment', () => deployments.find((one) => one.id === id) ?? null),
      deploy: (_, marker) => line('deploy', () => deploy(marker)),
      startDeployment: (_, marker) => line('startDeployment', () => deploy(marker)),
      findUnchanged: () => Promise.resolve(null),
      latestDeployment: () => Promise.resolve(deployments.at(-1) ?? null),
      listDeployments: () => Promise.resolve(deployments),
      addDomain: (projectId, domain) => line('addDomain', () => void domains.add(`${projectId} ${domain}`)),
      findDomain: (projectId, domain) => Promise.resolve({ isAdded: domains.has(`${projectId} ${domain}`), records: [] }),
      removeDomain: (projectId, domain) => line('removeDomain', () => void domains.delete(`${projectId} ${domain}`)),
      deleteProject: (request) => line('deleteProject', () => removeFrom(projects, request)),
    },
    visit: (url) => {
      visited.push(url);
      return line('visit', () => (deployments.length > 0 ? 200 : 404));
    },
  };
};

export const oneOfEach = { repositories: 1, collaborators: 1, projects: 1, deployments: 1 };

/** How many of each there are. */
export const countsOf = ({ repositories, collaborators, projects, deployments }: Remote): typeof oneOfEach => ({
  repositories: repositories.length,
  collaborators: collaborators.length,
  projects: projects.length,
  deployments: deployments.length,
});
