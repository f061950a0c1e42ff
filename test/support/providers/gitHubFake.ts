import { createHash } from 'node:crypto';
import type { FakeCommit, FakeRepository } from './gitHubFakeRepository.js';
import { openApiJudge } from './openApiJudge.js';
import type { FakeAnswer, FakeProvider, FakeRequest } from './wire.js';

export interface GitHubFake {
  readonly provider: FakeProvider;
  readonly owner: string;
  readonly token: string;
  readonly template: string;
  /** Of the organisation, who may read all repositories. */
  readonly members: Set<string>;
  /** By name. */
  readonly repositories: ReadonlyMap<string, FakeRepository>;
  /** All repositories ever created. */
  readonly made: readonly string[];
  /** Adds a repository of somebody else. */
  addStranger(name: string, description?: string): void;
  remove(name: string): void;
  /** Its former name leads to it until another one has that. */
  rename(name: string, to: string): void;
  commit(name: string, words: string | null): string;
  /** Puts a text file into the newest commit. */
  addFile(name: string, path: string, text: string): void;
}

const judge = openApiJudge(new URL('../../fixtures/githubOpenApi.json', import.meta.url));
const fullRepository = judge.example('full-repository');
const person = judge.example('simple-user');
const commitForm = judge.example('commit');
const invitationForm = judge.example('repository-invitation');
const fileForm = judge.example('content-file');
const { content: _content, encoding: _encoding, ...directoryEntry } = fileForm;
const refForm = judge.example('git-ref');
const gitCommitForm = judge.example('git-commit');
const shortBlobForm = judge.example('short-blob');
const blobForm = judge.example('blob');
const treeForm = judge.example('git-tree');
const collaboratorForm = judge.example('collaborator');

/** As git gives it to a file. */
const blobIdOf = (base64: string): string => {
  const content = Buffer.from(base64, 'base64');
  return createHash('sha1')
    .update(`blob ${String(content.length)}\0`)
    .update(content)
    .digest('hex');
};

/**
 * The part of GitHub that the service uses, with one account and one template. Requests and
 * responses are checked against GitHub's OpenAPI description.
 */
