import type { Repository } from '../sourceHost/port.js';

/** The hosting provider: builds a repository and serves it. Every call may throw ProviderFault (`integrations/fault.ts`). */
export interface Hosting {
  readonly provider: string;

  /** The project made for `marker` (the provisioning job), or null. */
  findProject(request: { name: string; marker: string }): Promise<HostingProject | null>;

  /**
   * Makes the project that builds `repository`; asked again with the same `marker` it answers with the same project. A name taken
   * by somebody else's project is a permanent fault.
   */
  createProject(request: { name: string; marker: string; repository: Repository }): Promise<HostingProject>;

  /** Sets each variable to its value; others stay as they are. */
  setVariables(projectId: string, variables: Readonly<Record<string, string>>): Promise<void>;

  /** Names of the variables that are set. */
  listVariables(projectId: string): Promise<readonly string[]>;

  /** The latest deployment made for `marker`, or null. */
  findDeployment(projectId: string, marker: string): Promise<Deployment | null>;

  /**
   * Builds the head of the repository's default branch and, when that succeeds, serves it; when the build fails, what was served
   * before stays. Resolves when the build has ended. A `marker` whose deployment is ready gets that one again, without a build;
   * after a failed one it is tried anew.
   */
  deploy(projectId: string, marker: string): Promise<Deployment>;

  /** Begins what `deploy` does and resolves as soon as it is under way, or later; a deployment of `marker` that has begun is not begun again. */
  startDeployment(projectId: string, marker: string): Promise<Deployment>;

  /** The latest deployment that is ready, or null. A client can open its address. */
  latestDeployment(projectId: string): Promise<Deployment | null>;

  /** Newest first; those made before `before`, when it is named. */
  listDeployments(
    projectId: string,
    limit: number,
    before?: Pick<Deployment, 'id' | 'createdAt'>,
  ): Promise<readonly Deployment[]>;

  /** Deletes the project that was made for `marker`, with its deployments; answers whether there was one. No other is touched. */
  deleteProject(request: { name: string; marker: string }): Promise<boolean>;
}

/**
 * Where visitors find a website as of now: one that is served here below the public address that the service has now, whatever it had
 * when the website was made; any other where its provider put it. `undefined` before it has an address.
 */
export type SiteAddress = (website: {
  readonly hosting?: { readonly provider: string; readonly projectId: string };
  readonly url?: string;
}) => string | undefined;

export interface HostingProject {
  readonly id: string;
  readonly name: string;
  /** The address that visitors use. */
  readonly url: string;
}

export interface Deployment {
  readonly id: string;
  readonly status: 'building' | 'ready' | 'failed';
  /** Address of just this deployment. */
  readonly url: string;
  /** The commit that it was built from; empty when it was built from none. */
  readonly commit: string;
  /** ISO 8601 UTC. */
  readonly createdAt: string;
  /** What went wrong, in words for people; with `failed` only. */
  readonly error?: string;
}
