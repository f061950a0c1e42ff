import { Type, type Static } from 'typebox';
import { stepIds, type AnsweredRequest } from '../../../events/provisioning/provisioning.events.js';
import type { Receipt } from '../../../events/provisioning/provisioning.receipts.js';
import { ProviderFault } from '../../../integrations/fault.js';
import type { Hosting } from '../../../integrations/hosting/port.js';
import type { SourceHost } from '../../../integrations/sourceHost/port.js';
import type { Clock } from '../../../platform/clock.js';
import { within } from '../../within.js';

const Time = Type.String({ format: 'date-time' });

const ProviderRequest = Type.Object(
  {
    provider: Type.String(),
    id: Type.String({ description: 'The provider’s.', examples: ['A1B2:3C4D:5E6F7'] }),
    method: Type.String({ description: 'In capitals.', examples: ['POST'] }),
    path: Type.String({ description: 'Of the provider’s API.', examples: ['/repos/agency/template/generate'] }),
    status: Type.Integer({ description: 'Of the answer.', examples: [201] }),
    at: Time,
    durationMs: Type.Integer({ description: 'Until the whole answer was there, in milliseconds.', examples: [840] }),
  },
  { $id: 'ProviderRequest', description: 'A request to a provider, as its support finds it.' },
);

/** A remote thing that provisioning made, and whether it is there now. */
export const ProvisioningReceipt = Type.Object(
  {
    kind: Type.Enum(['repository', 'collaborator', 'project', 'variables', 'deployment'], { description: 'What it is.' }),
    step: Type.Enum([...stepIds], { description: 'The step that made it.' }),
    outcome: Type.Enum(['made', 'uncertain'], {
      description: '`uncertain`: the step failed, and may have made it all the same.',
    }),
    provider: Type.Optional(Type.String()),
    id: Type.Optional(
      Type.String({
        description:
          'At the provider: of variables that of their project, of a collaborator the username. Absent while it is not known.',
        examples: ['agency/corner-bakery'],
      }),
    ),
    name: Type.Optional(Type.String()),
    url: Type.Optional(Type.String()),
    names: Type.Optional(
      Type.Array(Type.String(), { description: 'Of variables; never their values.', examples: [['SITE_NAME']] }),
    ),
    requestId: Type.String({
      description:
        'By which the provider’s support finds the request that made it. An embedded provider is asked without one: then of the request to this service that led to it, as in the log.',
      examples: ['A1B2:3C4D:5E6F7'],
    }),
    requests: Type.Array(ProviderRequest, {
      description:
        'Those of the step’s attempts that changed something, and the last of each attempt. Embedded providers have none.',
    }),
    startedAt: Time,
    finishedAt: Type.Optional(Time),
    durationMs: Type.Optional(
      Type.Integer({
        description: 'From the beginning of the first attempt to the end of the last, in milliseconds.',
        examples: [1_840],
      }),
    ),
    attempts: Type.Integer(),
    now: Type.Enum(['exists', 'gone', 'unknown'], { description: 'What the provider says of it now.' }),
    nowReason: Type.Optional(
      Type.String({ description: 'Why it is gone or not known, in words for people.', examples: ['A clean-up removed it.'] }),
    ),
    removedAt: Type.Optional(Type.String({ format: 'date-time', description: 'When a clean-up removed it.' })),
  },
  { $id: 'ProvisioningReceipt', description: 'A remote thing that provisioning made, and whether it is there now.' },
);

type Now = Pick<Static<typeof ProvisioningReceipt>, 'now' | 'nowReason' | 'id'>;

/** For each thing, in milliseconds; all are asked at once. */
const timeoutMs = 5_000;

const exists: Now = { now: 'exists' };
const gone = (nowReason: string): Now => ({ now: 'gone', nowReason });
const unknown = (nowReason: string): Now => ({ now: 'unknown', nowReason });

interface JobToCheck {
  readonly marker: string;
  /** Under one of which they are. */
  readonly names: readonly string[];
  readonly receipts: readonly Receipt[];
}

/**
 * Asks the providers whether the things of a job are there now, all of them at once. What cannot be
 * asked in time is `unknown`, with the reason.
 */
