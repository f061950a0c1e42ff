import { createCache } from '../../platform/cache.js';
import { sleep, type Clock } from '../../platform/clock.js';
import type { Logger } from '../../platform/logger.js';
import type { Random } from '../../platform/random.js';
import type { VercelAccount } from '../../platform/settings/sites.js';
import { createKeyedMutex } from '../../platform/keyedMutex.js';
import { ProviderFault } from '../fault.js';
import { createProviderHttp, parseJson } from '../http.js';
import type { Deployment, Hosting, HostingProject } from './port.js';
import {
  deploymentOf,
  parseDeployment,
  parseDeployments,
  parseDomainConfig,
  parseDomains,
  parseError,
  parseNothing,
  parseProject,
  parseProjectDomain,
  parseUpsert,
  parseVariables,
  provider,
  statusOf,
  toDeployment,
} from './vercelObjects.js';

/**
 * The name of a variable of the project, and of a metadata field of each deployment. Both are set
 * atomically with the creation and can be read back, so they identify what we created.
 */
const projectMarker = 'DOORSTEP_JOB';
const deploymentMarker = 'doorstep';

/** Where domains lead unless Vercel recommends something else for one of them (its documentation, "Adding a domain"). */
export const vercelDomainTargets: readonly string[] = ['cname.vercel-dns.com', '76.76.21.21'];

const POLL_INTERVAL_MS = 3_000;
/** Builds that are looked at so often; more of them are each looked at less often, because Vercel limits requests. */
const MAX_POLLED_BUILDS = 8;
/** Less than the 15 minutes of a provisioning step. */
const BUILD_TIMEOUT_MS = 14 * 60_000;
const MAX_PAGE_SIZE = 100;
/** How long an address that answered is not checked again. */
const REACHABLE_CACHE_MS = 60_000;

const permanent = (message: string): ProviderFault => new ProviderFault({ provider, message, transient: false });
const transient = (message: string): ProviderFault => new ProviderFault({ provider, message, transient: true });
const missing = (projectId: string): ProviderFault => permanent(`Project ${projectId} does not exist`);

/** Vercel limits each endpoint by itself (https://vercel.com/docs/rest-api/errors): the path without names and ids. */
const endpointOf = (method: string, path: string): string => {
  const [, version = '', collection = '', , part = '', , verb = ''] = path.split('/');
  return [method, version, collection, part, verb].join(' ');
};

/**
 * Projects on Vercel, each building a repository on GitHub. Projects are created without deployment
 * protection, because clients open their addresses without a Vercel account.
 * @param options `fetchStatus` requests a page and returns its status code
 */
