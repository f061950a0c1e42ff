import { LRUCache } from 'lru-cache';
import { Type, type Static, type TSchema } from 'typebox';
import { isoTime, sleep, type Clock } from '../../platform/clock.js';
import type { Logger } from '../../platform/logger.js';
import type { Random } from '../../platform/random.js';
import type { VercelAccount } from '../../platform/settings.js';
import { createKeyedMutex } from '../../platform/keyedMutex.js';
import { ProviderFault } from '../fault.js';
import { createProviderHttp, formOf, jsonOf } from '../http.js';
import type { Deployment, Hosting, HostingProject } from './port.js';

const provider = 'Vercel';

const nullable = <Schema extends TSchema>(schema: Schema) => Type.Optional(Type.Union([schema, Type.Null()]));

const projectOf = formOf(
  provider,
  Type.Object({
    id: Type.String(),
    name: Type.String(),
    link: Type.Optional(Type.Object({ repoId: Type.Optional(Type.Number()), productionBranch: Type.Optional(Type.String()) })),
  }),
);
const variablesOf = formOf(
  provider,
  Type.Object({ envs: Type.Array(Type.Object({ key: Type.String(), value: Type.Optional(Type.String()) })) }),
);
const upsertOf = formOf(
  provider,
  Type.Object({
    failed: Type.Array(Type.Object({ error: Type.Object({ message: Type.String(), envVarKey: Type.Optional(Type.String()) }) })),
  }),
);
const domainsOf = formOf(
  provider,
  Type.Object({
    domains: Type.Array(Type.Object({ name: Type.String(), verified: Type.Boolean(), redirect: nullable(Type.String()) })),
  }),
);
const Meta = Type.Optional(Type.Record(Type.String(), Type.Unknown()));
const Built = {
  url: nullable(Type.String()),
  readyState: Type.Optional(Type.String()),
  meta: Meta,
  errorMessage: nullable(Type.String()),
  createdAt: Type.Number(),
};
const One = Type.Object({ id: Type.String(), ...Built });
const Listed = Type.Object({ uid: Type.String(), ...Built });
const oneOf = formOf(provider, One);
const listOf = formOf(provider, Type.Object({ deployments: Type.Array(Listed) }));
const nothing = formOf(provider, Type.Null());
const errorOf = formOf(provider, Type.Object({ error: Type.Object({ message: Type.String() }) }));

/**
 * A variable of the project and a piece of metadata of each deployment: both are set with the creation itself and can be read back.
 * They tell ours from somebody else's.
 */
const projectMarker = 'DOORSTEP_JOB';
const deploymentMarker = 'doorstep';

const LOOK_EVERY_MS = 3_000;
/** A step of provisioning has 15 minutes. */
const BUILT_WITHIN_MS = 14 * 60_000;
const MOST_LISTED = 100;
/** For how long an address that has answered counts as one that answers. */
const ANSWERS_FOR_MS = 60_000;

const permanent = (message: string): ProviderFault => new ProviderFault({ provider, message, transient: false });
const transient = (message: string): ProviderFault => new ProviderFault({ provider, message, transient: true });

const statusOf = (state: string | undefined): Deployment['status'] => {
  if (state === 'READY') return 'ready';
  return state === 'ERROR' || state === 'CANCELED' || state === 'BLOCKED' || state === 'DELETED' ? 'failed' : 'building';
};

const deploymentOf = ({ id, url, readyState, meta, errorMessage, createdAt }: Static<typeof One>): Deployment => {
  const status = statusOf(readyState);
  const commit = meta?.githubCommitSha;
  return {
    id,
    status,
    // Vercel names the host only.
    url: url === undefined || url === null ? '' : `https://${url}`,
    commit: typeof commit === 'string' ? commit : '',
    createdAt: isoTime(createdAt),
    ...(status === 'failed' && { error: errorMessage ?? `The deployment is ${(readyState ?? 'lost').toLowerCase()}` }),
  };
};

