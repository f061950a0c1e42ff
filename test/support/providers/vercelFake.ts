import type { FakeRepository } from './gitHubFakeRepository.js';
import { createVercelJudge } from './vercelJudge.js';
import type { FakeAnswer, FakeProvider, FakeRequest } from './wire.js';

interface Variable {
  readonly key: string;
  value: string;
  readonly type: string;
  readonly target: readonly string[];
  updatedAt?: number;
}

/** Each change of the account is a millisecond later than the one before. */
const timeAt = (count: number): number => 1_767_225_600_000 + count;

interface FakeDeployment {
  readonly id: string;
  readonly meta: Readonly<Record<string, string>>;
  readonly words: string | null;
  readonly createdAt: number;
  /** What it is built with. */
  readonly variables: Readonly<Record<string, string>>;
  /** For how many more requests the build is still running. */
  building: number;
}

export interface FakeProject {
  readonly id: string;
  readonly name: string;
  /** Owner and name on the source host. */
  readonly repository: string;
  /** Whether visitors must log in. */
  isProtected: boolean;
  isPaused: boolean;
  readonly variables: Variable[];
  /** Newest first. */
  readonly deployments: FakeDeployment[];
  /** Whether Vercel lets the project use each domain that it has. */
  readonly domains: Map<string, { verified: boolean }>;
}

export interface VercelFake {
  readonly provider: FakeProvider;
  readonly token: string;
  readonly teamId: string;
  /** By name. */
  readonly projects: ReadonlyMap<string, FakeProject>;
  /** All projects and deployments ever created, by name and id. */
  readonly made: { readonly projects: string[]; readonly deployments: string[] };
  /** Whether the team makes variables of production and preview sensitive (`sensitiveEnvironmentVariablePolicy`). */
  policy: 'on' | 'off';
  /** Names of variables that cannot be set. */
  readonly forbidden: Set<string>;
  /** Names of projects whose builds do not end by themselves. */
  readonly slow: Set<string>;
  /** Domains that another account uses and that are not proved to Vercel yet. */
  readonly contested: Set<string>;
  /** The response that visitors get at an address. */
  visit(address: string): { status: number; text: string };
}

const judge = createVercelJudge();
const stateOf = ({ building, words }: FakeDeployment): string => (building > 0 ? 'BUILDING' : words === null ? 'ERROR' : 'READY');
const failureOf = (deployment: FakeDeployment) =>
  stateOf(deployment) === 'ERROR' ? { errorCode: 'BUILD_FAILED', errorMessage: 'Command "npm run build" exited with 1' } : {};

/**
 * The part of Vercel that the service uses, building the repositories of `repositoryOf`. Requests
 * and responses are checked with Vercel's own client.
 */
