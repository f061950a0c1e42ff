import { AsyncResource } from 'node:async_hooks';
import { sleep, type Clock } from '../../platform/clock.js';
import { lazily } from '../../platform/lazily.js';
import type { Logger } from '../../platform/logger.js';
import type { Random } from '../../platform/random.js';
import type { GitHubAccount } from '../../platform/settings/sites.js';
import { ProviderFault } from '../fault.js';
import { createProviderHttp, type ProviderRequest } from '../http.js';
import { editableFile, parseEditable } from './editable.js';
import {
  parseBlob,
  parseCollaborators,
  parseCommits,
  parseContents,
  parseInvitation,
  parseInvitations,
  parseNothing,
  parseRef,
  parseRepo,
  parseTree,
  provider,
  repositoryOf,
  toCommit,
  type ListedCommit,
  type Repo,
} from './gitHubObjects.js';
import { createCommitFiles } from './gitHubCommits.js';
import type { EditableSchema, Repository, SourceHost } from './port.js';

/** How long what can be edited of the template is not read again. */
const EDITABLE_CACHE_MS = 300_000;
/** GitHub copies a template within seconds; a provisioning step has two minutes. */
const COPY_TIMEOUT_MS = 90_000;
const FIRST_POLL_MS = 500;
const MAX_POLL_MS = 4_000;
const MAX_PAGE_SIZE = 100;
/** `Response` refuses a body with these statuses. */
const statusesWithoutBody = new Set([204, 205, 304]);
/** In characters. */
const MAX_DESCRIPTION_LENGTH = 350;

/**
 * The description is the only text that is set atomically with the creation and can be read back,
 * so it carries the marker.
 */
const markerText = (marker: string): string => `[doorstep ${marker}]`;
const carriesAnyMarker = ({ description }: Repo): boolean => /\[doorstep [^\s\]]+\]$/.test(description ?? '');
const carriesMarker = ({ description }: Repo, marker: string): boolean => description?.endsWith(markerText(marker)) === true;
const descriptionWith = (description: string, marker: string): string => {
  const room = MAX_DESCRIPTION_LENGTH - markerText(marker).length - 1;
  const words = description.replaceAll(/[\s\p{C}]+/gu, ' ').trim();
  return `${words.slice(0, room).replace(/[\uD800-\uDBFF]$/, '')} ${markerText(marker)}`;
};

const permanent = (message: string, cause?: unknown): ProviderFault =>
  new ProviderFault({ provider, message, transient: false, cause });

const statusOf = (error: unknown): number | undefined =>
  error instanceof Error && 'status' in error && typeof error.status === 'number' ? error.status : undefined;

/** What was thrown instead of an answer, which Octokit takes for one with status 500. */
const unwrapped = (error: unknown): unknown =>
  error instanceof Error && error.cause instanceof Error && statusOf(error) !== undefined ? error.cause : error;

/**
 * Converts GitHub's error to a fault with GitHub's message, without the link to its documentation.
 */
const toFault = (error: unknown): unknown => {
  if (error instanceof ProviderFault) return error;
  if (statusOf(error) === 401) return permanent('It does not accept GITHUB_TOKEN', error);
  return error instanceof Error && statusOf(error) !== undefined
    ? permanent(error.message.replace(/ - https:\/\/\S+$/, ''), error)
    : error;
};