export const createVercel = (options: {
  settings: VercelAccount;
  clock: Clock;
  random: Random;
  logger: Logger;
  fetchStatus: (url: string) => Promise<number>;
  timeoutMs?: number;
  fetch?: typeof fetch;
}): Hosting => {
  const { settings, clock, fetchStatus } = options;
  const http = createProviderHttp({ ...options, provider, retryTimeouts: false, requestIdHeader: 'x-vercel-id' });
  const mutex = createKeyedMutex();
  const reachableAt = createCache<number>(1_000);

  /**
   * @returns null for a response with a status in `handled`
   * @throws ProviderFault for every other error
   */
  const call = async (
    method: string,
    path: string,
    more: { query?: Readonly<Record<string, string>>; body?: unknown; handled?: readonly number[]; retryable?: boolean } = {},
  ): Promise<unknown> => {
    const url = new URL(settings.apiUrl + path);
    for (const [name, value] of Object.entries(more.query ?? {})) url.searchParams.set(name, value);
    if (settings.teamId !== undefined) url.searchParams.set('teamId', settings.teamId);
    const answer = await http({
      method,
      url: url.href,
      limit: endpointOf(method, path),
      headers: { authorization: `Bearer ${settings.token}`, 'content-type': 'application/json' },
      ...(more.body !== undefined && { body: JSON.stringify(more.body) }),
      ...(more.retryable !== undefined && { retryable: more.retryable }),
    });
    if (answer.status < 300) return answer.text === '' ? undefined : parseJson(provider, answer);
    if (more.handled?.includes(answer.status) === true) return null;
    throw permanent(parseError(parseJson(provider, answer)).error.message);
  };

  const projectPath = (projectId: string, part = ''): string => `/projects/${encodeURIComponent(projectId)}${part}`;
  const read = async (idOrName: string) => {
    const found = await call('GET', `/v9${projectPath(idOrName)}`, { handled: [404] });
    return found === null ? null : parseProject(found);
  };
  const requireProject = async (projectId: string) => {
    const project = await read(projectId);
    if (project === null) throw missing(projectId);
    return project;
  };
  const variables = async (projectId: string) => {
    const found = await call('GET', `/v10${projectPath(projectId)}/env`, { handled: [404] });
    if (found === null) throw missing(projectId);
    return parseVariables(found).envs;
  };

  /** The project's `vercel.app` address, else its first verified domain. */
  const addressOf = async (projectId: string): Promise<string> => {
    const { domains } = parseDomains(await call('GET', `/v9${projectPath(projectId)}/domains`));
    const usable = domains.filter(({ verified, redirect }) => verified && (redirect ?? null) === null);
    const domain = usable.find(({ name }) => name.endsWith('.vercel.app')) ?? usable[0];
    if (domain === undefined) throw transient('The project has no address yet');
    return `https://${domain.name}/`;
  };

  const toProject = async ({ id, name }: { id: string; name: string }): Promise<HostingProject> => ({
    id,
    name,
    url: await addressOf(id),
  });
  /** The project of that name or id, its variables with a marker, and whether it was created for `marker`. */
  const findByName = async (idOrName: string, marker: string) => {
    const project = await read(idOrName);
    if (project === null) return null;
    // Vercel splits a variable in two to make it sensitive in some targets.
    const markers = (await variables(project.id)).filter(({ key }) => key === projectMarker);
    return { project, markers, isOurs: markers.some(({ value }) => value === marker) };
  };
  /**
   * The project with that id, when it was created for the marker. Sensitive, as earlier versions left it in some
   * teams, the marker cannot be read, and the id says enough.
   * @throws ProviderFault when it has no marker any more: whose it is, somebody has to say
   */
  const findById = async (id: string, marker: string) => {
    const found = await findByName(id, marker);
    if (found === null) return null;
    const { project, markers, isOurs } = found;
    if (markers.length === 0)
      throw permanent(
        `The project ${project.name} is there without its variable ${projectMarker}: delete it at ${provider} by hand`,
      );
    return isOurs || markers.some(({ type }) => type === 'sensitive') ? project : null;
  };

  const findProject: Hosting['findProject'] = async ({ name, marker }) => {
    const found = await findByName(name, marker);
    return found?.isOurs === true ? toProject(found.project) : null;
  };

  const createProject: Hosting['createProject'] = async ({ name, marker, repository }) => {
    const body = {
      name,
      gitRepository: { type: 'github', repo: repository.id },
      // Otherwise Vercel asks visitors to log in.
      ssoProtection: null,
      // Of the other targets a team may make all variables sensitive, whose values nobody can read back.
      environmentVariables: [{ key: projectMarker, value: marker, type: 'plain', target: ['development'] }],
    };
    const earlier = await findByName(name, marker);
    if (earlier === null) {
      const made = await call('POST', '/v11/projects', { body, handled: [409] });
      if (made !== null) return toProject(parseProject(made));
    }
    // The name exists: another project's, or created by an attempt whose response was lost.
    const existingProject = earlier ?? (await findByName(name, marker));
    if (existingProject?.isOurs !== true) throw permanent(`The project name ${name} is already taken`);
    return toProject(existingProject.project);
  };

  const setVariables: Hosting['setVariables'] = async (projectId, values) => {
    const target = ['production', 'preview'];
    const known = await variables(projectId);
    // A sensitive one, as a team may have made it, stays sensitive: Vercel does not change its type.
    const typeOf = (key: string) => known.find((one) => one.key === key && one.type === 'sensitive')?.type ?? 'encrypted';
    const body = Object.entries(values).map(([key, value]) => ({ key, value, type: typeOf(key), target }));
    const query = { upsert: 'true' };
    const answer = await call('POST', `/v10${projectPath(projectId)}/env`, { query, body, retryable: true, handled: [404] });
    if (answer === null) throw missing(projectId);
    // Vercel answers 201 even when some could not be set.
    const { failed } = parseUpsert(answer);
    if (failed.length === 0) return;
    const reasons = failed.map(({ error: { envVarKey, message } }) => `${envVarKey ?? 'a variable'}: ${message}`);
    throw permanent(`Variables could not be set: ${reasons.join('; ')}`);
  };

  const setServed: Hosting['setServed'] = async (projectId, isServed) => {
    const { paused = false } = await requireProject(projectId);
    if (paused !== isServed) return;
    const verb = isServed ? 'unpause' : 'pause';
    await call('POST', `/v1${projectPath(projectId, `/${verb}`)}`, { retryable: true });
  };

  const listVariables: Hosting['listVariables'] = async (projectId) =>
    (await variables(projectId)).map(({ key }) => key).filter((key) => key !== projectMarker);

  const list = async (projectId: string, limit: number, query: Readonly<Record<string, string>> = {}) =>
    parseDeployments(await call('GET', '/v7/deployments', { query: { projectId, limit: String(limit), ...query } })).deployments;

  const findMarked = async (projectId: string, marker: string) =>
    (await list(projectId, MAX_PAGE_SIZE)).find(({ meta }) => meta?.[deploymentMarker] === marker);

  const start = async (projectId: string, marker: string): Promise<Deployment> => {
    const { id: project, name, link } = await requireProject(projectId);
    const earlier = await findMarked(projectId, marker);
    if (earlier !== undefined && statusOf(earlier.readyState) !== 'failed') return toDeployment(earlier);
    if (link?.repoId === undefined) throw permanent(`The project ${name} is not connected to a repository`);
    const gitSource = { type: 'github', repoId: link.repoId, ref: link.productionBranch ?? 'main' };
    const body = { name, project, target: 'production', gitSource, meta: { [deploymentMarker]: marker } };
    // Builds the commit even if it was built before, and skips the confirmation of the detected
    // framework.
    const query = { forceNew: '1', skipAutoDetectionConfirmation: '1' };
    return deploymentOf(parseDeployment(await call('POST', '/v13/deployments', { query, body })));
  };

  const findUnchanged: Hosting['findUnchanged'] = async (projectId, commit) => {
    const [newest] = await list(projectId, 1, { target: 'production' });
    if (newest === undefined) return null;
    const deployment = toDeployment(newest);
    if (deployment.status === 'failed' || deployment.commit !== commit) return null;
    const changedAt = Math.max(0, ...(await variables(projectId)).map(({ updatedAt = 0 }) => updatedAt));
    return changedAt < newest.createdAt ? deployment : null;
  };

  let awaited = 0;
  const whenBuilt = async ({ id }: Pick<Deployment, 'id'>, pause: (ms: number) => Promise<void>): Promise<Deployment> => {
    const giveUpAt = clock.now() + BUILD_TIMEOUT_MS;
    awaited += 1;
    try {
      for (;;) {
        const deployment = deploymentOf(parseDeployment(await call('GET', `/v13/deployments/${encodeURIComponent(id)}`)));
        if (deployment.status !== 'building' || clock.now() >= giveUpAt) return deployment;
        const intervalMs = POLL_INTERVAL_MS * Math.max(1, awaited / MAX_POLLED_BUILDS);
        await pause(Math.min(intervalMs, giveUpAt - clock.now()));
      }
    } finally {
      awaited -= 1;
    }
  };

  /** @throws ProviderFault (transient) when a client cannot open `url` */
  const requireReachable = async (url: string): Promise<void> => {
    const since = reachableAt.get(url);
    if (since !== undefined && clock.now() - since < REACHABLE_CACHE_MS) return;
    const status = await fetchStatus(url);
    if (status < 200 || status > 299) throw transient(`${url} answers with status ${String(status)}`);
    reachableAt.set(url, clock.now());
  };

  const domainsPath = (projectId: string, part = ''): string => projectPath(projectId, `/domains${part}`);
  const readDomain = async (projectId: string, domain: string) => {
    const found = await call('GET', `/v9${domainsPath(projectId, `/${domain}`)}`, { handled: [404] });
    return found === null ? null : parseProjectDomain(found);
  };

  const addDomain: Hosting['addDomain'] = async (projectId, domain) => {
    const existing = await readDomain(projectId, domain);
    const body = { name: domain };
    const added = existing ?? (await call('POST', `/v10${domainsPath(projectId)}`, { body, handled: [409] }));
    // 409: another project has it, or an attempt whose response was lost has added it.
    const current = added === null ? await readDomain(projectId, domain) : parseProjectDomain(added);
    if (current === null) throw permanent(`Another project has the domain ${domain}`);
    // 400: the records that prove it are not there yet.
    if (!current.verified) await call('POST', `/v9${domainsPath(projectId, `/${domain}/verify`)}`, { handled: [400] });
  };

  const findDomain: Hosting['findDomain'] = async (projectId, domain) => {
    const query = { projectIdOrName: projectId };
    const [added, config] = await Promise.all([
      readDomain(projectId, domain),
      call('GET', `/v6/domains/${domain}/config`, { query }).then(parseDomainConfig),
    ]);
    const best = <Value>(ranked: readonly { readonly rank: number; readonly value: Value }[] = []): Value | undefined =>
      [...ranked].sort((one, other) => one.rank - other.rank)[0]?.value;
    const name = best(config.recommendedCNAME)?.replace(/\.$/, '');
    const challenges = added?.verified === false ? (added.verification ?? []) : [];
    return {
      isAdded: added !== null,
      records: [
        ...(name === undefined ? [] : [{ type: 'CNAME', name: domain, value: name, purpose: 'address' } as const]),
        ...(best(config.recommendedIPv4) ?? []).map((value) => ({ type: 'A', name: domain, value, purpose: 'address' }) as const),
        ...challenges
          .filter(({ type }) => type === 'TXT')
          .map(({ domain: at, value }) => ({ type: 'TXT', name: at, value, purpose: 'hosting' }) as const),
      ],
    };
  };

  return {
    provider: 'vercel',
    needsDomains: true,
    addDomain: (projectId, domain) => mutex.run(domain, () => addDomain(projectId, domain)),
    findDomain,
    removeDomain: async (projectId, domain) => {
      // 404: it was not there.
      await call('DELETE', `/v9${domainsPath(projectId, `/${domain}`)}`, { handled: [404], retryable: true });
    },
    findProject,
    readProject: async (projectId) => {
      const project = await read(projectId);
      return project === null ? null : toProject(project);
    },
    createProject: (request) => mutex.run(request.name, () => createProject(request)),
    setVariables,
    setServed,
    listVariables,
    findDeployment: async (projectId, marker) => {
      const deployment = await findMarked(projectId, marker);
      return deployment === undefined ? null : toDeployment(deployment);
    },
    readDeployment: async (_projectId, deploymentId) => {
      const found = await call('GET', `/v13/deployments/${encodeURIComponent(deploymentId)}`, { handled: [404] });
      if (found === null) return null;
      const deployment = parseDeployment(found);
      return deployment.readyState === 'DELETED' ? null : deploymentOf(deployment);
    },
    deploy: async (projectId, marker, pause = (ms) => sleep(clock, ms)) =>
      whenBuilt(await mutex.run(projectId, () => start(projectId, marker)), pause),
    startDeployment: (projectId, marker) => mutex.run(projectId, () => start(projectId, marker)),
    findUnchanged,
    latestDeployment: async (projectId) => {
      const [latest] = await list(projectId, 1, { state: 'READY', target: 'production' });
      if (latest === undefined) return null;
      const deployment = toDeployment(latest);
      await requireReachable(deployment.url);
      return deployment;
    },
    listDeployments: async (projectId, limit, before) => {
      const found: Deployment[] = [];
      for (let from = before; found.length < limit; from = found.at(-1)) {
        const size = Math.min(limit - found.length, MAX_PAGE_SIZE);
        const until = from === undefined ? {} : { until: String(Date.parse(from.createdAt)) };
        const page = await list(projectId, size, until);
        found.push(...page.map(toDeployment));
        if (page.length < size) break;
      }
      return found;
    },
    deleteProject: async ({ name, marker, id }) => {
      const named = await findByName(name, marker);
      const project = named?.isOurs === true ? named.project : id === undefined ? null : await findById(id, marker);
      if (project === null) return false;
      // 404: deleted in the meantime.
      parseNothing((await call('DELETE', `/v9${projectPath(project.id)}`, { handled: [404], retryable: true })) ?? null);
      return true;
    },
  };
};
