import type { WebsiteCommand } from '../../commands/website/website.commands.js';
import type { Engine } from '../../engine.js';
import type { StepId, StepOutputs, StepResult } from '../../events/provisioning/provisioning.events.js';
import { siteValuesOf } from '../../events/website/siteValues.js';
import { websiteFold } from '../../events/website/website.state.js';
import { ProviderFault } from '../../integrations/fault.js';
import type { Hosting, HostingProject } from '../../integrations/hosting/port.js';
import type { SourceHost } from '../../integrations/sourceHost/port.js';
import type { HeldLease } from '../heldLease.js';
import { siteVariables } from '../site/siteVariables.js';
import type { Job, OpenJob, VerifiedJob } from '../../events/provisioning/provisioning.state.js';

export interface StepTools {
  readonly engine: Engine;
  readonly sourceHost: SourceHost;
  readonly hosting: Hosting;
  /**
   * Asks for a page and answers with its status code.
   * @throws ProviderFault (transient) without an answer in time
   */
  readonly visit: (url: string) => Promise<number>;
}

export interface StepAttempt {
  readonly job: OpenJob;
  readonly lease: HeldLease;
}

type Executor = (tools: StepTools, attempt: StepAttempt) => Promise<StepResult>;

/** What an earlier step left behind. */
const outputOf = <Step extends StepId>(job: Job, step: Step): StepOutputs[Step] => {
  const output: StepOutputs[Step] | undefined = job.outputs[step];
  if (output === undefined) throw new Error(`${step} has not been done yet`);
  return output;
};

/**
 * What the job has made already, under whichever of its names. It is asked for before anything is made,
 * so that a retry makes no second one, also when the slug has changed since.
 */
const findMade = async <Made>(
  { names, request: { jobId: marker } }: Job,
  find: (request: { readonly name: string; readonly marker: string }) => Promise<Made | null>,
): Promise<Made | null> => {
  for (const name of names) {
    const made = await find({ name, marker });
    if (made !== null) return made;
  }
  return null;
};

const fault = (provider: string, message: string, transient: boolean): ProviderFault =>
  new ProviderFault({ provider, message, transient });

const createRepository: Executor = async ({ sourceHost }, { job, lease }) => {
  const { jobId: marker, name: website, slug: name, templateId } = job.request;
  let repository = await findMade(job, (request) => sourceHost.findRepository(request));
  if (repository === null) {
    lease.assertHeld();
    repository = await sourceHost.createRepository({ name, templateId, marker, description: `Website of ${website}` });
  }
  const { id, defaultBranch, cloneUrl } = repository;
  return {
    step: 'github_create_repo',
    output: { provider: sourceHost.provider, id, name: repository.name, defaultBranch, cloneUrl },
  };
};

const inviteCollaborators: Executor = async ({ sourceHost }, { job, lease }) => {
  const { id } = outputOf(job, 'github_create_repo');
  const { collaborators } = job.request;
  const there = collaborators.length === 0 ? [] : await sourceHost.listCollaborators(id);
  for (const username of collaborators) {
    if (there.some((other) => other.toLowerCase() === username.toLowerCase())) continue;
    // GitHub asks for three seconds between two invitations, and there may be fifty.
    lease.restartTimeout();
    await sourceHost.inviteCollaborator(id, username);
  }
  return { step: 'github_invite_collaborator', output: { invited: [...collaborators] } };
};

const createProject: Executor = async ({ hosting }, { job, lease }) => {
  const { jobId: marker, slug: name } = job.request;
  let project = await findMade(job, (request) => hosting.findProject(request));
  if (project === null) {
    lease.assertHeld();
    project = await hosting.createProject({ name, marker, repository: outputOf(job, 'github_create_repo') });
  }
  const { id, url } = project;
  return { step: 'vercel_create_project', output: { provider: hosting.provider, projectId: id, name: project.name, url } };
};

/**
 * The project as it is now: its address may have changed since it was made, with its domain or the
 * service's own address.
 */
const currentProject = async (hosting: Hosting, job: OpenJob): Promise<HostingProject> => {
  const { projectId, name } = outputOf(job, 'vercel_create_project');
  const project = await hosting.readProject(projectId);
  if (project === null) throw fault(hosting.provider, `The project ${name} is no longer there`, false);
  return project;
};