export const createVercelFake = ({
  repositoryOf,
  building = 2,
}: {
  repositoryOf: (fullName: string) => FakeRepository | undefined;
  building?: number;
}): VercelFake => {
  const token = 'vercel_canary0123456789';
  const teamId = 'team_agency';
  const projects = new Map<string, FakeProject>();
  const made: VercelFake['made'] = { projects: [], deployments: [] };
  const forbidden = new Set<string>();
  const slow = new Set<string>();
  const contested = new Set<string>();
  const repositoryIds: string[] = [];
  let count = 0;

  const errorResponse = (status: number, code: string, message: string): FakeAnswer => ({
    status,
    body: { error: { code, message } },
  });
  const missing = errorResponse(404, 'not_found', 'Not found');
  const find = (idOrName: string): FakeProject | undefined =>
    projects.get(idOrName) ?? [...projects.values()].find(({ id }) => id === idOrName);
  const repositoryId = (fullName: string): number => {
    if (!repositoryIds.includes(fullName)) repositoryIds.push(fullName);
    return repositoryIds.indexOf(fullName) + 1;
  };

  const toProjectResource = ({ id, name, repository, isProtected, isPaused }: FakeProject) => ({
    accountId: teamId,
    id,
    name,
    alias: [],
    defaultResourceConfig: { functionDefaultRegions: [] },
    deploymentExpiration: {},
    directoryListing: false,
    nodeVersion: '22.x',
    resourceConfig: { functionDefaultRegions: [] },
    ...(isPaused && { paused: true }),
    ssoProtection: isProtected ? { deploymentType: 'all' } : null,
    link: {
      type: 'github',
      org: repository.split('/')[0],
      repo: repository.split('/')[1],
      repoId: repositoryId(repository),
      deployHooks: [],
      gitCredentialId: 'cred_1',
      productionBranch: 'main',
      sourceless: false,
    },
  });
  const hostOf = (project: FakeProject, { id }: FakeDeployment): string => `${project.name}-${id.toLowerCase()}.vercel.app`;
  const creator = { uid: 'user_1', username: 'agency' };
  const oneBody = (project: FakeProject, deployment: FakeDeployment) => ({
    id: deployment.id,
    name: project.name,
    url: hostOf(project, deployment),
    readyState: stateOf(deployment),
    status: stateOf(deployment),
    meta: deployment.meta,
    createdAt: deployment.createdAt,
    creator,
    inspectorUrl: null,
    projectId: project.id,
    ownerId: teamId,
    target: 'production',
    type: 'LAMBDAS',
    version: 2,
    public: false,
    regions: ['fra1'],
    routes: null,
    bootedAt: deployment.createdAt,
    buildingAt: deployment.createdAt,
    build: { env: [] },
    env: [],
    alias: [],
    aliasAssigned: true,
    buildSkipped: false,
    plan: 'pro',
    createdIn: 'fra1',
    ...failureOf(deployment),
  });
  const listedBody = (project: FakeProject, deployment: FakeDeployment) => ({
    uid: deployment.id,
    name: project.name,
    projectId: project.id,
    url: hostOf(project, deployment),
    created: deployment.createdAt,
    createdAt: deployment.createdAt,
    creator,
    inspectorUrl: null,
    state: stateOf(deployment),
    readyState: stateOf(deployment),
    meta: deployment.meta,
    target: 'production',
    type: 'LAMBDAS',
    ...failureOf(deployment),
  });
  const polled = (deployment: FakeDeployment): FakeDeployment => {
    if (deployment.building > 0) deployment.building -= 1;
    return deployment;
  };

  const typeOf = ({ type, target }: Variable): string =>
    fake.policy === 'on' && target.some((one) => one !== 'development') ? 'sensitive' : type;

  const createProject = ({ body }: FakeRequest): FakeAnswer => {
    const input = body as {
      name: string;
      gitRepository: { repo: string };
      ssoProtection?: object | null;
      environmentVariables: Variable[];
    };
    if (projects.has(input.name)) return errorResponse(409, 'conflict', `A project with the name "${input.name}" already exists`);
    if (repositoryOf(input.gitRepository.repo) === undefined)
      return errorResponse(400, 'bad_request', 'To link a GitHub repository, you need to install the GitHub integration first.');
    count += 1;
    const project: FakeProject = {
      id: `prj_${count}`,
      name: input.name,
      repository: input.gitRepository.repo,
      isProtected: input.ssoProtection !== null,
      isPaused: false,
      variables: input.environmentVariables.map((variable) => ({ ...variable, type: typeOf(variable) })),
      deployments: [],
      domains: new Map(),
    };
    projects.set(input.name, project);
    made.projects.push(input.name);
    return { status: 200, body: toProjectResource(project) };
  };

  const setVariables = (project: FakeProject, inputs: readonly Variable[]): FakeAnswer => {
    const refusalOf = ({ key, type }: Variable): string | undefined => {
      if (forbidden.has(key)) return 'This name is reserved';
      const known = project.variables.find((variable) => variable.key === key);
      const isChanged = known?.type === 'sensitive' && type !== 'sensitive';
      return isChanged ? 'You cannot change the type of a Sensitive Environment Variable.' : undefined;
    };
    count += 1;
    const updatedAt = timeAt(count);
    const failed = inputs.flatMap((input) => {
      const { key, value, type, target } = input;
      const message = refusalOf(input);
      return message === undefined ? [] : [{ error: { code: 'forbidden', message, key, envVarKey: key, value, target, type } }];
    });
    for (const input of inputs.filter((one) => refusalOf(one) === undefined)) {
      const known = project.variables.find(({ key }) => key === input.key);
      if (known === undefined) project.variables.push({ ...input, type: typeOf(input), updatedAt });
      else Object.assign(known, { value: input.value, updatedAt });
    }
    return { status: 201, body: { created: [], failed } };
  };
  const readableValue = ({ type, value }: Variable): string => {
    if (type === 'sensitive') return '';
    // Only plain variables are readable without decryption.
    return type === 'plain' ? value : 'eyJ2IjoidjIi';
  };
  const variableBody = (variable: Variable, index: number) => ({
    id: `env_${index}`,
    key: variable.key,
    type: variable.type,
    target: variable.target,
    value: readableValue(variable),
    configurationId: null,
    securityIssues: [],
    createdAt: 1,
    updatedAt: variable.updatedAt ?? 1,
  });

  const deploy = ({ body }: FakeRequest): FakeAnswer => {
    const input = body as { project: string; gitSource: { repoId: number; ref: string }; meta: Record<string, string> };
    const project = find(input.project);
    if (project === undefined) return missing;
    const head = repositoryOf(repositoryIds[input.gitSource.repoId - 1] ?? '')?.commits[0];
    if (head === undefined) return errorResponse(400, 'incorrect_git_source_info', 'The provided reference could not be found');
    count += 1;
    const meta = { ...input.meta, githubCommitSha: head.sha, githubCommitRef: input.gitSource.ref };
    const variables = Object.fromEntries(project.variables.map(({ key, value }) => [key, value]));
    const createdAt = timeAt(count);
    const left = slow.has(project.name) ? Infinity : building;
    const deployment = { id: `dpl_${count}`, meta, words: head.words, createdAt, variables, building: left };
    project.deployments.unshift(deployment);
    made.deployments.push(deployment.id);
    return { status: 200, body: oneBody(project, deployment) };
  };
  const listed = ({ query }: FakeRequest): FakeAnswer => {
    const project = find(query.get('projectId') ?? '');
    if (project === undefined) return missing;
    const state = query.get('state');
    const until = Number(query.get('until') ?? Infinity);
    const found = project.deployments
      .map(polled)
      .filter((one) => one.createdAt < until && (state === null || stateOf(one) === state));
    const deployments = found.slice(0, Number(query.get('limit') ?? 20)).map((one) => listedBody(project, one));
    return { status: 200, body: { deployments, pagination: { count: deployments.length, next: null, prev: null } } };
  };

  const domainBody = (project: FakeProject, name: string, verified: boolean) => ({
    name,
    apexName: name.split('.').slice(-2).join('.'),
    projectId: project.id,
    verified,
    ...(!verified && {
      verification: [{ type: 'TXT', domain: `_vercel.${name}`, value: `vc-domain-verify=${name},abc`, reason: 'pending' }],
    }),
  });
  const ofDomain = (
    { method, body }: FakeRequest,
    project: FakeProject,
    name: string | undefined,
    verb: string | undefined,
  ): FakeAnswer => {
    if (name === undefined) {
      const { name: added } = body as { name: string };
      const hasIt = [...projects.values()].some(({ domains }) => domains.has(added));
      if (hasIt) return errorResponse(409, 'domain_already_in_use', 'Cannot add the domain: it is already in use');
      const domain = { verified: !contested.has(added) };
      project.domains.set(added, domain);
      return { status: 200, body: domainBody(project, added, domain.verified) };
    }
    const domain = project.domains.get(name);
    if (domain === undefined) return missing;
    if (method === 'DELETE') {
      project.domains.delete(name);
      return { status: 200, body: {} };
    }
    if (verb === 'verify') {
      if (contested.has(name))
        return errorResponse(400, 'missing_txt_record', `Domain _vercel.${name} is missing required TXT Record`);
      domain.verified = true;
    }
    return { status: 200, body: domainBody(project, name, domain.verified) };
  };
  const domainConfig: FakeAnswer = {
    status: 200,
    body: {
      ...{ acceptedChallenges: ['http-01'], configuredBy: null, misconfigured: true },
      recommendedCNAME: [
        { rank: 2, value: 'cname.vercel-dns.com.' },
        { rank: 1, value: 'd1d4fc829fe7bc7c.vercel-dns-017.com.' },
      ],
      recommendedIPv4: [{ rank: 1, value: ['216.198.79.1'] }],
    },
  };

  const ofProject = (request: FakeRequest, project: FakeProject, part: string | undefined): FakeAnswer => {
    if (request.method === 'DELETE') {
      projects.delete(project.name);
      return { status: 204 };
    }
    if (part === undefined) return { status: 200, body: toProjectResource(project) };
    if (part === 'pause' || part === 'unpause') {
      project.isPaused = part === 'pause';
      return { status: 200 };
    }
    if (part === 'env' && request.method === 'POST') return setVariables(project, request.body as readonly Variable[]);
    if (part === 'env') return { status: 200, body: { envs: project.variables.map(variableBody) } };
    const domain = { name: `${project.name}.vercel.app`, apexName: 'vercel.app', projectId: project.id, verified: true };
    return { status: 200, body: { domains: [domain], pagination: { count: 1, next: null, prev: null } } };
  };
  const answerFor = (request: FakeRequest): FakeAnswer => {
    const { method, path, query, headers } = request;
    if (headers.get('authorization') !== `Bearer ${token}`) return errorResponse(403, 'forbidden', 'Not authorized');
    if (query.get('teamId') !== teamId) return errorResponse(403, 'forbidden', 'Not authorized for this scope');
    const [, version = '', kind, name, part, item, verb] = path.split('/').map(decodeURIComponent);
    if (kind === 'deployments') {
      if (method === 'POST') return deploy(request);
      if (name === undefined) return listed(request);
      for (const project of projects.values()) {
        const found = project.deployments.find(({ id }) => id === name);
        if (found !== undefined) return { status: 200, body: oneBody(project, polled(found)) };
      }
      return missing;
    }
    if (kind === 'domains') return domainConfig;
    if (name === undefined) return createProject(request);
    const project = find(name);
    if (project === undefined || version === '') return missing;
    if (part === 'domains' && (item !== undefined || method === 'POST')) return ofDomain(request, project, item, verb);
    return ofProject(request, project, part);
  };

  let sent = 0;
  const fake: VercelFake = {
    token,
    teamId,
    projects,
    made,
    policy: 'off',
    forbidden,
    slow,
    contested,
    visit: (address) => {
      const { hostname } = new URL(address);
      for (const project of projects.values()) {
        const live = project.deployments.find((deployment) => stateOf(deployment) === 'READY');
        const own = project.deployments.find((deployment) => hostOf(project, deployment) === hostname);
        const isHere = hostname === `${project.name}.vercel.app` || project.domains.get(hostname)?.verified === true;
        const deployment = isHere ? live : own;
        if (deployment === undefined || stateOf(deployment) !== 'READY') continue;
        if (project.isPaused && deployment === live) return { status: 503, text: 'DEPLOYMENT_PAUSED' };
        return project.isProtected ? { status: 401, text: 'Log in' } : { status: 200, text: deployment.words ?? '' };
      }
      return { status: 404, text: 'Not found' };
    },
    provider: (request) => {
      judge.request(request);
      const answer = answerFor(request);
      judge.answer(request, answer);
      return { ...answer, headers: { 'x-vercel-id': `fra1::${String((sent += 1))}`, ...answer.headers } };
    },
  };
  return fake;
};
