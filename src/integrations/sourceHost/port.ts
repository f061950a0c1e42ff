/** The source-code host: where a website's repository lives. Every call may throw ProviderFault (`integrations/fault.ts`). */
export interface SourceHost {
  readonly provider: string;

  /** The template of a website for which none is named. */
  readonly defaultTemplateId: string;

  /** The repository that was made for `marker` (the provisioning job), or null: asked before making one, so that a retry makes no second. Resolves when its default branch has a commit. */
  findRepository(request: { name: string; marker: string }): Promise<Repository | null>;

  /**
   * Makes a repository from a template and leaves `marker` in it; resolves when its default branch has a commit.
   * Asked again with the same `marker` it answers with the same repository. A name taken by somebody else's repository and an
   * unknown template are permanent faults.
   */
  createRepository(request: { name: string; templateId: string; marker: string; description: string }): Promise<Repository>;

  /** Gives `username` write access; inviting somebody again changes nothing. */
  inviteCollaborator(repositoryId: string, username: string): Promise<void>;

  /** Usernames that have access or were invited. */
  listCollaborators(repositoryId: string): Promise<readonly string[]>;

  /** The commits of the default branch, newest first, without the newest `skip` (default: 0). */
  listCommits(repositoryId: string, limit: number, skip?: number): Promise<readonly Commit[]>;

  /** Deletes the repository that was made for `marker`, with everything in it; answers whether there was one. No other is touched. */
  deleteRepository(request: { name: string; marker: string }): Promise<boolean>;

  /** Templates that `createRepository` takes. */
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
  /** Where people read it. */
  readonly url?: string;
}
