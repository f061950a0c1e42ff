import type { Recorded } from '../envelope.js';
import { withItems, type StreamFold } from '../fold.js';
import type { AnsweredRequest, Leftover, ProvisioningEvent, StepId } from './provisioning.events.js';
import { provisioningStream } from './provisioning.stream.js';

/** A remote thing that a provisioning job made, or may have made. */
export interface Receipt {
  readonly kind: 'repository' | 'collaborator' | 'project' | 'variables' | 'deployment';
  readonly step: StepId;
  /** Absent when it is not known whether the step made it. */
  readonly provider?: string;
  readonly id?: string;
  readonly name?: string;
  readonly url?: string;
  /** Names of variables. */
  readonly names?: readonly string[];
  /** Of whose step it is; `uncertain`: the step began and did not succeed. */
  readonly outcome: 'made' | 'uncertain';
  /** When the step's first attempt began, and when it ended; ISO 8601 UTC. */
  readonly startedAt: string;
  readonly finishedAt?: string;
  readonly attempts: number;
  /** Those of all attempts that the providers gave an id, in their order. */
  readonly requests: readonly AnsweredRequest[];
  /** The id of the request to us that led to it. */
  readonly requestId: string;
  /** When a clean-up removed it. */
  readonly removedAt?: string;
}

/** What a job has made at the providers, in the order of its making. */
export interface ReceiptsOfJob {
  /**
   * What repository and project are named, one of these, the last one first; the marker of all is the
   * job's id.
   */
  readonly names: readonly string[];
  readonly receipts: readonly Receipt[];
  /** Those under way. */
  readonly steps: Partial<Readonly<Record<StepId, Step>>>;
}

interface Step {
  readonly startedAt: string;
  readonly attempts: number;
  readonly requests: readonly AnsweredRequest[];
}

/** What goes with a leftover when it is removed. */
const removedWith: Readonly<Record<Leftover, readonly Receipt['kind'][]>> = {
  project: ['project', 'variables', 'deployment'],
  repository: ['repository', 'collaborator'],
};

const makers: Readonly<Partial<Record<StepId, Receipt['kind']>>> = {
  github_create_repo: 'repository',
  vercel_create_project: 'project',
  vercel_initial_deploy: 'deployment',
};

/** What the steps so far say of the project's provider and id. */
const projectOf = (receipts: readonly Receipt[]): Pick<Receipt, 'provider' | 'id'> => {
  const { provider, id } = receipts.findLast(({ kind }) => kind === 'project') ?? {};
  return { ...(provider !== undefined && { provider }), ...(id !== undefined && { id }) };
};

/** What the output of a step says was made. */
const madeBy = (
  { step, output }: Extract<ProvisioningEvent, { type: 'ProvisioningStepSucceeded' }>['data'],
  receipts: readonly Receipt[],
): readonly Pick<Receipt, 'kind' | 'provider' | 'id' | 'name' | 'names' | 'url'>[] => {
  switch (step) {
    case 'github_create_repo': {
      const { provider, id, name } = output;
      return [{ kind: 'repository', provider, id, name }];
    }
    case 'github_invite_collaborator': {
      const { provider } = receipts.findLast(({ kind }) => kind === 'repository') ?? {};
      const ofHost = provider === undefined ? {} : { provider };
      return output.invited.map((id) => ({ kind: 'collaborator', ...ofHost, id }));
    }
    case 'vercel_create_project': {
      const { provider, projectId: id, name, url } = output;
      return [{ kind: 'project', provider, id, name, url }];
    }
    case 'vercel_set_env_vars':
      return [{ kind: 'variables', ...projectOf(receipts), names: output.variables }];
    case 'vercel_initial_deploy': {
      const { provider } = projectOf(receipts);
      const { deploymentId: id, url } = output;
      return [{ kind: 'deployment', ...(provider !== undefined && { provider }), id, url }];
    }
    case 'finalize':
      return [];
    default:
      return step satisfies never;
  }
};

const evolve = (job: ReceiptsOfJob, event: Recorded<ProvisioningEvent>): ReceiptsOfJob => {
  const { type, data, metadata } = event;
  switch (type) {
    case 'ProvisioningQueued':
      return { ...job, names: [data.slug] };
    case 'ProvisioningRetried': {
      const { slug } = data;
      return slug === undefined ? job : { ...job, names: [slug, ...job.names.filter((name) => name !== slug)] };
    }
    case 'ProvisioningStepStarted': {
      const { startedAt = metadata.at, requests = [] } = job.steps[data.step] ?? {};
      return { ...job, steps: { ...job.steps, [data.step]: { startedAt, requests, attempts: data.attempt } } };
    }
    case 'ProvisioningRequestsAnswered': {
      const step = job.steps[data.step];
      if (step === undefined) return job;
      return { ...job, steps: { ...job.steps, [data.step]: { ...step, requests: withItems(step.requests, ...data.requests) } } };
    }
    case 'ProvisioningStepSucceeded': {
      const { [data.step]: step, ...steps } = job.steps;
      // An earlier run may have failed here, and left what this one found.
      const isEarlier = (one: Receipt): boolean => one.step === data.step && one.outcome === 'uncertain';
      const earlier = job.receipts.find(isEarlier);
      const ofStep = {
        startedAt: earlier?.startedAt ?? step?.startedAt ?? metadata.at,
        finishedAt: metadata.at,
        attempts: data.attempt,
        requests: [...(earlier?.requests ?? []), ...(step?.requests ?? [])],
        requestId: metadata.requestId,
      };
      const made = madeBy(data, job.receipts).map((one) => ({ ...one, step: data.step, outcome: 'made', ...ofStep }) as const);
      return { ...job, steps, receipts: [...job.receipts.filter((one) => !isEarlier(one)), ...made] };
    }
    case 'ProvisioningFailed': {
      const { [data.step]: step, ...steps } = job.steps;
      const kind = makers[data.step];
      if (step === undefined || kind === undefined) return job;
      const uncertain = { kind, step: data.step, outcome: 'uncertain', finishedAt: metadata.at, ...step } as const;
      return { ...job, steps, receipts: [...job.receipts, { ...uncertain, requestId: metadata.requestId }] };
    }
    case 'ProvisioningLeftoverRemoved': {
      const gone = removedWith[data.what];
      const receipts = job.receipts.flatMap((receipt) => {
        if (!gone.includes(receipt.kind) || receipt.removedAt !== undefined) return [receipt];
        // The step that failed had made nothing.
        return receipt.outcome === 'uncertain' && !data.found ? [] : [{ ...receipt, removedAt: metadata.at }];
      });
      return { ...job, receipts };
    }
    default:
      return job;
  }
};

export const provisioningReceiptsFold: StreamFold<ReceiptsOfJob, ProvisioningEvent, { readonly jobId: string }> = {
  name: 'provisioning-receipts',
  stream: provisioningStream,
  initialState: { names: [], receipts: [], steps: {} },
  evolve,
};