/**
 * Private repositories on GitHub (or GitHub Enterprise), created from one template repository. A
 * repository's `id` is its full name (`owner/name`), which GitHub's API takes; after a rename
 * GitHub redirects requests.
 * @param options `paced`: whether to space writes as GitHub asks for (one second, three for
 * invitations)
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
  const requestIdHeader = 'x-github-request-id';
  const http = createProviderHttp({ ...options, provider, retryTimeouts: false, followRedirects: true, requestIdHeader });

  type Guard = Pick<ProviderRequest, 'retryable' | 'assertHeld'>;
  const fetchUnder =
    (guard: Guard) =>
    async (url: string, init: { method: string; headers: Record<string, string>; body?: string }): Promise<Response> => {
      const { method, headers, body } = init;
      const answer = await http({ ...guard, method, url, headers, ...(body !== undefined && { body }) });
      return new Response(statusesWithoutBody.has(answer.status) ? null : answer.text, answer);
    };

  /** Loaded on first use, so that a start does not wait for it. */
  const load = lazily(async () => {
    const [{ Octokit }, { throttling }] = await Promise.all([import('@octokit/rest'), import('@octokit/plugin-throttling')]);
    const silent = (): void => undefined;
    // The caller waits for rate limits, since its wait survives a restart.
    const doNotRetry = (): boolean => false;
    const octokit = new (Octokit.plugin(throttling))({
      auth: settings.token,
      baseUrl: settings.apiUrl,
      userAgent: 'doorstep',
      // `http` logs each request.
      log: { debug: silent, info: silent, warn: silent, error: silent },
      throttle: { enabled: paced, onRateLimit: doNotRetry, onSecondaryRateLimit: doNotRetry },
      request: { fetch: fetchUnder({}) },
    });
    // The throttling sends requests from its queue: bound here, each stays part of the caller's trace.
    octokit.hook.before('request', (sent) => {
      const { fetch: send } = sent.request as { fetch: (...parts: readonly unknown[]) => unknown };
      sent.request = { ...sent.request, fetch: AsyncResource.bind(send) };
    });
    return octokit;
  });

  /** @throws ProviderFault; errors with a status in `handled` are thrown unchanged */
  const ask = async <Result>(
    act: (octokit: Awaited<ReturnType<typeof load>>) => Promise<Result>,
    handled: readonly number[] = [],
  ): Promise<Result> => {
    try {
      return await act(await load());
    } catch (thrown) {
      const error = unwrapped(thrown);
      const status = statusOf(error);
      throw status !== undefined && handled.includes(status) ? error : toFault(error);
    }
  };

  /** The result of `act`, or `otherwise` for an error with one of the statuses. */
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

  const locationOf = (repositoryId: string): { owner: string; repo: string } => {
    const [holder = '', repo = '', ...more] = repositoryId.split('/');
    if (holder === '' || repo === '' || more.length > 0) throw permanent(`Repository ${repositoryId} does not exist`);
    return { owner: holder, repo };
  };

  const repoAt = async (location: { owner: string; repo: string }): Promise<Repo | null> => {
    const found = await unless([404], ({ rest }) => rest.repos.get(location), null);
    return found === null ? null : parseRepo(found.data);
  };
  const findRepo = (name: string): Promise<Repo | null> => repoAt({ owner, repo: name });

  /** Null for an answer with one of the statuses `none`. */
  const listPage = async (
    repositoryId: string,
    none: readonly number[],
    part: { readonly per_page: number; readonly page?: number; readonly sha?: string },
  ) => {
    const location = locationOf(repositoryId);
    const asked = await unless(none, ({ rest }) => rest.repos.listCommits({ ...location, ...part }), null);
    return asked === null ? null : parseCommits(asked.data);
  };

  /** The repository, once its content has been copied. 404 and 409 both mean: not yet. */
  const whenCopied = async (repo: Repo): Promise<Repository> => {
    const giveUpAt = clock.now() + COPY_TIMEOUT_MS;
    for (let pause = FIRST_POLL_MS; ; pause = Math.min(2 * pause, MAX_POLL_MS)) {
      if ((await listPage(repo.full_name, [404, 409], { per_page: 1 }))?.length === 1) return repositoryOf(repo);
      if (clock.now() >= giveUpAt)
        throw new ProviderFault({ provider, message: `The repository ${repo.name} has no commit yet`, transient: true });
      await sleep(clock, pause);
    }
  };

  const findRepository: SourceHost['findRepository'] = async ({ name, marker }) => {
    const found = await findRepo(name);
    return found !== null && carriesMarker(found, marker) ? whenCopied(found) : null;
  };

  /**
   * Null when the name is free. GitHub leads a name that was given up to the repository that had it, which is not in
   * the way of another one, unless a website may still know it by that name.
   */
  const findForCreation = async (name: string, marker: string): Promise<Repo | null> => {
    const found = await findRepo(name);
    if (found === null || carriesMarker(found, marker)) return found;
    const isNamedSo = found.full_name.toLowerCase() === `${owner}/${name}`.toLowerCase();
    if (isNamedSo) throw permanent(`The repository name ${name} is already taken`);
    if (carriesAnyMarker(found))
      throw permanent(`The repository name ${name} leads to ${found.full_name}, which was made for another website`);
    return null;
  };

  const generate = async (name: string, description: string): Promise<Repo> => {
    const { owner: template_owner, name: template_repo } = template;
    const request = { template_owner, template_repo, owner, name, description, private: true };
    const made = await ask(({ rest }) => rest.repos.createUsingTemplate(request), [404, 422]);
    return parseRepo(made.data);
  };

  const createRepository: SourceHost['createRepository'] = async ({ name, templateId, marker, description }) => {
    if (templateId !== template.name) throw permanent(`There is no template "${templateId}"`);
    const earlier = await findForCreation(name, marker);
    if (earlier !== null) return whenCopied(earlier);
    try {
      return await whenCopied(await generate(name, descriptionWith(description, marker)));
    } catch (error) {
      if (statusOf(error) === 404)
        throw permanent(`The template ${template.owner}/${template.name} is not there, or GITHUB_TOKEN may not use it`, error);
      if (statusOf(error) !== 422) throw error;
      // Mostly because the name was taken in the meantime: by another repository, or by an attempt
      // whose response was lost.
      const meanwhile = await findForCreation(name, marker);
      if (meanwhile === null) throw toFault(error);
      return whenCopied(meanwhile);
    }
  };

  /** A file of the default branch, or of the commit `ref`; `null` when there is none. */
  const readFile = async (location: { owner: string; repo: string }, path: string, ref?: string): Promise<Uint8Array | null> => {
    const request = { ...location, path, ...(ref !== undefined && { ref }) };
    const answer = await unless([404], ({ rest }) => rest.repos.getContent(request), null);
    if (answer === null) return null;
    const found = parseContents(answer.data);
    // Of a folder it is what lies in it.
    if (Array.isArray(found)) return null;
    if (found.encoding === 'base64') return Buffer.from(found.content, 'base64');
    const blob = { ...location, file_sha: found.sha };
    return Buffer.from(parseBlob((await ask(({ rest }) => rest.git.getBlob(blob))).data).content, 'base64');
  };
  const readText = async (location: { owner: string; repo: string }, path: string): Promise<string | null> => {
    const bytes = await readFile(location, path);
    return bytes === null ? null : Buffer.from(bytes).toString('utf8');
  };

  const inviteCollaborator: SourceHost['inviteCollaborator'] = async (repositoryId, username) => {
    const location = locationOf(repositoryId);
    const request = { ...location, username, permission: 'push' } as const;
    const given = await unless([404], ({ rest }) => rest.repos.addCollaborator(request), null);
    if (given === null) throw permanent(`Repository ${repositoryId} or user ${username} does not exist`);
    // 204: has access already. Any other response must be an invitation, not a page of some proxy.
    const { status, data }: { status: number; data: unknown } = given;
    if (status !== 204) parseInvitation(data);
  };

  const listCollaborators: SourceHost['listCollaborators'] = async (repositoryId) => {
    const location = { ...locationOf(repositoryId), per_page: 100 };
    const members = await ask((octokit) => octokit.paginate(octokit.rest.repos.listCollaborators, location));
    const invited = await ask((octokit) => octokit.paginate(octokit.rest.repos.listInvitations, location));
    const invitees = parseInvitations(invited).flatMap(({ invitee }) => (invitee === null ? [] : [invitee.login]));
    // Members of the organisation are listed too, who may only read unless it says otherwise.
    const writers = parseCollaborators(members).filter(({ permissions }) => permissions?.push === true);
    return [...new Set([...writers.map(({ login }) => login), ...invitees])];
  };

  const listCommits: SourceHost['listCommits'] = async (repositoryId, limit, from) => {
    const { skip, ...sha } = from === undefined ? { skip: 0 } : { skip: from.skip, sha: from.head };
    // Page numbers depend on the page size, so it stays the same while skipping.
    const size = skip === 0 ? Math.min(limit, MAX_PAGE_SIZE) : MAX_PAGE_SIZE;
    const left = skip % size;
    const found: ListedCommit[] = [];
    for (let page = 1 + Math.floor(skip / size); found.length < left + limit; page += 1) {
      // 409: it has none; 404 of a commit: there is no such one.
      const commits = await listPage(repositoryId, from === undefined ? [409] : [404, 409], { per_page: size, page, ...sha });
      if (commits === null) return from === undefined ? [] : null;
      found.push(...commits);
      if (commits.length < size) break;
    }
    return found.slice(left, left + limit).map(toCommit);
  };

  const branchOf = async (location: { owner: string; repo: string }): Promise<string> =>
    parseRepo((await ask(({ rest }) => rest.repos.get(location))).data).default_branch;

  const headOf = async (location: { owner: string; repo: string }, ref: string): Promise<string> =>
    parseRef((await ask(({ rest }) => rest.git.getRef({ ...location, ref }))).data).object.sha;

  /** By trees, of which GitHub lists a hundred thousand entries; of the contents of a folder a thousand. */
  const listFolder: SourceHost['listFolder'] = async (repositoryId, commit, path) => {
    const location = locationOf(repositoryId);
    const entriesOf = async (tree_sha: string) =>
      parseTree((await ask(({ rest }) => rest.git.getTree({ ...location, tree_sha }))).data).tree;
    let entries = await entriesOf(commit);
    for (const part of path.split('/')) {
      const folder = entries.find((entry) => entry.path === part && entry.type === 'tree');
      if (folder === undefined) return [];
      entries = await entriesOf(folder.sha);
    }
    return entries.map((entry) => entry.path);
  };

  const readFiles: SourceHost['readFiles'] = async (repositoryId, paths) => {
    const location = locationOf(repositoryId);
    const ref = `heads/${await branchOf(location)}`;
    const head = await headOf(location, ref);
    const files = new Map<string, Uint8Array>();
    for (const path of paths) {
      const content = await readFile(location, path, head);
      if (content !== null) files.set(path, content);
    }
    return { head, files };
  };

  const commitFiles = createCommitFiles({ ask, unless, fetchUnder, locationOf, branchOf, headOf });

  const deleteRepository: SourceHost['deleteRepository'] = async ({ name, marker, id }) => {
    const isOurs = (repo: Repo | null): repo is Repo => repo !== null && carriesMarker(repo, marker);
    const named = await findRepo(name);
    const found = isOurs(named) || id === undefined ? named : await repoAt(locationOf(id));
    if (id !== undefined && found !== null && !carriesAnyMarker(found)) {
      const lost = `without ${markerText(marker)} at the end of its description`;
      throw permanent(`The repository ${found.full_name} is there ${lost}: delete it at ${provider} by hand, or put that back`);
    }
    if (!isOurs(found)) return false;
    const location = locationOf(found.full_name);
    // 404: deleted in the meantime.
    const deleted = await unless([404], ({ rest }) => rest.repos.delete(location), null);
    if (deleted !== null) parseNothing(deleted.data);
    return true;
  };

  let editable: { readonly readAt: number; readonly schema: Promise<EditableSchema | null> } | undefined;

  /** Kept for a while, because every form and every save asks for it. */
  const readEditable = (): Promise<EditableSchema | null> => {
    if (editable !== undefined && clock.now() - editable.readAt < EDITABLE_CACHE_MS) return editable.schema;
    const { owner: holder, name: repo } = template;
    const read = async (): Promise<EditableSchema | null> => {
      const text = await readText({ owner: holder, repo }, editableFile);
      return text === null ? null : parseEditable(provider, `the template ${holder}/${repo}`, text);
    };
    const reading = { readAt: clock.now(), schema: read() };
    editable = reading;
    // A fault is not kept.
    reading.schema.catch(() => {
      if (editable === reading) editable = undefined;
    });
    return reading.schema;
  };

  return {
    provider: 'github',
    defaultTemplateId: template.name,
    findRepository,
    createRepository,
    inviteCollaborator,
    listCollaborators,
    listCommits,
    readFiles,
    listFolder,
    commitFiles,
    deleteRepository,
    // From the settings, so that a website can be created while GitHub is unavailable.
    listTemplates: () =>
      Promise.resolve([
        { id: template.name, name: template.name, description: `The repository ${template.owner}/${template.name} on GitHub` },
      ]),
    readEditable: (id) => (id === template.name ? readEditable() : Promise.resolve(null)),
    // GitHub makes such pictures of repositories on its own site only; the first part may be any.
    readPicture: (id) =>
      Promise.resolve(
        id === template.name && new URL(settings.apiUrl).hostname === 'api.github.com'
          ? `https://opengraph.githubassets.com/doorstep/${template.owner}/${template.name}`
          : null,
      ),
  };
};
