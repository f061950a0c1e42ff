import { isUtf8 } from 'node:buffer';
import { createHash } from 'node:crypto';
import type { Octokit } from '@octokit/rest';
import { parseCommit, parseSha, parseTree } from './gitHubObjects.js';
import type { SourceHost } from './port.js';

/** Of all the texts that go along with a tree, in bytes; any more go one by one, like pictures. */
const MAX_INLINE_BYTES = 1_024 * 1_024;

/** GitHub answers HEAD wherever it answers GET (https://docs.github.com/en/rest/using-the-rest-api). */
const headOfBlob = 'HEAD /repos/{owner}/{repo}/git/blobs/{file_sha}';

interface Location {
  readonly owner: string;
  readonly repo: string;
}

/** A file of a tree: what it holds, or the id of what the repository has; `null` removes it. */
type Entry = { readonly path: string; readonly mode: '100644'; readonly type: 'blob' } & (
  { readonly content: string } | { readonly sha: string | null }
);

/** How the adapter speaks to GitHub (`github.ts`). */
export interface GitHubClient {
  readonly ask: <Result>(act: (octokit: Octokit) => Promise<Result>) => Promise<Result>;
  /** The result of `act`, or `otherwise` for an error with one of the statuses. */
  readonly unless: <Result, Otherwise>(
    statuses: readonly number[],
    act: (octokit: Octokit) => Promise<Result>,
    otherwise: Otherwise,
  ) => Promise<Result | Otherwise>;
  /**
   * For the `request` of a call: `assertHeld` is called when it has left the queue of the throttling, right before
   * it is sent.
   */
  readonly fetchUnder: (guard: { readonly assertHeld: () => void; readonly retryable: boolean }) => unknown;
  readonly locationOf: (repositoryId: string) => Location;
  readonly branchOf: (location: Location) => Promise<string>;
  readonly headOf: (location: Location, ref: string) => Promise<string>;
}

/** The id that git gives to a file (https://git-scm.com/book/en/v2/Git-Internals-Git-Objects). */
const blobId = (content: Uint8Array): string =>
  createHash('sha1')
    .update(`blob ${String(content.byteLength)}\0`)
    .update(content)
    .digest('hex');

/** Whether it can be sent as it is; git takes what holds a zero for binary, too. */
const isText = (content: Uint8Array): boolean => content.byteLength > 0 && isUtf8(content) && !content.includes(0);

/**
 * Commits by GitHub's Git database API, which takes each file in a request of its own, one a second: only what
 * the repository does not have is sent. That holds also for what an attempt has sent that did not get to its
 * end, since GitHub keeps files that belong to no commit yet.
 */
export const createCommitFiles = (client: GitHubClient): SourceHost['commitFiles'] => {
  const { ask, unless, fetchUnder, locationOf, branchOf, headOf } = client;

  /** What a commit holds, by path; of a very long list (`truncated`), the files left out are asked for one by one. */
  const filesOf = async (location: Location, tree: string) => {
    const request = { ...location, tree_sha: tree, recursive: '1' };
    const { tree: entries } = parseTree((await ask(({ rest }) => rest.git.getTree(request))).data);
    return new Map(entries.filter(({ type }) => type === 'blob').map((entry) => [entry.path, entry]));
  };

  /** Asks for the headers alone: the answer to `GET` is the file. */
  const hasBlob = async (location: Location, sha: string): Promise<boolean> => {
    const request = { ...location, file_sha: sha };
    // A refusal comes without words: sending the file finds out why.
    const answer = await unless([403, 404], (octokit) => octokit.request(headOfBlob, request), null);
    return answer !== null;
  };

  return async (repositoryId, { parent, files, message, assertHeld, announce }) => {
    const location = locationOf(repositoryId);
    const ref = `heads/${await branchOf(location)}`;
    const before = parseCommit((await ask(({ rest }) => rest.git.getCommit({ ...location, commit_sha: parent }))).data);
    const there = await filesOf(location, before.tree.sha);
    const known = new Set([...there.values()].map(({ sha }) => sha));
    /** What is sent again is there only once. */
    const repeatable = { ...location, request: { fetch: fetchUnder({ assertHeld, retryable: true }) } };
    const once = { ...location, request: { fetch: fetchUnder({ assertHeld, retryable: false }) } };

    const unlessMoved = async (): Promise<string | null> => ((await headOf(location, ref)) === parent ? parent : null);

    let inlineBytes = 0;
    const entryOf = async (path: string, content: Uint8Array, sha: string): Promise<Entry> => {
      const entry = { path, mode: '100644', type: 'blob' } as const;
      if (known.has(sha)) return { ...entry, sha };
      if (isText(content) && inlineBytes + content.byteLength <= MAX_INLINE_BYTES) {
        inlineBytes += content.byteLength;
        return { ...entry, content: Buffer.from(content).toString() };
      }
      assertHeld();
      if (!(await hasBlob(location, sha))) {
        const blob = { ...repeatable, content: Buffer.from(content).toString('base64'), encoding: 'base64' };
        parseSha((await ask(({ rest }) => rest.git.createBlob(blob))).data);
      }
      known.add(sha);
      return { ...entry, sha };
    };

    const tree: Entry[] = [];
    for (const [path, content] of files) {
      if (content === null) {
        const gone = [...there.keys()].filter((each) => each === path || each.startsWith(`${path}/`));
        tree.push(...gone.map((each) => ({ path: each, mode: '100644', type: 'blob', sha: null }) as const));
        continue;
      }
      const sha = blobId(content);
      const old = there.get(path);
      if (old?.sha !== sha || old.mode !== '100644') tree.push(await entryOf(path, content, sha));
    }
    if (tree.length === 0) return unlessMoved();
    const changed = { ...repeatable, base_tree: before.tree.sha, tree };
    const root = parseSha((await ask(({ rest }) => rest.git.createTree(changed))).data).sha;
    // Of a list that was cut off, files may be there that it does not name.
    if (root === before.tree.sha) return unlessMoved();
    const commit = { ...once, message, tree: root, parents: [parent] };
    const { sha } = parseSha((await ask(({ rest }) => rest.git.createCommit(commit))).data);
    await announce?.(sha);
    // Without force, GitHub moves a branch only onto what comes after it: 422 when it is elsewhere, and when a
    // rule of the repository is against it.
    const move = ({ rest }: Octokit) => rest.git.updateRef({ ...once, ref, sha, force: false });
    if ((await unless([422], move, null)) !== null) return sha;
    if ((await unlessMoved()) === null) return null;
    // Once more, for GitHub's own words.
    await ask(move);
    return sha;
  };
};
