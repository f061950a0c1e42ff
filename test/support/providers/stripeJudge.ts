import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterAll } from '@jest/globals';
import type { StripeFake } from './stripeFake.js';

const program = fileURLToPath(new URL('../../../.servers/stripe/stripe-mock', import.meta.url));

/** Whether stripe-mock is installed (test/support/stripe/install). CI must have it. */
export const hasStripeJudge = existsSync(program) || process.env.CI === 'true';

/**
 * Checks the fake's requests and responses with stripe-mock, which is generated from Stripe's
 * description: it refuses invalid requests, and its responses have all the fields of the
 * description.
 * @returns the differences
 */
export const judgeStripe = async ({ exchanges, secretKey }: StripeFake): Promise<readonly string[]> => {
  const url = await (judge ??= startJudge());
  const complaints: string[] = [];
  for (const { request, answer } of exchanges) {
    const { method, path, query, body, headers } = request;
    const described = await fetch(`${url}${path}?${String(query)}`, {
      method,
      headers: { authorization: `Bearer ${secretKey}`, 'stripe-version': headers.get('stripe-version') ?? '' },
      // Also when it is empty: the judge wants to know its type.
      ...(method === 'POST' && { body: new URLSearchParams(typeof body === 'string' ? body : '') }),
    });
    const said: unknown = await described.json();
    const name = `${method} ${path}`;
    if (described.status !== 200) complaints.push(`${name} ${String(body)}: ${JSON.stringify(said)}`);
    else if (answer.status === 200) complaints.push(...strangers(answer.body, said, name));
  }
  return complaints;
};

let judge: Promise<string> | undefined;
const stops: (() => Promise<unknown>)[] = [];
afterAll(async () => {
  for (const stop of stops.splice(0)) await stop();
});

const startJudge = async (): Promise<string> => {
  const child = spawn(program, ['-http-addr', '127.0.0.1:0'], { stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = once(child, 'exit');
  stops.push(() => {
    child.kill();
    return ended;
  });
  for await (const line of createInterface({ input: child.stdout })) {
    const address = /^Listening for HTTP at address: (\S+)$/.exec(line)?.[1];
    if (address !== undefined) return `http://${address}`;
  }
  throw new Error('stripe-mock ended instead of starting');
};

type Fields = Readonly<Record<string, unknown>>;
const isFields = (value: unknown): value is Fields => typeof value === 'object' && value !== null && !Array.isArray(value);

/** Fields of `answer` that the description does not have, or has with another type. */
const strangers = (answer: unknown, described: unknown, path: string): string[] => {
  // Null matches any optional field; a deleted object has its own schema.
  if (answer === null || described === null || path.endsWith('.metadata')) return [];
  if (Array.isArray(answer) && Array.isArray(described)) {
    return answer.flatMap((item: unknown) => strangers(item, described[0] ?? null, `${path}[]`));
  }
  if (isFields(answer) && isFields(described)) {
    if (answer.deleted === true) return [];
    return Object.entries(answer).flatMap(([name, value]) =>
      name in described ? strangers(value, described[name], `${path}.${name}`) : [`${path}.${name} is not described`],
    );
  }
  return typeof answer === typeof described ? [] : [`${path} is a ${typeof answer}, described as a ${typeof described}`];
};
