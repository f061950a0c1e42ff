export interface FakeCommit {
  readonly sha: string;
  readonly message: string;
  /** The text of the built site; null: the build fails. */
  readonly words: string | null;
  /** Content by path, in base64: those that were put into it by the API, or before. */
  readonly files: ReadonlyMap<string, string>;
}

export interface FakeRepository {
  readonly name: string;
  description: string;
  readonly isPrivate: boolean;
  /** Newest first. */
  readonly commits: FakeCommit[];
  /** With write access. */
  readonly collaborators: string[];
  readonly invitations: string[];
  /**
   * For how many more requests its commits are still missing, because the template is being copied.
   */
  copying: number;
  /** The next moves of its branch that find it elsewhere, because somebody has pushed. */
  races: number;
  /** GitHub's words, while a rule of the repository keeps its branch from moving. */
  rule: string | null;
  /** Files that were sent to it, in base64, by their ids; no commit may have them yet. */
  readonly blobs: Map<string, string>;
  /** How much of a tree is listed, in entries. */
  maxTreeEntries: number;
}
