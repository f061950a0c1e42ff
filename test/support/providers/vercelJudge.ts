import {
  AddProjectDomainRequestBody$outboundSchema,
  AddProjectDomainResponseBody$inboundSchema,
} from '@vercel/sdk/models/addprojectdomainop.js';
import { CreateProjectRequestBody$outboundSchema } from '@vercel/sdk/models/createprojectcontenthint2.js';
import { CreateProjectResponseBody$inboundSchema } from '@vercel/sdk/models/createprojectresponsebody.js';
import { GetProjectResponseBody$inboundSchema } from '@vercel/sdk/models/getprojectresponsebody.js';
import { CreateDeploymentRequestBody$outboundSchema } from '@vercel/sdk/models/responsebodyimages.js';
import { CreateDeploymentResponseBody$inboundSchema } from '@vercel/sdk/models/createdeploymentresponsebody.js';
import { GetDeploymentResponseBody$inboundSchema } from '@vercel/sdk/models/getdeploymentresponsebody.js';
import { GetDeploymentsResponseBody$inboundSchema } from '@vercel/sdk/models/getdeploymentsop.js';
import {
  CreateProjectEnvRequestBody$outboundSchema,
  CreateProjectEnvResponseBody$inboundSchema,
} from '@vercel/sdk/models/createprojectenvop.js';
import { FilterProjectEnvsResponseBody$inboundSchema } from '@vercel/sdk/models/filterprojectenvsop.js';
import { GetDomainConfigResponseBody$inboundSchema } from '@vercel/sdk/models/getdomainconfigop.js';
import { GetProjectDomainResponseBody$inboundSchema } from '@vercel/sdk/models/getprojectdomainop.js';
import { RemoveProjectDomainResponseBody$inboundSchema } from '@vercel/sdk/models/removeprojectdomainop.js';
import { VerifyProjectDomainResponseBody$inboundSchema } from '@vercel/sdk/models/verifyprojectdomainop.js';
import { GetProjectDomainsResponseBody$inboundSchema } from '@vercel/sdk/models/getprojectdomainsop.js';
import type { FakeAnswer, FakeRequest } from './wire.js';

/** The used part of the validators of Vercel's client: zod's, in any version. */
interface Validator {
  safeParse(value: unknown): { success: boolean; error?: { message: string } };
}

interface Operation {
  readonly method: string;
  readonly pattern: RegExp;
  readonly query: readonly string[];
  readonly body?: Validator;
  /** For 2xx; null: without a body. */
  readonly answer: Validator | null;
}

const team = ['teamId', 'slug'];

const operations: readonly Operation[] = [
  {
    method: 'POST',
    pattern: /^\/v11\/projects$/,
    query: team,
    body: CreateProjectRequestBody$outboundSchema,
    answer: CreateProjectResponseBody$inboundSchema,
  },
  {
    method: 'GET',
    pattern: /^\/v9\/projects\/[^/]+$/,
    query: team,
    answer: GetProjectResponseBody$inboundSchema,
  },
  { method: 'DELETE', pattern: /^\/v9\/projects\/[^/]+$/, query: team, answer: null },
  { method: 'POST', pattern: /^\/v1\/projects\/[^/]+\/(?:un)?pause$/, query: team, answer: null },
  {
    method: 'GET',
    pattern: /^\/v10\/projects\/[^/]+\/env$/,
    query: team,
    answer: FilterProjectEnvsResponseBody$inboundSchema,
  },
  {
    method: 'POST',
    pattern: /^\/v10\/projects\/[^/]+\/env$/,
    query: ['upsert', ...team],
    body: CreateProjectEnvRequestBody$outboundSchema,
    answer: CreateProjectEnvResponseBody$inboundSchema,
  },
  {
    method: 'GET',
    pattern: /^\/v9\/projects\/[^/]+\/domains$/,
    query: team,
    answer: GetProjectDomainsResponseBody$inboundSchema,
  },
  {
    method: 'POST',
    pattern: /^\/v10\/projects\/[^/]+\/domains$/,
    query: team,
    body: AddProjectDomainRequestBody$outboundSchema,
    answer: AddProjectDomainResponseBody$inboundSchema,
  },
  {
    method: 'GET',
    pattern: /^\/v9\/projects\/[^/]+\/domains\/[^/]+$/,
    query: team,
    answer: GetProjectDomainResponseBody$inboundSchema,
  },
  {
    method: 'DELETE',
    pattern: /^\/v9\/projects\/[^/]+\/domains\/[^/]+$/,
    query: team,
    answer: RemoveProjectDomainResponseBody$inboundSchema,
  },
  {
    method: 'POST',
    pattern: /^\/v9\/projects\/[^/]+\/domains\/[^/]+\/verify$/,
    query: team,
    answer: VerifyProjectDomainResponseBody$inboundSchema,
  },
  {
    method: 'GET',
    pattern: /^\/v6\/domains\/[^/]+\/config$/,
    query: ['projectIdOrName', 'strict', ...team],
    answer: GetDomainConfigResponseBody$inboundSchema,
  },
  {
    method: 'GET',
    pattern: /^\/v7\/deployments$/,
    query: ['projectId', 'limit', 'until', 'state', 'target', ...team],
    answer: GetDeploymentsResponseBody$inboundSchema,
  },
  {
    method: 'POST',
    pattern: /^\/v13\/deployments$/,
    query: ['forceNew', 'skipAutoDetectionConfirmation', ...team],
    body: CreateDeploymentRequestBody$outboundSchema,
    answer: CreateDeploymentResponseBody$inboundSchema,
  },
  {
    method: 'GET',
    pattern: /^\/v13\/deployments\/[^/]+$/,
    query: team,
    answer: GetDeploymentResponseBody$inboundSchema,
  },
];
/**
 * Checks requests and responses with the validators of Vercel's SDK, which are generated from
 * Vercel's description.
 */
export const createVercelJudge = (): {
  /** @throws when the operation does not exist, or the query or the body does not match */
  request(request: FakeRequest): void;
  /** @throws when the client could not parse the response */
  answer(request: FakeRequest, answer: FakeAnswer): void;
} => {
  const operationFor = ({ method, path }: FakeRequest): Operation => {
    const found = operations.find((operation) => operation.method === method && operation.pattern.test(path));
    if (found === undefined) throw new Error(`the client has no ${method} ${path}`);
    return found;
  };
  const check = (what: string, validator: Validator, value: unknown): void => {
    const { success, error } = validator.safeParse(value);
    if (!success) throw new Error(`${what} is not as described: ${error?.message ?? ''}`);
  };
  return {
    request: (request) => {
      const { query, body } = operationFor(request);
      const named = `${request.method} ${request.path}`;
      const unknown = [...request.query.keys()].find((name) => !query.includes(name));
      if (unknown !== undefined) throw new Error(`${named} has no parameter ${unknown}`);
      if ((request.body === undefined) !== (body === undefined)) throw new Error(`${named}: a body too many or too few`);
      if (body !== undefined) check(`the body of ${named}`, body, request.body);
    },
    answer: (request, { status, body }) => {
      const { answer } = operationFor(request);
      const named = `the answer ${status} to ${request.method} ${request.path}`;
      if (status >= 400) return;
      if (answer !== null) check(named, answer, body);
      else if (body !== undefined) throw new Error(`${named} has no body`);
    },
  };
};
