/** The source-code host: where a website's repository lives. Every call may throw ProviderFault (`integrations/fault.ts`). */
export interface SourceHost {
  readonly provider: string;

  /** The repository that was made for `marker` (the provisioning job), or null: asked before making one, so that a retry makes no second. */
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