/** What the site's build may use. */
const variablesOf = ({ request }: OpenJob, { url }: HostingProject): Readonly<Record<string, string>> => ({
  ...siteVariables(request),
  SITE_URL: url,
});

const setVariables: Executor = async ({ hosting }, { job, lease }) => {
  const project = await currentProject(hosting, job);
  const variables = variablesOf(job, project);
  lease.assertHeld();
  await hosting.setVariables(project.id, variables);
  return { step: 'vercel_set_env_vars', output: { variables: Object.keys(variables) } };
};

const deploy: Executor = async ({ hosting }, { job, lease }) => {
  const { projectId } = outputOf(job, 'vercel_create_project');
  const marker = job.request.jobId;
  let deployment = await hosting.findDeployment(projectId, marker);
  if (deployment?.status !== 'ready') {
    lease.assertHeld();
    deployment = await hosting.deploy(projectId, marker, lease.pause);
  }
  const { id, status, url, commit, error } = deployment;
  if (status === 'failed') throw fault(hosting.provider, `The build failed: ${error ?? 'no reason given'}`, false);
  if (status === 'building') throw fault(hosting.provider, 'The build has not ended yet', true);
  return { step: 'vercel_initial_deploy', output: { deploymentId: id, url, commit } };
};

/**
 * Verifies repository, project, variables and address. It changes nothing: only its success, which
 * is refused when it comes late, lets the website become active.
 */
const finalize: Executor = async ({ engine, sourceHost, hosting, visit }, { job }) => {
  const { provider, id, name } = outputOf(job, 'github_create_repo');

  const repository = await sourceHost.findRepository({ name, marker: job.request.jobId });
  if (repository?.id !== id) throw fault(provider, `The repository ${name} is no longer there`, false);
  const project = await currentProject(hosting, job);
  const set = await hosting.listVariables(project.id);
  const missing = Object.keys(variablesOf(job, project)).filter((variable) => !set.includes(variable));
  if (missing.length > 0) throw fault(hosting.provider, `Variables are missing: ${missing.join(', ')}`, false);
  const status = await visit(project.url);
  const isServed = status >= 200 && status <= 299;
  // A run that was under way when the website was archived still ends.
  if (!isServed && !(status === 410 && (await isArchived(engine, job)))) {
    throw fault(hosting.provider, `${project.url} answers with status ${String(status)}`, true);
  }
  return { step: 'finalize', output: { url: project.url } };
};

const isArchived = async (engine: Engine, { request: { websiteId } }: Job): Promise<boolean> => {
  const { state } = await engine.state(websiteFold, { websiteId });
  return state.stage !== 'none' && state.archived;
};

/** Makes the website of a verified job active. Any number of workers may ask for it. */
export const activation = (job: VerifiedJob): Omit<Extract<WebsiteCommand, { type: 'ActivateWebsite' }>, 'at'> => {
  const { provider, id, name, cloneUrl } = outputOf(job, 'github_create_repo');
  const project = outputOf(job, 'vercel_create_project');
  return {
    type: 'ActivateWebsite',
    websiteId: job.request.websiteId,
    repository: { provider, id, name, cloneUrl },
    hosting: { provider: project.provider, projectId: project.projectId, name: project.name },
    url: outputOf(job, 'finalize').url,
    shown: { deploymentId: outputOf(job, 'vercel_initial_deploy').deploymentId, values: siteValuesOf(job.request) },
  };
};

const minutes = 60_000;

/**
 * How each step is carried out, and how long one attempt may take, in milliseconds. Builds take
 * long.
 */
export const steps: { readonly [Step in StepId]: { readonly execute: Executor; readonly timeoutMs: number } } = {
  github_create_repo: { execute: createRepository, timeoutMs: 2 * minutes },
  github_invite_collaborator: { execute: inviteCollaborators, timeoutMs: minutes },
  vercel_create_project: { execute: createProject, timeoutMs: minutes },
  vercel_set_env_vars: { execute: setVariables, timeoutMs: minutes },
  vercel_initial_deploy: { execute: deploy, timeoutMs: 15 * minutes },
  finalize: { execute: finalize, timeoutMs: minutes },
};
