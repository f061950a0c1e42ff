import type { Repository } from '../sourceHost/port.js';

/**
 * The hosting provider: builds a repository and serves it. Every call may throw ProviderFault
 * (`integrations/fault.ts`).
 */
export interface Hosting {
  readonly provider: string;

  /** Whether it serves a project only at the domains that `addDomain` names. */
  readonly needsDomains: boolean;

  /** The project that was created for `marker` (the provisioning job), or null. */
  findProject(request: { name: string; marker: string }): Promise<HostingProject | null>;

  /** The project with that id, or null. */
  readProject(projectId: string): Promise<HostingProject | null>;

  /**
   * Creates the project that builds `repository`. Repeated with the same `marker` it returns the
   * same project. A name that another project has is a permanent fault.
   */
  createProject(request: { name: string; marker: string; repository: Repository }): Promise<HostingProject>;

  /** Sets each variable to its value; others stay as they are. */
  setVariables(projectId: string, variables: Readonly<Record<string, string>>): Promise<void>;

  /**
   * Serves the project's site to visitors, or to nobody, until it is said otherwise. Repeated it changes
   * nothing. Websites that are served here are looked up at each request instead (`FindAtAddress`).
   */
  setServed(projectId: string, isServed: boolean): Promise<void>;

  /** The names of the variables that are set. */
  listVariables(projectId: string): Promise<readonly string[]>;

  /** The latest deployment that was started for `marker`, or null. */
  findDeployment(projectId: string, marker: string): Promise<Deployment | null>;

  /** The deployment, or null when it is not there any more. */
  readDeployment(projectId: string, deploymentId: string): Promise<Deployment | null>;

  /**
   * Builds the head of the repository's default branch and serves it when the build succeeds; when
   * it fails, the previous deployment stays. Resolves when the build has ended. Repeated with the
   * `marker` of a ready deployment it returns that one without a build; after a failed one it
   * builds again.
   * @param pause waits that many milliseconds between two looks at a build elsewhere, and may let others work; default: a plain wait
   */
  deploy(projectId: string, marker: string, pause?: (ms: number) => Promise<void>): Promise<Deployment>;

  /**
   * Starts what `deploy` does and resolves once it has started, or later. A deployment of `marker`
   * that is building or ready is not started again.
   */
  startDeployment(projectId: string, marker: string): Promise<Deployment>;

  /**
   * The newest deployment, when another of `commit` would show the same: it is building or ready, was built from that
   * commit, and with the variables that are set now. Else null.
   */
  findUnchanged(projectId: string, commit: string): Promise<Deployment | null>;

  /** The latest ready deployment, or null. A client can open its address. */
  latestDeployment(projectId: string): Promise<Deployment | null>;

  /** Newest first; only those created before `before`, when it is given. */
  listDeployments(
    projectId: string,
    limit: number,
    before?: Pick<Deployment, 'id' | 'createdAt'>,
  ): Promise<readonly Deployment[]>;

  /**
   * Serves the project at the domain too, and asks the provider to look again whether it may. Repeated it
   * changes nothing. A domain that another project has is a permanent fault.
   */
  addDomain(projectId: string, domain: string): Promise<void>;

  /** How the domain stands at the provider. */
  findDomain(projectId: string, domain: string): Promise<HostedDomain>;

  /** Serves the project there no more; nothing to do when it is not served there. */
  removeDomain(projectId: string, domain: string): Promise<void>;

  /**
   * Deletes the project that was created for `marker`, and no other, with its deployments; returns
   * whether it existed. `id` finds it when it has another name by now; when it lost its marker, that is a
   * permanent fault.
   */
  deleteProject(request: { name: string; marker: string; id?: string }): Promise<boolean>;
}

/** Shows how a site would look, at an address that nobody can guess, and to nobody else. */
export interface SitePreviews {
  readonly provider: string;
  /**
   * Builds the head of the project's repository with other files in it, and serves that until a time,
   * as long as the one who asked for it may still see it. The site itself stays as it is. Repeated with
   * the same secret, it is the same preview.
   * @returns its address; or why it cannot be built, for people to read
   */
  show(projectId: string, draft: SiteDraft): Promise<{ readonly url: string } | { readonly failure: string }>;

  /** Removes the files of those that have ended, and returns how many there were. */
  removeEnded(): Promise<number>;
}

export interface SiteDraft {
  /** Part of the address: 32 letters and digits or more. */
  readonly secret: string;
  /** By path. */
  readonly files: ReadonlyMap<string, Uint8Array>;
  /** ISO 8601 UTC. */
  readonly expiresAt: string;
  readonly by: PreviewAuthor;
}

/** For whom a preview was made: it ends with their access. */
export interface PreviewAuthor {
  readonly websiteId: string;
  /** Absent for admins. */
  readonly clientId?: string;
  readonly tokenId?: string;
}

/**
 * The current address of a website: for a website served here the one that follows from the current
 * settings, even if it was created under another one; else the provider's address. `undefined` while it
 * has none.
 */
export type SiteAddress = (website: {
  readonly slug?: string;
  readonly hosting?: { readonly provider: string; readonly projectId: string };
  readonly url?: string;
}) => string | undefined;

/** The names and addresses to which the domains of a website lead in DNS. */
export type DomainTargets = (website: {
  readonly hosting?: { readonly provider: string; readonly projectId: string };
}) => readonly string[];

/**
 * What is at the address with that name (a slug) of websites that are served here; `null` when nothing
 * is. `archived`: it is served to nobody; `moved`: the website's address has that name now.
 * @throws when it is not known
 */
export type FindAtAddress = (
  name: string,
) => Promise<
  | { readonly kind: 'site'; readonly project: string }
  | { readonly kind: 'archived' }
  | { readonly kind: 'moved'; readonly to: string }
  | null
>;

/**
 * What is at a hostname of a website's own; `null` when it is no verified domain. `nothing`: its website
 * is not served here. `slug`: the website's name.
 * @throws when it is not known
 */
export type FindAtDomain = (
  hostname: string,
) => Promise<
  | { readonly kind: 'site'; readonly project: string; readonly slug: string }
  | { readonly kind: 'archived' }
  | { readonly kind: 'nothing' }
  | null
>;

export interface HostingProject {
  readonly id: string;
  readonly name: string;
  /** The address that visitors use. */
  readonly url: string;
}

export interface HostedDomain {
  /** Whether `addDomain` has arrived. */
  readonly isAdded: boolean;
  /**
   * What the provider asks to be set in DNS: `address` leads visitors there, in place of the
   * `DomainTargets` where there is any; `hosting` proves the domain to the provider itself.
   */
  readonly records: readonly {
    readonly type: 'TXT' | 'CNAME' | 'A';
    readonly name: string;
    readonly value: string;
    readonly purpose: 'address' | 'hosting';
  }[];
}

export interface Deployment {
  readonly id: string;
  readonly status: 'building' | 'ready' | 'failed';
  /** The address of this deployment alone. */
  readonly url: string;
  /** The commit that it was built from; empty when there is none. */
  readonly commit: string;
  /** ISO 8601 UTC. */
  readonly createdAt: string;
  /** What went wrong, for people to read; with `failed` only. */
  readonly error?: string;
  /** The error is about the website's own files, not about the provider or its settings. */
  readonly isErrorOfSite?: boolean;
}
