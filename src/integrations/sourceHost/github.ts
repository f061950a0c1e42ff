import { Type, type Static } from 'typebox';
import { isoTime, sleep, type Clock } from '../../platform/clock.js';
import type { Logger } from '../../platform/logger.js';
import type { Random } from '../../platform/random.js';
import type { GitHubAccount } from '../../platform/settings.js';
import { ProviderFault } from '../fault.js';
import { createProviderHttp, formOf } from '../http.js';
import type { Commit, Repository, SourceHost } from './port.js';

const provider = 'GitHub';

const Repo = Type.Object({
  full_name: Type.String(),
  name: Type.String(),
  description: Type.Union([Type.String(), Type.Null()]),
  default_branch: Type.String(),
  clone_url: Type.String(),
});
type Repo = Static<typeof Repo>;
const Person = Type.Object({ login: Type.String() });
const GitPerson = Type.Union([
  Type.Null(),
  Type.Object({ name: Type.Optional(Type.String()), date: Type.Optional(Type.String()) }),
]);

const invitationOf = formOf(provider, Type.Object({ id: Type.Number() }));
const nothing = formOf(provider, Type.Literal(''));
const repoOf = formOf(provider, Repo);
const peopleOf = formOf(provider, Type.Array(Person));
const invitedOf = formOf(provider, Type.Array(Type.Object({ invitee: Type.Union([Type.Null(), Person]) })));
const Listed = Type.Object({
  sha: Type.String(),
  html_url: Type.String(),
  commit: Type.Object({ message: Type.String(), author: GitPerson, committer: GitPerson }),
});
const commitsOf = formOf(provider, Type.Array(Listed));

/** Copying a template takes GitHub seconds; a step of provisioning has two minutes. */
const COPIED_WITHIN_MS = 90_000;
const FIRST_LOOK_MS = 500;
const LAST_LOOK_MS = 4_000;
const MOST_LISTED = 100;
/** Statuses whose answers cannot have a body. */
const bodiless = new Set([204, 205, 304]);
/** Of a description, in characters. */
const LONGEST_DESCRIPTION = 350;

/** The one text that is set with the creation itself and can be read back: it tells our repository from another of the same name. */
const markText = (marker: string): string => `[doorstep ${marker}]`;
const carries = ({ description }: Repo, marker: string): boolean => description?.endsWith(markText(marker)) === true;
const described = (description: string, marker: string): string => {
  const room = LONGEST_DESCRIPTION - markText(marker).length - 1;
  const words = description.replaceAll(/[\s\p{C}]+/gu, ' ').trim();
  return `${words.slice(0, room).replace(/[\uD800-\uDBFF]$/, '')} ${markText(marker)}`;
};

const repositoryOf = ({ full_name: id, name, default_branch: defaultBranch, clone_url: cloneUrl }: Repo): Repository => ({
  id,
  name,
  defaultBranch,
  cloneUrl,
});

const permanent = (message: string, cause?: unknown): ProviderFault =>
  new ProviderFault({ provider, message, transient: false, cause });

const statusOf = (error: unknown): number | undefined =>
  error instanceof Error && 'status' in error && typeof error.status === 'number' ? error.status : undefined;

/** What GitHub said no to, in its own words, without the address of its documentation. */
const refusal = (error: unknown): unknown => {
  if (error instanceof ProviderFault) return error;
  if (error instanceof Error && error.cause instanceof ProviderFault) return error.cause;
  if (statusOf(error) === 401) return permanent('It does not accept GITHUB_TOKEN', error);
  return error instanceof Error && statusOf(error) !== undefined
    ? permanent(error.message.replace(/ - https:\/\/\S+$/, ''), error)
    : error;
};

/**
 * Repositories on GitHub (or GitHub Enterprise), made private from one template repository. A repository's `id` is its full name
 * (`owner/name`), which is what GitHub's API takes; one that was renamed is still found, since GitHub passes requests on.
 * @param options `paced`: whether writes keep the distance that GitHub asks for (a second, three for invitations)
 */
