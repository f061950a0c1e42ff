import type OpenAI from 'openai';
import type { Clock } from '../../platform/clock.js';
import { lazily } from '../../platform/lazily.js';
import type { Logger } from '../../platform/logger.js';
import type { Random } from '../../platform/random.js';
import { ProviderFault } from '../fault.js';
import { createProviderHttp, type ProviderHttp } from '../http.js';
import type { LlmGateway } from './port.js';

const provider = 'LLM gateway';
/** Longer than for other providers, because a model takes time to answer. */
const TIMEOUT_MS = 45_000;

/**
 * Any gateway with OpenAI's chat completions (https://platform.openai.com/docs/api-reference/chat).
 * Only the model and the messages are sent, which every gateway supports.
 * @param parts `baseUrl` includes the version, as in `https://api.openai.com/v1`
 */
export const createOpenAiGateway = (parts: {
  baseUrl: string;
  apiKey: string;
  model: string;
  clock: Clock;
  random: Random;
  logger: Logger;
}): LlmGateway => {
  const { baseUrl, apiKey, model } = parts;
  const send = createProviderHttp({
    provider,
    requestIdHeader: 'x-request-id',
    timeoutMs: TIMEOUT_MS,
    // Several questions share the time of a scan.
    retryTimeouts: false,
    ...parts,
  });
  const load = lazily(() => loadClient({ baseUrl, apiKey, send }));

  return {
    provider,
    ask: async ({ instructions, question }) => {
      const client = await load();
      try {
        const { choices } = await client.chat.completions.create({
          model,
          messages: [
            { role: 'system', content: instructions },
            { role: 'user', content: question },
          ],
        });
        // The client does not validate responses.
        const content = (choices as typeof choices | undefined)?.[0]?.message.content;
        if (typeof content === 'string') return content;
      } catch (error) {
        throw asProviderFault(error);
      }
      throw new ProviderFault({ provider, message: `${provider} answered without a text`, transient: true });
    },
  };
};

/** Loaded with the first question, because most processes never ask one. */
const loadClient = async (parts: { baseUrl: string; apiKey: string; send: ProviderHttp }): Promise<OpenAI> => {
  const { default: Client } = await import('openai');
  return new Client({
    baseURL: parts.baseUrl,
    apiKey: parts.apiKey,
    // Otherwise the client reads these from the environment.
    adminAPIKey: null,
    organization: null,
    project: null,
    webhookSecret: null,
    logLevel: 'off',
    // `createProviderHttp` handles retries and timeouts.
    maxRetries: 0,
    timeout: 10 * TIMEOUT_MS,
    fetch: fetchThrough(parts.send),
  });
};

const fetchThrough =
  (send: ProviderHttp) =>
  async (input: string | URL | Request, { method = 'GET', headers, body }: RequestInit = {}): Promise<Response> => {
    const answer = await send({
      method,
      url: input instanceof Request ? input.url : input.toString(),
      headers: Object.fromEntries(new Headers(headers)),
      ...(typeof body === 'string' && { body }),
      // A repeated question costs another completion and has no other effect.
      retryable: true,
    }).catch((error: unknown) => {
      // The client drops an error with a timeout as its cause.
      throw new Error('no answer', { cause: error });
    });
    return new Response(answer.text, { status: answer.status, headers: answer.headers });
  };

const asProviderFault = (error: unknown): ProviderFault => {
  const { cause, status } = error as { cause?: { cause?: unknown }; status?: unknown };
  if (cause?.cause instanceof ProviderFault) return cause.cause;
  if (typeof status !== 'number') {
    const message = `${provider} answered in a form that is not understood`;
    return new ProviderFault({ provider, message, transient: true, cause: error });
  }
  const message = status === 401 || status === 403 ? 'the API key is not accepted' : `the answer had status ${String(status)}`;
  // The gateway's message may repeat parts of the request, so it is not passed on.
  return new ProviderFault({ provider, message, transient: false });
};
