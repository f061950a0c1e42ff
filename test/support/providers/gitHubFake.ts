import { openApiJudge } from './openApiJudge.js';
import type { FakeAnswer, FakeProvider, FakeRequest } from './wire.js';

export interface FakeCommit {
  readonly sha: string;
  readonly message: string;
  /** The text of the built site; null: the build fails. */
  readonly words: string | null;
}

export interface FakeRepository {
  readonly name: string;
  readonly description: string;
  readonly isPrivate: boolean;
  /** Newest first. */
  readonly commits: FakeCommit[];
  readonly collaborators: string[];
  readonly invitations: string[];
  /**
   * For how many more requests its commits are still missing, because the template is being copied.
   */
  copying: number;
}

export interface GitHubFake {
  readonly provider: FakeProvider;
  readonly owner: string;
  readonly token: string;
  readonly template: string;
  /** By name. */
  readonly repositories: ReadonlyMap<string, FakeRepository>;
  /** All repositories ever created. */
  readonly made: readonly string[];
  /** Adds a repository of somebody else. */
  addStranger(name: string, description?: string): void;
  commit(name: string, words: string | null): string;
}

const judge = openApiJudge(new URL('../../fixtures/githubOpenApi.json', import.meta.url));
const fullRepository = judge.example('full-repository');
const person = judge.example('simple-user');
const commitForm = judge.example('commit');
const invitationForm = judge.example('repository-invitation');
const collaboratorForm = judge.example('collaborator');

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
  let commits = 0;

  const newCommit = (message: string, words: string | null): FakeCommit => {
    commits += 1;
    return { sha: commits.toString(16).padStart(40, 'a'), message, words };
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
    const content = [newCommit('Initial commit', from.commits[0]?.words ?? null)];
    return { status: 201, body: toResource(add(input.name.toLowerCase(), input.description, input.private, content, copying)) };
  };

  const answerFor = (request: FakeRequest): FakeAnswer => {
    if (request.headers.get('authorization') !== `token ${token}`) return errorResponse(401, 'Bad credentials');
    const [, , holder = '', name = '', part, more] = request.path.split('/').map(decodeURIComponent);
    const repository = holder.toLowerCase() === owner ? repositories.get(name.toLowerCase()) : undefined;
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
        return { status: 200, body: page(request, repository.commits).map(commitBody) };
      case 'collaborators':
        if (request.method === 'PUT') return invite(repository, more ?? '');
        return {
          status: 200,
          body: page(request, repository.collaborators).map((login) => ({ ...collaboratorForm, login })),
          headers: link(request, repository.collaborators.length),
        };
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
  const invite = (repository: FakeRepository, login: string): FakeAnswer => {
    if (login.startsWith('nobody')) return missing;
    if (repository.collaborators.includes(login)) return { status: 204 };
    if (!repository.invitations.includes(login)) repository.invitations.push(login);
    return { status: 201, body: { ...invitationForm, invitee: { ...person, login } } };
  };

  let sent = 0;
  return {
    owner,
    token,
    template,
    repositories,
    made,
    addStranger: (name, description = 'Somebody else’s') => {
      add(name, description, false, [newCommit('Begin', 'Stranger')], 0);
    },
    commit: (name, words) => {
      const commit = newCommit('Change the site', words);
      repositories.get(name)?.commits.unshift(commit);
      return commit.sha;
    },
    provider: (request) => {
      judge.request(request);
      const answer = answerFor(request);
      judge.answer(request, answer);
      return { ...answer, headers: { 'x-github-request-id': `F00D:${String((sent += 1))}`, ...answer.headers } };
    },
  };
};
