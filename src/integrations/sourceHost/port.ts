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

  /** Usernames that have write access or were invited. */
  listCollaborators(repositoryId: string): Promise<readonly string[]>;

  /**
   * The commits of the default branch, newest first.
   * @param from those that come with the commit `head` instead, without the newest `skip`
   * @returns null when there is no such commit as `head`
   */
  listCommits(
    repositoryId: string,
    limit: number,
    from?: { readonly head: string; readonly skip: number },
  ): Promise<readonly Commit[] | null>;

  /**
   * The newest commit of the default branch, and those of the files at `paths` that it has.
   */
  readFiles(repositoryId: string, paths: readonly string[]): Promise<RepositoryFiles>;

  /** The names in a folder of a commit; none when it is not there. */
  listFolder(repositoryId: string, commit: string, path: string): Promise<readonly string[]>;

  /**
   * Puts files into a commit on top of `parent`, and the default branch onto that commit. Called again after it
   * was interrupted, it goes on with what is missing.
   * @returns its id, that of `parent` when it holds these files already; or null when the default
   *   branch is elsewhere by now: read again
   */
  commitFiles(
    repositoryId: string,
    change: {
      parent: string;
      /** By path; `null` removes a file, or a folder with all that is in it. */
      files: ReadonlyMap<string, Uint8Array | null>;
      message: string;
      /**
       * Called before each file is looked for, and right before anything is created; throws when the attempt
       * that makes the commit may no longer go on.
       */
      assertHeld: () => void;
      /** Called with the commit before the branch is moved onto it, which may come to nothing. */
      announce?: (commit: string) => Promise<void>;
    },
  ): Promise<string | null>;

  /**
   * Deletes the repository that was created for `marker`, and no other; returns whether it existed.
   * `id` finds it when it has another name or owner by now; when it lost its marker, that is a permanent fault.
   */
  deleteRepository(request: { name: string; marker: string; id?: string }): Promise<boolean>;

  /** The templates that `createRepository` accepts. */
  listTemplates(): Promise<readonly { id: string; name: string; description: string }[]>;

  /**
   * What people may edit of a template, as a JSON Schema with a property for each document; `null`
   * when the template says nothing, or is not there.
   */
  readEditable(templateId: string): Promise<EditableSchema | null>;

  /** The picture of a template as WebP, or its address elsewhere; `null` when there is none. */
  readPicture(templateId: string): Promise<Uint8Array | string | null>;
}

/** A JSON Schema (2020-12) of an object, whose properties are the documents of content. */
export interface EditableSchema {
  readonly properties: Readonly<Record<string, unknown>>;
  readonly [keyword: string]: unknown;
}

/** The ids of the documents that a template declares, in its order. */
export const declaredIn = (editable: EditableSchema | null): readonly string[] => Object.keys(editable?.properties ?? {});

export interface RepositoryFiles {
  readonly head: string;
  /** By path. */
  readonly files: ReadonlyMap<string, Uint8Array>;
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

/** The largest push, in bytes (api.md, section 3). */
export const maxPushBytes = 200 * 1024 * 1024;

/** What pushes may make of a repository, with what is no longer part of its history but not removed yet. */
export const maxRepositoryBytes = 1_000_000_000;

/** `git-upload-pack` serves clones, `git-receive-pack` takes pushes. */
export type GitService = 'git-upload-pack' | 'git-receive-pack';

export interface BranchObserver {
  /** Called with one repository after the other; when it throws, all are compared again some time later. */
  readonly compare: (repositoryId: string) => Promise<void>;
  /** Called right after a change, possibly before the process that made it has recorded it. */
  readonly onChange: (repositoryId: string) => void;
}

/** Serves the repositories of the embedded source host by git's protocols over HTTP. */
export interface GitServer {
  /**
   * Whether git is installed on this machine: without it, repositories are served as files alone.
   * @throws ProviderFault (transient) when the machine is too busy to say
   */
  isInstalled(): Promise<boolean>;

  /** Removes what processes that were killed have left, and what would keep git from cloning and pushing. */
  removeLeftovers(repositoryId: string): Promise<void>;

  /** How many bytes its history and its branches take on the disk. */
  bytesOf(repositoryId: string): Promise<number>;

  /** The commit that the default branch points to, or null. */
  headOf(repositoryId: string): Promise<string | null>;

  /**
   * A file of the dumb protocol (https://git-scm.com/docs/http-protocol), named by its path in the
   * repository; null when it is none, or not there. `info/refs` and `objects/info/packs` are computed.
   */
  file(repositoryId: string, path: string): Promise<GitFile | null>;

  /** A file without a name for a body of any size, gone once it is closed. */
  openBuffer(): Promise<BodyBuffer>;

  /**
   * Answers a request of the smart protocol with git itself, which sees nothing of this process's
   * environment and runs no hook. `signal` ends it at once, as do its own time limits.
   * @throws ProviderFault when git gives no answer
   */
  serve(request: GitRequest, signal: AbortSignal): Promise<GitResponse>;

  /** What the repository was created for (the provisioning job), or null. */
  markerOf(repositoryId: string): Promise<string | null>;

  /**
   * Notices, from now on, repositories whose branches may have changed, by whatever program and also while nobody
   * watched.
   * @returns what ends it
   */
  watch(observer: BranchObserver): Promise<() => void>;

  /** Packs what pushes have left in single files, when there are many. */
  tidyUp(repositoryId: string): Promise<void>;
}

export interface GitFile {
  readonly contentType: string;
  /** Its content never changes. */
  readonly isImmutable: boolean;
  readonly bytes: number;
  readonly content: AsyncIterable<Uint8Array> | Uint8Array;
  /** To be called when `content` is not read. */
  close(): Promise<void>;
}

export interface BodyBuffer {
  readonly bytes: number;
  write(chunk: Uint8Array): Promise<void>;
  /** A file descriptor at the beginning of what was written. */
  readonly readFrom: number;
  close(): Promise<void>;
}

export interface GitRequest {
  readonly repositoryId: string;
  readonly service: GitService;
  /** Absent: which refs there are. */
  readonly body?: BodyBuffer;
  /** Of the body: `gzip`, or none. */
  readonly encoding?: 'gzip';
  /** The header `Git-Protocol`. */
  readonly protocol?: string;
  /** Named in the log of refs, if there is one. */
  readonly user: string;
}

export interface GitResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly content: AsyncIterable<Uint8Array>;
  /** Resolves once git has ended: whether by itself. */
  readonly ended: Promise<boolean>;
}