export const createGitHub = (options: {
  settings: GitHubAccount;
  clock: Clock;
  random: Random;
  logger: Logger;
  paced?: boolean;
  timeoutMs?: number;
  fetch?: typeof fetch;
}): SourceHost => {
  const { settings, clock, paced = true } = options;
  const { owner, template } = settings;
  const http = createProviderHttp({ ...options, provider, repeatLate: false, requestIdHeader: 'x-github-request-id' });

  /** Loaded when it is first needed: a start does not wait for it. */
  const load = async () => {
    const [{ Octokit }, { throttling }] = await Promise.all([import('@octokit/rest'), import('@octokit/plugin-throttling')]);
    const silent = (): void => undefined;
    // Waiting for a limit to end is left to the caller, whose wait survives a restart.
    const leaveIt = (): boolean => false;
    return new (Octokit.plugin(throttling))({
      auth: settings.token,
      baseUrl: settings.apiUrl,
      userAgent: 'doorstep',
      // `http` logs each request.
      log: { debug: silent, info: silent, warn: silent, error: silent },
      throttle: { enabled: paced, onRateLimit: leaveIt, onSecondaryRateLimit: leaveIt },
      request: {
        fetch: async (url: string, init: { method: string; headers: Record<string, string>; body?: string }) => {
          const { method, headers, body } = init;
          const answer = await http({ method, url, headers, ...(body !== undefined && { body }) });
          return new Response(bodiless.has(answer.status) ? null : answer.text, answer);
        },
      },
    });
  };
  let loading: ReturnType<typeof load> | undefined;

  /** @throws ProviderFault; what GitHub refuses with a status of `handled` is thrown as it came */
  const ask = async <Result>(
    act: (octokit: Awaited<ReturnType<typeof load>>) => Promise<Result>,
    handled: readonly number[] = [],
  ): Promise<Result> => {
    try {
      loading ??= load();
      return await act(await loading);
    } catch (error) {
      const status = error instanceof Error && error.cause instanceof ProviderFault ? undefined : statusOf(error);
      throw status !== undefined && handled.includes(status) ? error : refusal(error);
    }
  };

  /** What `asked` answers, or `otherwise` when it is refused with one of the statuses. */
  const unless = async <Result, Otherwise>(
    statuses: readonly number[],
    act: (octokit: Awaited<ReturnType<typeof load>>) => Promise<Result>,
    otherwise: Otherwise,
  ): Promise<Result | Otherwise> => {
    try {
      return await ask(act, statuses);
    } catch (error) {
      if (error instanceof ProviderFault || !statuses.includes(statusOf(error) ?? 0)) throw error;
      return otherwise;
    }
  };

  const placeOf = (repositoryId: string): { owner: string; repo: string } => {
    const [holder = '', repo = '', ...more] = repositoryId.split('/');
    if (holder === '' || repo === '' || more.length > 0) throw permanent(`Repository ${repositoryId} does not exist`);
    return { owner: holder, repo };
  };

  const read = async (name: string): Promise<Repo | null> => {
    const found = await unless([404], (octokit) => octokit.rest.repos.get({ owner, repo: name }), null);
    return found === null ? null : repoOf(found.data);
  };

  const commitsIn = async (repositoryId: string, size: number, none: readonly number[], page = 1) => {
    const place = placeOf(repositoryId);
    const asked = await unless(none, ({ rest }) => rest.repos.listCommits({ ...place, per_page: size, page }), null);
    return asked === null ? [] : commitsOf(asked.data);
  };

  /** The repository, once its content has been copied. 404 and 409 both mean: not yet. */
  const whenCopied = async (repo: Repo): Promise<Repository> => {
    const giveUpAt = clock.now() + COPIED_WITHIN_MS;
    for (let pause = FIRST_LOOK_MS; ; pause = Math.min(2 * pause, LAST_LOOK_MS)) {
      if ((await commitsIn(repo.full_name, 1, [404, 409])).length > 0) return repositoryOf(repo);
      if (clock.now() >= giveUpAt)
        throw new ProviderFault({ provider, message: `The repository ${repo.name} has no commit yet`, transient: true });
      await sleep(clock, pause);
    }
  };

  const findRepository: SourceHost['findRepository'] = async ({ name, marker }) => {
    const found = await read(name);
    return found !== null && carries(found, marker) ? whenCopied(found) : null;
  };

  const ours = (found: Repo, marker: string): Repo => {
    if (!carries(found, marker)) throw permanent(`The repository name ${found.name} is already taken`);
    return found;
  };

  const generate = async (name: string, description: string): Promise<Repo> => {
    const { owner: template_owner, name: template_repo } = template;
    const wish = { template_owner, template_repo, owner, name, description, private: true };
    const made = await ask(({ rest }) => rest.repos.createUsingTemplate(wish), [404, 422]);
    return repoOf(made.data);
  };

  const createRepository: SourceHost['createRepository'] = async ({ name, templateId, marker, description }) => {
    if (templateId !== template.name) throw permanent(`There is no template "${templateId}"`);
    const earlier = await read(name);
    if (earlier !== null) return whenCopied(ours(earlier, marker));
    try {
      return await whenCopied(await generate(name, described(description, marker)));
    } catch (error) {
      if (statusOf(error) === 404)
        throw permanent(`The template ${template.owner}/${template.name} is not there, or GITHUB_TOKEN may not use it`, error);
      if (statusOf(error) !== 422) throw error;
      // Mostly because the name has been taken meanwhile: by somebody else, or by an attempt whose answer never came.
      const meanwhile = await read(name);
      if (meanwhile === null) throw refusal(error);
      return whenCopied(ours(meanwhile, marker));
    }
  };

  const inviteCollaborator: SourceHost['inviteCollaborator'] = async (repositoryId, username) => {
    const place = placeOf(repositoryId);
    const wish = { ...place, username, permission: 'push' } as const;
    const given = await unless([404], ({ rest }) => rest.repos.addCollaborator(wish), null);
    if (given === null) throw permanent(`Repository ${repositoryId} or user ${username} does not exist`);
    // 204: has access already. A page that a proxy sent instead would not be an invitation.
    const { status, data }: { status: number; data: unknown } = given;
    if (status !== 204) invitationOf(data);
  };

  const listCollaborators: SourceHost['listCollaborators'] = async (repositoryId) => {
    const place = { ...placeOf(repositoryId), per_page: 100 };
    const there = await ask((octokit) => octokit.paginate(octokit.rest.repos.listCollaborators, place));
    const invited = await ask((octokit) => octokit.paginate(octokit.rest.repos.listInvitations, place));
    const invitees = invitedOf(invited).flatMap(({ invitee }) => (invitee === null ? [] : [invitee.login]));
    return [...new Set([...peopleOf(there).map(({ login }) => login), ...invitees])];
  };

  const toCommit = ({ sha: id, html_url: url, commit }: Static<typeof Listed>): Commit => {
    const { message, author, committer } = commit;
    const at = Date.parse(committer?.date ?? author?.date ?? '');
    return { id, message, author: author?.name ?? '', ...(Number.isFinite(at) && { committedAt: isoTime(at) }), url };
  };

  const listCommits: SourceHost['listCommits'] = async (repositoryId, limit, skip = 0) => {
    // The number of a page counts pages of its own size.
    const size = skip === 0 ? Math.min(limit, MOST_LISTED) : MOST_LISTED;
    const left = skip % size;
    const found: Static<typeof Listed>[] = [];
    for (let page = 1 + Math.floor(skip / size); found.length < left + limit; page += 1) {
      const commits = await commitsIn(repositoryId, size, [409], page);
      found.push(...commits);
      if (commits.length < size) break;
    }
    return found.slice(left, left + limit).map(toCommit);
  };

  const deleteRepository: SourceHost['deleteRepository'] = async ({ name, marker }) => {
    const found = await read(name);
    if (found === null || !carries(found, marker)) return false;
    const place = placeOf(found.full_name);
    // Gone meanwhile is as good as deleted.
    const deleted = await unless([404], ({ rest }) => rest.repos.delete(place), null);
    if (deleted !== null) nothing(deleted.data);
    return true;
  };

  return {
    provider: 'github',
    defaultTemplateId: template.name,
    findRepository,
    createRepository,
    inviteCollaborator,
    listCollaborators,
    listCommits,
    deleteRepository,
    // Named by the settings: a website can be created while GitHub is away.
    listTemplates: () =>
      Promise.resolve([
        { id: template.name, name: template.name, description: `The repository ${template.owner}/${template.name} on GitHub` },
      ]),
  };
};
