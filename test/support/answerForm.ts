import { randomUUID } from 'node:crypto';
import { expect } from '@jest/globals';
import type { Everybody } from './everybody.js';
import type { RawAnswer } from './rawHttp.js';

/**
 * The machine's time is the neighbours' too: what counts is the work. An answer that does not come
 * at all is `sendRaw`'s concern.
 */
const maxCpuMs = 2_000;

export const timed = async (ask: () => Promise<RawAnswer | null>): Promise<RawAnswer | null> => {
  const before = process.cpuUsage();
  const answer = await ask();
  const { user, system } = process.cpuUsage(before);
  expect((user + system) / 1_000).toBeLessThan(maxCpuMs);
  return answer;
};

/** No fault; an error only in the one form there is; as long as it says; nothing for `HEAD`. */
export const checkForm = ({ status, headers, rest }: RawAnswer, method: string): void => {
  expect(status).toBeLessThan(500);
  expect(headers['x-request-id']).toMatch(/^\S+$/);
  if (method === 'HEAD' && rest === '') return;
  const length = headers['content-length'];
  if (length !== undefined) expect(rest).toHaveLength(Number(length));
  if (status < 400) return;
  expect(headers['content-type']).toBe('application/json; charset=utf-8');
  const body = JSON.parse(Buffer.from(rest, 'latin1').toString()) as Readonly<Record<string, unknown>>;
  expect(Object.keys(body).sort()).toStrictEqual(['code', 'details', 'error']);
  expect(typeof body.error).toBe('string');
  expect(body.error).not.toBe('');
  expect(body.code).toMatch(/^[a-z]+(_[a-z]+)*$/);
  // What was no request at all had no method either.
  if (method === 'HEAD') expect(['malformed_request', 'headers_too_large', 'request_timeout']).toContain(body.code);
  expect(typeof body.details).toBe('object');
};

/** What was logged of faults since a line. */
export const errorsSince = ({ api }: Everybody, line: number): unknown[] =>
  api.log.slice(line).filter(({ level }) => level === 'error' || level === 'fatal');

/** Nothing went wrong so far, and the service reads and writes. */
export const expectHealthy = async (everybody: Everybody): Promise<void> => {
  const { api, credentials } = everybody;
  expect(errorsSince(everybody, 0)).toStrictEqual([]);
  for (const path of ['/healthz', '/readyz']) expect([path, (await api.call('GET', path)).status]).toStrictEqual([path, 200]);
  const body = { email: `${randomUUID()}@example.com` };
  const { status } = await api.call('POST', '/clients', { token: credentials.admin.token, body });
  expect(status).toBe(201);
};
