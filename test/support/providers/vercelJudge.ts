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
import { GetProjectDomainsResponseBody$inboundSchema } from '@vercel/sdk/models/getprojectdomainsop.js';
import type { FakeAnswer, FakeRequest } from './wire.js';

/** What the validators of Vercel's own client have to be for us: zod's, whichever version it brings. */
interface Validator {
  safeParse(value: unknown): { success: boolean; error?: { message: string } };
}

interface Operation {
  readonly method: string;
  readonly pattern: RegExp;
  readonly query: readonly string[];
  readonly body?: Validator;
  /** Of 2xx; null: without a body. */
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
/** Holds requests and answers against the validators that Vercel's SDK is generated with from Vercel's description. */
export const createVercelJudge = (): {
  /** @throws when there is no such operation, or the query or the body is not as described */
  request(request: FakeRequest): void;
  /** @throws when the client would not understand the answer */
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