export const createGitHubFake = ({ copying = 2 }: { copying?: number } = {}): GitHubFake => {
  const owner = 'agency';
  const template = 'site-template';
  const token = 'ghp_canary0123456789';
  const repositories = new Map<string, FakeRepository>();
  const made: string[] = [];
  const members = new Set<string>();
  /** Current names by former ones. */
  const renamed = new Map<string, string>();
  let commits = 0;

  const newSha = (): string => {
    commits += 1;
    return commits.toString(16).padStart(40, 'a');
  };
  const newCommit = (
    message: string,
    words: string | null,
    files: ReadonlyMap<string, string> = new Map<string, string>(),
  ): FakeCommit => {
    return { sha: newSha(), message, words, files };
  };
  const add = (name: string, description: string, isPrivate: boolean, content: FakeCommit[], wait: number): FakeRepository => {
    const repository = {
      name,
      description,
      isPrivate,
      commits: content,
      collaborators: [owner],
      invitations: [],
      copying: wait,
      races: 0,
      rule: null,
      blobs: new Map<string, string>(),
      maxTreeEntries: Infinity,
    };
    repositories.set(name, repository);
    return repository;
  };
  add(template, 'What every site starts from', true, [newCommit('Begin', 'Welcome')], 0);

  const toResource = ({ name, description, isPrivate }: FakeRepository): Record<string, unknown> => ({
    ...fullRepository,
    name,
    full_name: `${owner}/${name}`,
    description,
    private: isPrivate,
    default_branch: 'main',
    clone_url: `https://github.com/${owner}/${name}.git`,
  });
  const commitBody = ({ sha, message }: FakeCommit): Record<string, unknown> => {
    const by = { name: 'Ada Lovelace', email: 'ada@example.com', date: '2026-01-01T00:00:00Z' };
    return {
      ...commitForm,
      sha,
      html_url: `https://github.com/${owner}/site/commit/${sha}`,
      commit: { ...(commitForm['commit'] as object), message, author: by, committer: by },
    };
  };
  const errorResponse = (status: number, message: string): FakeAnswer => ({
    status,
    body: { message, documentation_url: 'https://docs.github.com/rest' },
  });
  const missing = errorResponse(404, 'Not Found');
  const page = <Item>({ query }: FakeRequest, items: readonly Item[]): readonly Item[] => {
    const size = Number(query.get('per_page') ?? 30);
    return items.slice((Number(query.get('page') ?? 1) - 1) * size).slice(0, size);
  };
  const commitsFrom = (request: FakeRequest, all: readonly FakeCommit[]): FakeAnswer => {
    const from = request.query.get('sha');
    const first = from === null ? 0 : all.findIndex(({ sha }) => sha === from);
    if (first < 0) return errorResponse(404, 'Not Found');
    return { status: 200, body: page(request, all.slice(first)).map(commitBody) };
  };
  const link = (request: FakeRequest, count: number): Record<string, string> => {
    const { path, query, headers } = request;
    const size = Number(query.get('per_page') ?? 30);
    const number = Number(query.get('page') ?? 1);
    if (number * size >= count) return {};
    const next = new URLSearchParams(query);
    next.set('page', String(number + 1));
    return { link: `<http://${headers.get('host') ?? ''}${path}?${String(next)}>; rel="next"` };
  };

  const generate = ({ body }: FakeRequest, from: FakeRepository): FakeAnswer => {
    const input = body as { name: string; owner: string; description: string; private: boolean };
    if (input.owner !== owner) return missing;
    if (repositories.has(input.name.toLowerCase()))
      return errorResponse(422, 'Could not clone: Name already exists on this account');
    if (input.description.length > 350) return errorResponse(422, 'description is too long (maximum is 350 characters)');
    made.push(input.name);
    const content = [newCommit('Initial commit', from.commits[0]?.words ?? null, from.commits[0]?.files)];
    return { status: 201, body: toResource(add(input.name.toLowerCase(), input.description, input.private, content, copying)) };
  };

  const answerFor = (request: FakeRequest): FakeAnswer => {
    if (request.headers.get('authorization') !== `token ${token}`) return errorResponse(401, 'Bad credentials');
    const [, , holder = '', name = '', part, more, last] = request.path.split('/').map(decodeURIComponent);
    const repository = holder.toLowerCase() === owner ? repositories.get(name.toLowerCase()) : undefined;
    const current = renamed.get(name.toLowerCase());
    if (repository === undefined && current !== undefined) {
      const location = request.path.replace(`/${name}`, `/${current}`);
      return { ...errorResponse(301, 'Moved Permanently'), headers: { location } };
    }
    if (repository === undefined) return missing;
    if (request.method === 'DELETE') {
      repositories.delete(name.toLowerCase());
      return { status: 204 };
    }
    switch (part) {
      case undefined:
        return { status: 200, body: toResource(repository) };
      case 'generate':
        return generate(request, repository);
      case 'commits':
        if (repository.copying > 0) {
          repository.copying -= 1;
          return errorResponse(409, 'Git Repository is empty.');
        }
        return commitsFrom(request, repository.commits);
      case 'collaborators':
        if (request.method === 'PUT') return invite(repository, more ?? '');
        return listCollaborators(request, repository);
      case 'contents':
        return contentOf(request, repository, more ?? '');
      case 'git':
        return gitData(request, repository, more ?? '', last ?? '');
      case 'invitations':
        return {
          status: 200,
          body: page(request, repository.invitations).map((login) => ({ ...invitationForm, invitee: { ...person, login } })),
          headers: link(request, repository.invitations.length),
        };
      default:
        return missing;
    }
  };
  const listCollaborators = (request: FakeRequest, { collaborators }: FakeRepository): FakeAnswer => {
    const all = [...new Set([...collaborators, ...members])];
    const body = page(request, all).map((login) => {
      const push = collaborators.includes(login);
      return { ...collaboratorForm, login, permissions: { pull: true, push, admin: false } };
    });
    return { status: 200, body, headers: link(request, all.length) };
  };
  const contentOf = ({ query }: FakeRequest, { commits: all }: FakeRepository, path: string): FakeAnswer => {
    const ref = query.get('ref');
    const commit = ref === null ? all[0] : all.find(({ sha }) => sha === ref);
    const content = commit?.files.get(path);
    if (content === undefined) {
      const below = [...(commit?.files.keys() ?? [])].filter((known) => known.startsWith(`${path}/`));
      const names = [...new Set(below.map((known) => known.slice(path.length + 1).split('/')[0] ?? ''))];
      const entries = names.map((name) => {
        const isFile = commit?.files.has(`${path}/${name}`) === true;
        return { ...directoryEntry, type: isFile ? 'file' : 'dir', name, path: `${path}/${name}` };
      });
      return names.length === 0 ? missing : { status: 200, body: entries };
    }
    const size = Buffer.from(content, 'base64').length;
    const held = size > 1_000_000 ? { encoding: 'none', content: '' } : { encoding: 'base64', content };
    const body = { ...fileForm, type: 'file', name: path, path, sha: blobIdOf(content), size, ...held };
    return { status: 200, body };
  };
  /** Of this repository alone. */
  const blobIn = ({ blobs, commits: all }: FakeRepository, id: string): string | undefined =>
    blobs.get(id) ?? all.flatMap(({ files }) => [...files.values()]).find((content) => blobIdOf(content) === id);
  const listed = ({ maxTreeEntries }: FakeRepository, sha: string, files: ReadonlyMap<string, string>): FakeAnswer => {
    const entries = [...files].map(([path, content]) => ({ path, mode: '100644', type: 'blob', sha: blobIdOf(content) }));
    const truncated = entries.length > maxTreeEntries;
    return { status: 200, body: { ...treeForm, sha, tree: truncated ? entries.slice(0, maxTreeEntries) : entries, truncated } };
  };
  /** What was made by the API and is in no branch yet, by its id. */
  const trees = new Map<string, ReadonlyMap<string, string>>();
  const loose = new Map<string, FakeCommit & { readonly parent: string }>();
  /** What lies in a folder itself, each folder in it with a tree of its own. */
  const entriesOf = (sha: string, files: ReadonlyMap<string, string>): FakeAnswer => {
    const entries = new Map<string, object>();
    const folders = new Map<string, Map<string, string>>();
    for (const [path, content] of files) {
      const [name = '', ...rest] = path.split('/');
      if (rest.length === 0) entries.set(name, { path: name, mode: '100644', type: 'blob', sha: blobIdOf(content) });
      else folders.set(name, (folders.get(name) ?? new Map<string, string>()).set(rest.join('/'), content));
    }
    for (const [name, below] of folders) {
      const tree = newSha();
      trees.set(tree, below);
      entries.set(name, { path: name, mode: '040000', type: 'tree', sha: tree });
    }
    return { status: 200, body: { ...treeForm, sha, tree: [...entries.values()], truncated: false } };
  };
  const treeOf = (commit: FakeCommit): string => {
    const sha = `${commit.sha.slice(2)}ee`;
    trees.set(sha, commit.files);
    return sha;
  };
  interface FakeEntry {
    readonly path: string;
    readonly sha?: string | null;
    readonly content?: string;
  }
  const gitData = ({ method, body, query }: FakeRequest, repository: FakeRepository, kind: string, id: string): FakeAnswer => {
    const head = repository.commits[0];
    if (head === undefined) return errorResponse(409, 'Git Repository is empty.');
    switch (`${method} ${kind}`) {
      case 'GET ref':
        if (id !== 'heads/main') return missing;
        return {
          status: 200,
          body: { ...refForm, ref: `refs/${id}`, object: { ...(refForm['object'] as object), sha: head.sha } },
        };
      case 'GET commits': {
        const commit = repository.commits.find(({ sha }) => sha === id);
        if (commit === undefined) return missing;
        const tree = { ...(gitCommitForm['tree'] as object), sha: treeOf(commit) };
        return { status: 200, body: { ...gitCommitForm, sha: commit.sha, message: commit.message, tree } };
      }
      case 'POST blobs': {
        const { content, encoding } = body as { content: string; encoding?: string };
        if (encoding !== 'base64') return errorResponse(422, 'only base64 is sent');
        const sha = blobIdOf(content);
        repository.blobs.set(sha, content);
        return { status: 201, body: { ...shortBlobForm, sha } };
      }
      case 'HEAD blobs':
      case 'GET blobs': {
        const content = blobIn(repository, id);
        return content === undefined ? missing : { status: 200, body: { ...blobForm, sha: id, content, encoding: 'base64' } };
      }
      case 'GET trees': {
        const files = trees.get(id) ?? repository.commits.find(({ sha }) => sha === id)?.files;
        if (files === undefined) return missing;
        return query.get('recursive') === null ? entriesOf(id, files) : listed(repository, id, files);
      }
      case 'POST trees': {
        const { base_tree, tree } = body as { base_tree: string; tree: FakeEntry[] };
        const base = trees.get(base_tree);
        if (base === undefined) return missing;
        const removed = new Set(tree.filter(({ sha }) => sha === null).map(({ path }) => path));
        if ([...removed].some((path) => !base.has(path))) return errorResponse(422, 'GitRPC::BadObjectState');
        const entries = tree
          .filter(({ path }) => !removed.has(path))
          .map(({ path, sha, content }) => [
            path,
            content === undefined ? blobIn(repository, sha ?? '') : Buffer.from(content).toString('base64'),
          ]);
        if (entries.some(([, content]) => content === undefined)) return errorResponse(422, 'tree.sha is not a valid blob');
        const kept = [...base].filter(([path]) => !removed.has(path));
        const files = new Map([...kept, ...(entries as [string, string][])]);
        const isSame = files.size === base.size && [...files].every(([path, content]) => base.get(path) === content);
        const sha = isSame ? base_tree : newSha();
        trees.set(sha, files);
        return { status: 201, body: { ...treeForm, sha } };
      }
      case 'POST commits': {
        const { message, tree, parents } = body as { message: string; tree: string; parents: string[] };
        const commit = newCommit(message, head.words, trees.get(tree));
        loose.set(commit.sha, { ...commit, parent: parents[0] ?? '' });
        return { status: 201, body: { ...gitCommitForm, sha: commit.sha, message } };
      }
      case 'PATCH refs': {
        const { sha, force } = body as { sha: string; force?: boolean };
        if (repository.rule !== null) return errorResponse(422, repository.rule);
        if (repository.races > 0) {
          repository.races -= 1;
          repository.commits.unshift(newCommit('Push something', head.words, head.files));
        }
        const commit = loose.get(sha);
        if (commit === undefined || force === true || commit.parent !== repository.commits[0]?.sha) {
          return errorResponse(422, 'Update is not a fast forward');
        }
        repository.commits.unshift(commit);
        return { status: 200, body: { ...refForm, ref: `refs/${id}`, object: { ...(refForm['object'] as object), sha } } };
      }
      default:
        return missing;
    }
  };
  const invite = (repository: FakeRepository, login: string): FakeAnswer => {
    if (login.startsWith('nobody')) return missing;
    if (members.has(login) && !repository.collaborators.includes(login)) repository.collaborators.push(login);
    if (repository.collaborators.includes(login)) return { status: 204 };
    if (!repository.invitations.includes(login)) repository.invitations.push(login);
    return { status: 201, body: { ...invitationForm, invitee: { ...person, login } } };
  };

  let sent = 0;
  return {
    owner,
    token,
    template,
    members,
    repositories,
    made,
    addStranger: (name, description = 'Somebody else’s') => {
      add(name, description, false, [newCommit('Begin', 'Stranger')], 0);
    },
    remove: (name) => {
      repositories.delete(name);
    },
    rename: (name, to) => {
      const repository = repositories.get(name);
      if (repository === undefined) throw new Error(`there is no repository ${name}`);
      repositories.delete(name);
      repositories.set(to, { ...repository, name: to });
      renamed.set(name, to);
    },
    commit: (name, words) => {
      const repository = repositories.get(name);
      const commit = newCommit('Change the site', words, repository?.commits[0]?.files);
      repository?.commits.unshift(commit);
      return commit.sha;
    },
    addFile: (name, path, text) => {
      const repository = repositories.get(name);
      const head = repository?.commits[0];
      if (repository === undefined || head === undefined) throw new Error(`there is no repository ${name}`);
      const files = new Map([...head.files, [path, Buffer.from(text).toString('base64')]]);
      repository.commits.splice(0, 1, { ...head, files });
    },
    provider: (request) => {
      judge.request(request);
      const answer = answerFor(request);
      judge.answer(request, answer);
      return { ...answer, headers: { 'x-github-request-id': `F00D:${String((sent += 1))}`, ...answer.headers } };
    },
  };
};
