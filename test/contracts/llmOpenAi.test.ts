import { beforeEach, describe, expect, test } from '@jest/globals';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { ProviderFault } from '../../src/integrations/fault.js';
import { createOpenAiGateway } from '../../src/integrations/llm/openAi.js';
import type { LlmGateway } from '../../src/integrations/llm/port.js';
import { createLogger } from '../../src/platform/logger.js';
import { systemRandom } from '../../src/platform/random.js';
import { hastyClock, startProvider, type Provider, type ProviderAnswer, type ProviderRequest } from '../support/provider.js';

/**
 * The part of a chat completion's request that every gateway takes
 * (https://platform.openai.com/docs/api-reference/chat/create).
 */
const completion = new Ajv2020().compile({
  type: 'object',
  required: ['model', 'messages'],
  additionalProperties: false,
  properties: {
    model: { type: 'string', minLength: 1 },
    messages: {
      type: 'array',
      minItems: 1,
      items: {
        type: 'object',
        required: ['role', 'content'],
        additionalProperties: false,
        properties: { role: { enum: ['system', 'user', 'assistant'] }, content: { type: 'string', minLength: 1 } },
      },
    },
  },
});

const apiKey = 'llm-canary-42';

interface Asked {
  readonly model: string;
  readonly messages: readonly { readonly role: string; readonly content: string }[];
}

/** A model that repeats the question, in capitals. */
const gateway = ({ method, url, headers, body }: ProviderRequest): ProviderAnswer => {
  const refuse = (status: number, message: string): ProviderAnswer => ({
    status,
    body: { error: { message, type: 'error', code: null } },
  });
  if (method !== 'POST' || url.pathname !== '/v1/chat/completions') return refuse(404, 'Unknown request URL');
  if (headers.authorization !== `Bearer ${apiKey}`)
    return refuse(401, `Incorrect API key provided: ${String(headers.authorization)}`);
  const asked = JSON.parse(body) as Asked;
  if (!completion(asked)) return refuse(400, JSON.stringify(completion.errors));
  if (asked.model !== 'small-1') return refuse(404, `The model ${asked.model} does not exist`);
  const content = asked.messages.at(-1)?.content.toUpperCase() ?? '';
  return {
    status: 200,
    body: {
      id: 'chatcmpl-1',
      object: 'chat.completion',
      created: 1_767_225_600,
      model: asked.model,
      choices: [{ index: 0, message: { role: 'assistant', content, refusal: null }, logprobs: null, finish_reason: 'stop' }],
      usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
    },
  };
};

let provider: Provider;
let logged: string[];

const openWith = (changes: { apiKey?: string; model?: string } = {}): LlmGateway => {
  const logger = createLogger({ level: 'trace', destination: { write: (line: string) => void logged.push(line) } });
  const parts = { baseUrl: `${provider.url}/v1`, apiKey, model: 'small-1', ...changes };
  return createOpenAiGateway({ ...parts, clock: hastyClock(100), random: systemRandom, logger });
};

const question = { instructions: 'Be brief.', question: 'Who bakes?' };

const failureOf = async (llm: LlmGateway): Promise<ProviderFault> => {
  try {
    await llm.ask(question);
  } catch (error) {
    if (error instanceof ProviderFault) return error;
    throw error;
  }
  throw new Error('nothing went wrong');
};

beforeEach(async () => {
  provider = await startProvider(gateway);
  logged = [];
});

test('a question is answered by the configured model', async () => {
  expect(await openWith().ask(question)).toBe('WHO BAKES?');
  expect((JSON.parse(provider.requests[0]?.body ?? '') as Asked).messages[0]).toStrictEqual({
    role: 'system',
    content: 'Be brief.',
  });
});

describe('a gateway that', () => {
  test.each([
    ['does not take the key', { apiKey: 'another' }, 'the API key is not accepted'],
    ['does not have the model', { model: 'large-9' }, 'the answer had status 404'],
  ])('%s is a permanent fault, which repeats no secret', async (_, changes, message) => {
    expect(await failureOf(openWith(changes))).toMatchObject({ provider: 'LLM gateway', transient: false, message });
    expect(provider.requests).toHaveLength(1);
  });

  test.each(['broken', 'reset'] as const)('is %s once is asked again', async (kind) => {
    provider.mishaps.push({ kind });
    expect(await openWith().ask(question)).toBe('WHO BAKES?');
    expect(provider.requests).toHaveLength(2);
  });

  test.each(['silent', 'slow'] as const)('is %s is not waited for a second time', async (kind) => {
    provider.mishaps.push({ kind });
    const { transient, message } = await failureOf(openWith());
    expect([transient, message]).toStrictEqual([true, 'LLM gateway did not answer within 45 s']);
    expect(provider.requests).toHaveLength(1);
  });

  test('asks to wait gets no request until then', async () => {
    provider.mishaps.push({ kind: 'limited', retryAfter: '30' });
    const llm = openWith();
    expect(await failureOf(llm)).toMatchObject({ transient: true, retryAfterMs: 30_000 });
    expect(await failureOf(llm)).toMatchObject({ transient: true });
    expect(provider.requests).toHaveLength(1);
  });

  test.each(['garbled', 'strange'] as const)('answers something %s is a transient fault', async (kind) => {
    provider.mishaps.push({ kind });
    expect(await failureOf(openWith())).toMatchObject({ transient: true });
  });

  test('keeps failing is given up after the retries, and the key is in no log', async () => {
    provider.mishaps.push(...Array.from({ length: 3 }, () => ({ kind: 'broken' }) as const));
    expect(await failureOf(openWith())).toMatchObject({ transient: true });
    expect(logged.join('')).toContain('"providerRequestId":"r3"');
    expect(logged.join('')).not.toContain(apiKey);
  });
});
