import { beforeAll, expect, test } from '@jest/globals';
import { startEverybody, type Everybody, type Person } from '../support/everybody.js';
import { sendExamples, type ApiDocument } from '../support/examples.js';
import type { ApiAnswer } from '../support/http.js';

/**
 * An answer that is kept for its `Idempotency-Key` shows nothing of somebody who was erased since:
 * of every write of the API, of the refusals that name people too, and whoever asked.
 */

interface Kept {
  readonly operationId: string;
  readonly answer: ApiAnswer;
  readonly again: () => Promise<ApiAnswer>;
}

let everybody: Everybody;
const kept: Kept[] = [];

beforeAll(async () => {
  everybody = await startEverybody();
});

const tokenOf = (person: Person): string => everybody.credentials[person].token;

const call = (method: string, path: string, body?: unknown, token = tokenOf('admin'), key?: string): Promise<ApiAnswer> =>
  everybody.api.call(method, path, {
    token,
    ...(body !== undefined && { body }),
    ...(key !== undefined && { headers: { 'idempotency-key': key } }),
  });

const keep = async (
  operationId: string,
  ...asked: [method: string, path: string, body?: unknown, token?: string]
): Promise<ApiAnswer> => {
  const [method, path, body, token] = asked;
  const key = `kept-${String(kept.length)}`;
  const again = (): Promise<ApiAnswer> => call(method, path, body, token, key);
  const answer = await again();
  kept.push({ operationId, answer, again });
  return answer;
};

/** Saves of everybody who may, as everybody is told of them: by a save of the same, and by one over another version. */
const saveAs = async (collection: string, noun: string): Promise<void> => {
  const path = `/websites/${everybody.websiteId}/${collection}/kept`;
  const email = 'editor@example.com';
  // Of one the subject is an address, too.
  const addressed = await everybody.api.mintToken({ role: 'client', subject: email, verifiedEmail: email });
  for (const [index, saver] of [tokenOf('owner'), tokenOf('editor'), addressed, tokenOf('admin')].entries()) {
    const { hash = null } = (await call('GET', path)).body as { hash?: string };
    const body = { at: index };
    const { hash: baseHash } = (await keep(`save${noun}`, 'PUT', path, { baseHash: hash, body }, saver)).body as { hash: string };
    for (const reader of [tokenOf('admin'), tokenOf('owner')]) {
      await keep(`save${noun}`, 'PUT', path, { baseHash, body }, reader);
      await keep(`save${noun}`, 'PUT', path, { baseHash: 'another', body: { other: index } }, reader);
      await keep(`restore${noun}`, 'POST', `${path}/restore`, { hash: baseHash, baseHash }, reader);
      await keep(`restore${noun}`, 'POST', `${path}/restore`, { hash: baseHash, baseHash: 'another' }, reader);
    }
  }
};

const addressForm = /[\w.+-]+@[\w-]+(?:\.[\w-]+)+/g;
const notPeople = /^admin@/;

/** Every name that stands beside an address. */
const namesIn = (value: unknown): readonly string[] => {
  if (typeof value !== 'object' || value === null) return [];
  const { email, name } = value as { readonly email?: unknown; readonly name?: unknown };
  const own = typeof email === 'string' && typeof name === 'string' ? [name] : [];
  return [...own, ...Object.values(value).flatMap(namesIn)];
};

const matching = (texts: readonly string[], people: ReadonlySet<string>): readonly string[] =>
  texts.filter((text) => [...people].some((shown) => text.includes(shown)));

test('nothing of an erased person is in an answer that is given again, or is kept to be', async () => {
  const { api, clientIds } = everybody;
  await call('PATCH', `/clients/${clientIds.owner}`, { name: 'Olga Quintessa' });
  await call('PATCH', `/clients/${clientIds.editor}`, { name: 'Edda Quintessa' });
  await saveAs('content', 'Content');
  await saveAs('marketing', 'Marketing');
  const invoices = `/websites/${everybody.websiteId}/billing/invoices`;
  const description = 'For Olga Quintessa, as agreed';
  const invoice = { total: 100, currency: 'eur', description };
  for (const [settle, operationId] of [
    ['pay', 'payInvoice'],
    ['void', 'voidInvoice'],
  ] as const) {
    const { id } = (await keep('addInvoice', 'POST', invoices, invoice)).body as { id: string };
    await keep(operationId, 'POST', `${invoices}/${id}/${settle}`);
  }
  await keep('claimInvitation', 'POST', `/invitations/${everybody.invitationId}/claim`, undefined, tokenOf('stranger'));

  const document = (await api.call('GET', '/openapi.json')).body as ApiDocument;
  const headersOf = (operationId: string) => ({ 'idempotency-key': `example-${operationId}` });
  for await (const { operation, method, answer, again } of sendExamples(everybody, document, headersOf)) {
    if (method !== 'get') kept.push({ operationId: operation.operationId, answer, again });
  }

  const texts = kept.map(({ answer: { text } }) => text);
  const addresses = new Set(texts.flatMap((text) => text.match(addressForm) ?? []).filter((one) => !notPeople.test(one)));
  const names = kept.flatMap(({ answer: { body } }) => namesIn(body));
  const people = new Set([...addresses, ...names, 'Quintessa']);
  const naming = new Set(
    kept.filter(({ answer: { text } }) => matching([text], people).length > 0).map(({ operationId }) => operationId),
  );
  // A write that shows people is tried here: one that is new in this list has to be made to.
  expect([...naming].sort()).toEqual([
    'addClient',
    'addInvoice',
    'changeClient',
    'changeClientRole',
    'claimInvitation',
    'createClient',
    'offerTransfer',
    'payInvoice',
    'resendInvitation',
    'restoreClient',
    'restoreContent',
    'restoreMarketing',
    'saveContent',
    'saveMarketing',
    'voidInvoice',
  ]);

  for (const email of addresses) {
    const [known] = (await call('GET', `/clients?email=${encodeURIComponent(email)}`)).body as readonly { readonly id: string }[];
    const { id } = known ?? ((await call('POST', '/clients', { email })).body as { id: string });
    expect([email, (await call('DELETE', `/clients/${id}`)).status]).toEqual([email, 204]);
  }

  const given: string[] = [];
  for (const { operationId, answer, again } of kept) {
    const { status, headers, text } = await again();
    // Who was erased is nobody any more.
    if (status === 401) continue;
    expect([operationId, status, headers.get('idempotent-replayed')]).toEqual([operationId, answer.status, 'true']);
    given.push(text);
  }
  expect(matching(given, people)).toEqual([]);

  const stored: string[] = [];
  const { vault, personal, readModels } = api.engine;
  const cipher = vault.cipher('doorstep kept answers');
  for await (const { collection, key, value } of readModels.records.entries()) {
    if (collection !== 'idempotency' || typeof value.reply !== 'string') continue;
    const { body } = JSON.parse((await cipher.decrypt(value.reply, key)).toString()) as { body: string | null };
    const text = Buffer.from(body ?? '', 'base64').toString();
    const encrypted = text.match(/encrypted:\w+:[\w-]+/g) ?? [];
    stored.push(text, ...(await Promise.all(encrypted.map((one) => personal.display(one)))));
  }
  expect(stored.length).toBeGreaterThan(kept.length);
  expect(matching(stored, people)).toEqual([]);
}, 120_000);
