import { Type, type Static, type TSchema } from 'typebox';
import { event, type EventOf } from '../defineStream.js';
import { Attempt, attemptFailure, leaseRenewal, leaseStart, Time } from '../fields.js';
import { provisioningUpcasters } from './provisioning.upcasters.js';

/**
 * The steps of the pipeline, in order; the names are the specification's ("Provisioning pipeline").
 */
export const stepIds = [
  'github_create_repo',
  'github_invite_collaborator',
  'vercel_create_project',
  'vercel_set_env_vars',
  'vercel_initial_deploy',
  'finalize',
] as const;

export const StepId = Type.Enum([...stepIds]);
export type StepId = Static<typeof StepId>;

/**
 * What each step leaves behind: ids and names of remote objects, never a value that might be
 * secret.
 */
const outputs = {
  github_create_repo: Type.Object({
    provider: Type.String(),
    id: Type.String(),
    name: Type.String(),
    defaultBranch: Type.String(),
    cloneUrl: Type.String(),
  }),
  github_invite_collaborator: Type.Object({ invited: Type.Array(Type.String()) }),
  vercel_create_project: Type.Object({
    provider: Type.String(),
    projectId: Type.String(),
    name: Type.String(),
    url: Type.String(),
  }),
  vercel_set_env_vars: Type.Object({ variables: Type.Array(Type.String()) }),
  vercel_initial_deploy: Type.Object({ deploymentId: Type.String(), url: Type.String(), commit: Type.String() }),
  finalize: Type.Object({ url: Type.String() }),
};

export type StepOutputs = { readonly [Step in StepId]: Static<(typeof outputs)[Step]> };

const ofJob = { jobId: Type.String(), websiteId: Type.String() };

const succeeded = <Step extends StepId, Output extends TSchema>(step: Step, output: Output) =>
  Type.Object({ ...ofJob, step: Type.Literal(step), attempt: Attempt, output });

/** A request to a provider; `id` is the provider's. */
export const AnsweredRequest = Type.Object({
  provider: Type.String(),
  id: Type.String(),
  method: Type.String(),
  path: Type.String(),
  status: Type.Integer(),
  at: Time,
  durationMs: Type.Integer({ minimum: 0 }),
});
export type AnsweredRequest = Static<typeof AnsweredRequest>;

/** What a failed job may leave at the providers, in the order of removal: the last made first. */
export const leftovers = ['project', 'repository'] as const;
export type Leftover = (typeof leftovers)[number];

/** Stream `provisioning-<jobId>`. */
export const provisioningEvents = {
  ProvisioningQueued: event(
    Type.Object({
      ...ofJob,
      name: Type.String(),
      slug: Type.String(),
      templateId: Type.String(),
      brandColor: Type.Optional(Type.String()),
      collaborators: Type.Array(Type.String()),
      /** When the website was created, which queued the job. */
      createdAt: Time,
    }),
  ),
  /** `attempt` counts all attempts at the step. */
  ProvisioningStepStarted: event(Type.Object({ ...ofJob, step: StepId, ...leaseStart })),
  ProvisioningLeaseRenewed: event(Type.Object({ ...ofJob, step: StepId, ...leaseRenewal })),
  ProvisioningStepSucceeded: event(
    Type.Union([
      succeeded('github_create_repo', outputs.github_create_repo),
      succeeded('github_invite_collaborator', outputs.github_invite_collaborator),
      succeeded('vercel_create_project', outputs.vercel_create_project),
      succeeded('vercel_set_env_vars', outputs.vercel_set_env_vars),
      succeeded('vercel_initial_deploy', outputs.vercel_initial_deploy),
      succeeded('finalize', outputs.finalize),
    ]),
  ),
  /**
   * Before the outcome of the attempt: its requests to a provider that changed something, and its
   * last one, as the provider's support finds them. Embedded providers have none.
   */
  ProvisioningRequestsAnswered: event(
    Type.Object({
      ...ofJob,
      step: StepId,
      attempt: Attempt,
      requests: Type.Array(AnsweredRequest),
    }),
  ),
  ProvisioningStepFailed: event(Type.Object({ ...ofJob, step: StepId, ...attemptFailure })),
  ProvisioningFailed: event(Type.Object({ ...ofJob, step: StepId, reason: Type.String() })),
  /**
   * `run` counts from 1; a retry begins the next one at the step that failed. `slug` is the website's of
   * then, which names what is not there yet. `collaborators`: who is to be invited instead of those before.
   */
  ProvisioningRetried: event(
    Type.Object({
      ...ofJob,
      step: StepId,
      run: Type.Integer({ minimum: 2 }),
      slug: Type.Optional(Type.String()),
      collaborators: Type.Optional(Type.Array(Type.String())),
    }),
    provisioningUpcasters.ProvisioningRetried,
  ),
  /** What a failed job has made is to be removed. */
  ProvisioningCompensationRequested: event(Type.Object({ ...ofJob })),
  ProvisioningCompensationStarted: event(Type.Object({ ...ofJob, ...leaseStart })),
  ProvisioningCompensationLeaseRenewed: event(Type.Object({ ...ofJob, ...leaseRenewal })),
  /** `found` is false when there was none that this job had made. */
  ProvisioningLeftoverRemoved: event(
    Type.Object({ ...ofJob, attempt: Attempt, what: Type.Enum([...leftovers]), name: Type.String(), found: Type.Boolean() }),
  ),
  /** After the last attempt the compensation is given up until it is requested again. */
  ProvisioningCompensationFailed: event(Type.Object({ ...ofJob, ...attemptFailure })),
  /** Nothing is left; a retry begins with the first step. */
  ProvisioningCompensated: event(Type.Object({ ...ofJob })),
  ProvisioningSucceeded: event(Type.Object({ ...ofJob })),
};

export type ProvisioningEvent = EventOf<typeof provisioningEvents>;

/** A step's success as its executor reports it. */
export type StepResult = {
  [Step in StepId]: { readonly step: Step; readonly output: StepOutputs[Step] };
}[StepId];
