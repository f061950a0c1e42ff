/**
 * The host of the websites' repositories. Every call may throw ProviderFault
 * (`integrations/fault.ts`).
 */
export interface SourceHost {
  readonly provider: string;

  /** The template of websites that name none. */
  readonly defaultTemplateId: string;

  /**
   * The repository that was created for `marker` (the provisioning job), or null. Called before
   * creating one, so that a retry creates no second. Resolves when the default branch has a commit.
   */
  findRepository(request: { name: string; marker: string }): Promise<Repository | null>;

  /**
   * Creates a repository from a template and stores `marker` in it. Resolves when the default
   * branch has a commit. Repeated with the same `marker` it returns the same repository. A name
   * that another repository has, and an unknown template, are permanent faults.
   */
  createRepository(request: { name: string; templateId: string; marker: string; description: string }): Promise<Repository>;

  /** Gives `username` write access. Repeating it changes nothing. */
  inviteCollaborator(repositoryId: string, username: string): Promise<void>;

  /** Usernames that have access or were invited. */
  listCollaborators(repositoryId: string): Promise<readonly string[]>;

  /** The commits of the default branch, newest first, without the newest `skip` (default: 0). */
  listCommits(repositoryId: string, limit: number, skip?: number): Promise<readonly Commit[]>;

  /**
   * Deletes the repository that was created for `marker`, and no other; returns whether it existed.
   */
  deleteRepository(request: { name: string; marker: string }): Promise<boolean>;

  /** The templates that `createRepository` accepts. */
  listTemplates(): Promise<readonly { id: string; name: string; description: string }[]>;
}

export interface Repository {
  readonly id: string;
  readonly name: string;
  readonly defaultBranch: string;
  /** What `git clone` takes. */
  readonly cloneUrl: string;
}

export interface Commit {
  /** 40 hexadecimal digits. */
  readonly id: string;
  readonly message: string;
  /** The author's name, empty when it is not known. */
  readonly author: string;
  /** When it was committed, ISO 8601 UTC. */
  readonly committedAt?: string;
  /** Its page on the source host. */
  readonly url?: string;
}