export const createReceiptCheck = (parts: {
  readonly sourceHost: SourceHost;
  readonly hosting: Hosting;
  readonly clock: Clock;
}): ((job: JobToCheck, page: readonly Receipt[]) => Promise<Static<typeof ProvisioningReceipt>[]>) => {
  const { sourceHost, hosting, clock } = parts;

  /** What several things rest on is asked for once. */
  const asker = ({ marker, names, receipts }: JobToCheck): ((receipt: Receipt) => Promise<Now>) => {
    const repository = once(() => firstOf(names, (name) => sourceHost.findRepository({ name, marker })));
    const projectId = receipts.findLast(({ kind, removedAt }) => kind === 'project' && removedAt === undefined)?.id;
    const project = once(() =>
      projectId === undefined ? firstOf(names, (name) => hosting.findProject({ name, marker })) : hosting.readProject(projectId),
    );
    const called = names.join(' or ');
    const collaborators = once(async () => {
      const found = await repository();
      return found === null ? null : sourceHost.listCollaborators(found.id);
    });

    return async ({ kind, id, names: variables = [] }) => {
      switch (kind) {
        case 'repository': {
          const found = await repository();
          return found === null ? gone(`No repository ${called} of this website is there.`) : { ...exists, id: found.id };
        }
        case 'collaborator': {
          const there = await collaborators();
          if (there === null) return gone('Its repository is gone.');
          const isThere = there.some((one) => one.toLowerCase() === id?.toLowerCase());
          return isThere ? exists : gone('They have no access to the repository, nor are they invited.');
        }
        case 'project': {
          const found = await project();
          return found === null ? gone(`No project ${called} of this website is there.`) : { ...exists, id: found.id };
        }
        case 'variables': {
          const found = await project();
          if (found === null) return gone('Their project is gone.');
          const set = await hosting.listVariables(found.id);
          const missing = variables.filter((one) => !set.includes(one));
          return missing.length === 0 ? exists : gone(`Not set: ${missing.join(', ')}.`);
        }
        case 'deployment': {
          if (projectId === undefined) return gone('Its project is gone.');
          const found =
            id === undefined ? await hosting.findDeployment(projectId, marker) : await hosting.readDeployment(projectId, id);
          return found === null ? gone('The hosting provider does not keep it any more.') : { ...exists, id: found.id };
        }
        default:
          return kind satisfies never;
      }
    };
  };

  const check = async (receipt: Receipt, ask: (receipt: Receipt) => Promise<Now>): Promise<Now> => {
    if (receipt.removedAt !== undefined) return gone('A clean-up removed it.');
    const isAtSourceHost = receipt.kind === 'repository' || receipt.kind === 'collaborator';
    const { provider } = isAtSourceHost ? sourceHost : hosting;
    if (receipt.provider !== undefined && receipt.provider !== provider) {
      return unknown(`It was made at ${receipt.provider}, and the service is set up for ${provider} by now.`);
    }
    try {
      const words = isAtSourceHost ? 'The source host' : 'The hosting provider';
      return await within(clock, timeoutMs, words, ask(receipt));
    } catch (error) {
      if (error instanceof ProviderFault) return unknown(error.message);
      throw error;
    }
  };

  return (job, page) => {
    const ask = asker(job);
    return Promise.all(page.map(async (receipt) => ({ ...toReceipt(receipt), ...(await check(receipt, ask)) })));
  };
};

const firstOf = async <Found>(names: readonly string[], find: (name: string) => Promise<Found | null>): Promise<Found | null> => {
  for (const name of names) {
    const found = await find(name);
    if (found !== null) return found;
  }
  return null;
};

const once = <Result>(act: () => Promise<Result>): (() => Promise<Result>) => {
  let asked: Promise<Result> | undefined;
  return () => (asked ??= act());
};

const toReceipt = (receipt: Receipt): Omit<Static<typeof ProvisioningReceipt>, keyof Now> & { id?: string } => {
  const { startedAt, finishedAt, requests, requestId, names, ...thing } = receipt;
  const durationMs = finishedAt === undefined ? undefined : Date.parse(finishedAt) - Date.parse(startedAt);
  return {
    ...thing,
    ...(names !== undefined && { names: [...names] }),
    requestId: makingOf(requests)?.id ?? requestId,
    requests: [...requests],
    startedAt,
    ...(finishedAt !== undefined && { finishedAt }),
    ...(durationMs !== undefined && { durationMs }),
  };
};

/** The request that made it: the last that changed something and succeeded, else the last one. */
const makingOf = (requests: Receipt['requests']): AnsweredRequest | undefined =>
  requests.findLast(({ method, status }) => method !== 'GET' && status < 300) ?? requests.at(-1);