/**
 * Projects on Vercel, each building a repository on GitHub. Deployment protection is off from a project's creation on, since clients
 * are to open its addresses without an account.
 * @param options `fetchStatus` requests a page and answers with its status code
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
  const http = createProviderHttp({ ...options, provider, repeatLate: false, requestIdHeader: 'x-vercel-id' });
  const mutex = createKeyedMutex();
  const answeredAt = new LRUCache<string, number>({ max: 1_000 });

  /** @throws ProviderFault; a refusal with one of the statuses in `handled` gives null instead */
  const call = async (
    method: string,
    path: string,
    more: { query?: Readonly<Record<string, string>>; body?: unknown; handled?: readonly number[]; repeatable?: boolean } = {},
  ): Promise<unknown> => {
    const url = new URL(settings.apiUrl + path);
    for (const [name, value] of Object.entries(more.query ?? {})) url.searchParams.set(name, value);
    if (settings.teamId !== undefined) url.searchParams.set('teamId', settings.teamId);
    const answer = await http({
      method,
      url: url.href,
      headers: { authorization: `Bearer ${settings.token}`, 'content-type': 'application/json' },
      ...(more.body !== undefined && { body: JSON.stringify(more.body) }),
      ...(more.repeatable !== undefined && { repeatable: more.repeatable }),
    });
    if (answer.status < 300) return answer.text === '' ? undefined : jsonOf(provider, answer);
    if (more.handled?.includes(answer.status) === true) return null;
    throw permanent(errorOf(jsonOf(provider, answer)).error.message);
  };

  const at = (projectId: string, part = ''): string => `/projects/${encodeURIComponent(projectId)}${part}`;
  const read = async (idOrName: string) => {
    const found = await call('GET', `/v9${at(idOrName)}`, { handled: [404] });
    return found === null ? null : projectOf(found);
  };
  const existing = async (projectId: string) => {
    const project = await read(projectId);
    if (project === null) throw permanent(`Project ${projectId} does not exist`);
    return project;
  };
  const variables = async (projectId: string) => variablesOf(await call('GET', `/v10${at(projectId)}/env`)).envs;

  /** The address that Vercel gave the project, or the first of its own domains that it has seen to be the owner's. */
  const addressOf = async (projectId: string): Promise<string> => {
    const { domains } = domainsOf(await call('GET', `/v9${at(projectId)}/domains`));
    const usable = domains.filter(({ verified, redirect }) => verified && (redirect ?? null) === null);
    const domain = usable.find(({ name }) => name.endsWith('.vercel.app')) ?? usable[0];
    if (domain === undefined) throw transient('The project has no address yet');
    return `https://${domain.name}/`;
  };

  const shown = async ({ id, name }: { id: string; name: string }): Promise<HostingProject> => ({
    id,
    name,
    url: await addressOf(id),
  });
  /** The id of the project of that name, and whether it is the marker's. */
  const lookUp = async (name: string, marker: string) => {
    const project = await read(name);
    if (project === null) return null;
    const isOurs = (await variables(project.id)).some(({ key, value }) => key === projectMarker && value === marker);
    return { project, isOurs };
  };

  const findProject: Hosting['findProject'] = async ({ name, marker }) => {
    const found = await lookUp(name, marker);
    return found?.isOurs === true ? shown(found.project) : null;
  };

  const createProject: Hosting['createProject'] = async ({ name, marker, repository }) => {
    const target = ['production', 'preview'];
    const body = {
      name,
      gitRepository: { type: 'github', repo: repository.id },
      // Without it, Vercel asks visitors to log in.
      ssoProtection: null,
      environmentVariables: [{ key: projectMarker, value: marker, type: 'plain', target }],
    };
    const earlier = await lookUp(name, marker);
    if (earlier === null) {
      const made = await call('POST', '/v11/projects', { body, handled: [409] });
      if (made !== null) return shown(projectOf(made));
    }
    // There already: by somebody else, or by an attempt whose answer never came.
    const there = earlier ?? (await lookUp(name, marker));
    if (there?.isOurs !== true) throw permanent(`The project name ${name} is already taken`);
    return shown(there.project);
  };

  const setVariables: Hosting['setVariables'] = async (projectId, values) => {
    const target = ['production', 'preview'];
    const body = Object.entries(values).map(([key, value]) => ({ key, value, type: 'encrypted', target }));
    const query = { upsert: 'true' };
    const answer = await call('POST', `/v10${at(projectId)}/env`, { query, body, repeatable: true, handled: [404] });
    if (answer === null) throw permanent(`Project ${projectId} does not exist`);
    // 201 also when some could not be set.
    const { failed } = upsertOf(answer);
    if (failed.length === 0) return;
    const reasons = failed.map(({ error: { envVarKey, message } }) => `${envVarKey ?? 'a variable'}: ${message}`);
    throw permanent(`Variables could not be set: ${reasons.join('; ')}`);
  };

  const listVariables: Hosting['listVariables'] = async (projectId) => {
    await existing(projectId);
    return (await variables(projectId)).map(({ key }) => key).filter((key) => key !== projectMarker);
  };

  const list = async (projectId: string, limit: number, query: Readonly<Record<string, string>> = {}) =>
    listOf(await call('GET', '/v7/deployments', { query: { projectId, limit: String(limit), ...query } })).deployments;

  const marked = async (projectId: string, marker: string) =>
    (await list(projectId, MOST_LISTED)).find(({ meta }) => meta?.[deploymentMarker] === marker);

  const listed = ({ uid, ...deployment }: Static<typeof Listed>): Deployment => deploymentOf({ id: uid, ...deployment });

  const start = async (projectId: string, marker: string): Promise<Deployment> => {
    const { id: project, name, link } = await existing(projectId);
    const earlier = await marked(projectId, marker);
    if (earlier !== undefined && statusOf(earlier.readyState) !== 'failed') return listed(earlier);
    if (link?.repoId === undefined) throw permanent(`The project ${name} is not connected to a repository`);
    const gitSource = { type: 'github', repoId: link.repoId, ref: link.productionBranch ?? 'main' };
    const body = { name, project, target: 'production', gitSource, meta: { [deploymentMarker]: marker } };
    // A commit that was built before is built again, and nobody is asked to confirm what kind of site it is.
    const query = { forceNew: '1', skipAutoDetectionConfirmation: '1' };
    return deploymentOf(oneOf(await call('POST', '/v13/deployments', { query, body })));
  };

  const whenBuilt = async ({ id }: Pick<Deployment, 'id'>): Promise<Deployment> => {
    const giveUpAt = clock.now() + BUILT_WITHIN_MS;
    for (;;) {
      const deployment = deploymentOf(oneOf(await call('GET', `/v13/deployments/${encodeURIComponent(id)}`)));
      if (deployment.status !== 'building' || clock.now() >= giveUpAt) return deployment;
      await sleep(clock, LOOK_EVERY_MS);
    }
  };

  /** @throws ProviderFault (transient) when a client could not open `url` */
  const requireAnswer = async (url: string): Promise<void> => {
    const since = answeredAt.get(url);
    if (since !== undefined && clock.now() - since < ANSWERS_FOR_MS) return;
    const status = await fetchStatus(url);
    if (status < 200 || status > 299) throw transient(`${url} answers with status ${String(status)}`);
    answeredAt.set(url, clock.now());
  };

  return {
    provider: 'vercel',
    findProject,
    createProject: (request) => mutex.run(request.name, () => createProject(request)),
    setVariables,
    listVariables,
    findDeployment: async (projectId, marker) => {
      const deployment = await marked(projectId, marker);
      return deployment === undefined ? null : listed(deployment);
    },
    deploy: async (projectId, marker) => whenBuilt(await mutex.run(projectId, () => start(projectId, marker))),
    startDeployment: (projectId, marker) => mutex.run(projectId, () => start(projectId, marker)),
    latestDeployment: async (projectId) => {
      const [latest] = await list(projectId, 1, { state: 'READY', target: 'production' });
      if (latest === undefined) return null;
      const deployment = listed(latest);
      await requireAnswer(deployment.url);
      return deployment;
    },
    listDeployments: async (projectId, limit, before) => {
      const found: Deployment[] = [];
      for (let from = before; found.length < limit; from = found.at(-1)) {
        const size = Math.min(limit - found.length, MOST_LISTED);
        const until = from === undefined ? {} : { until: String(Date.parse(from.createdAt)) };
        const page = await list(projectId, size, until);
        found.push(...page.map(listed));
        if (page.length < size) break;
      }
      return found;
    },
    deleteProject: async ({ name, marker }) => {
      const found = await lookUp(name, marker);
      if (found?.isOurs !== true) return false;
      // Gone meanwhile is as good as deleted.
      nothing((await call('DELETE', `/v9${at(found.project.id)}`, { handled: [404], repeatable: true })) ?? null);
      return true;
    },
  };
};
