import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from '@jest/globals';
import { Refused, refusalKinds, refusals } from '../../src/commands/refusal.js';
import { SenderGone } from '../../src/http/body.js';
import { answerFor, faultAnswers, HttpFault, httpErrors } from '../../src/http/errors.js';
import { faultStatus } from '../../src/http/faults.js';
import { errorCodes } from '../../src/http/refusals.js';
import { EventStoreFull, EventStoreUnavailable, WrongExpectedRevision } from '../../src/events/store/eventStore.js';
import { MethodNotAllowed, ProviderFault, TemplateFault } from '../../src/integrations/fault.js';
import { startApi } from '../support/http.js';
import { probe } from '../support/probeRoutes.js';

const source = fileURLToPath(new URL('../../src', import.meta.url));

/** Every class of errors in the source that may come up while a request is answered. */
const declaredFaults = (): string[] =>
  readdirSync(source, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && !/^(operations|workers)[\\/]/.test(file))
    .flatMap((file) => [
      ...readFileSync(join(source, file), 'utf8').matchAll(
        /export (?:abstract )?class (\w+) extends (?:\w*Error|EventStore\w+)\b/g,
      ),
    ])
    .map(([, name]) => name ?? '');

/** Those that never reach a caller, and why. */
const elsewhere: Readonly<Record<string, string>> = {
  EventStoreError: 'only its kinds are thrown',
  SettingsError: 'stops the start',
  ProjectionFailed: 'stops a projection',
  NotConnected: 'is repeated, or told as one of the faults of the port',
  AppendFault: 'is told as one of the faults of the port',
  DeadlinePassed: 'tells a call that it was given up; whoever made it gets a fault of the port',
  EventStoreInUse: 'ends a script that needs the store alone',
  OtherLog: 'is answered as what it is a kind of, EventStoreUnavailable',
  NotTheVault: 'is answered as what it is a kind of, EventStoreUnavailable',
  AnswerTooSlow: 'is answered as what it is a kind of, EventStoreUnavailable',
  SilenceTimeout: 'ends a subscription, which is begun again',
  DocumentsTooLarge: 'parks documents of a projection',
  BuildFailure: 'becomes a failed deployment',
  ForbiddenAddress: 'becomes the fault of a scan, or is told of a site that is asked whether it answers',
  ContentTooLarge: 'is refused as a draft that cannot be built, or as a publication that failed',
  InvoicePlaceGone: 'is refused as the cursor of a page of invoices',
  UnreadableMedia: 'is refused as what is wrong with the uploaded file',
  UnreadableRepository: 'becomes a permanent fault of the source host or of the deployment',
  [Refused.name]: 'has the refusal as its answer',
  [HttpFault.name]: 'has its answer',
  [MethodNotAllowed.name]: 'is answered with the methods that it names',
  [ProviderFault.name]: 'is answered by what the provider did',
  [TemplateFault.name]: 'is answered as a refusal, as the fault of the template',
  [SenderGone.name]: 'leaves nobody to be answered',
};

describe('the table of errors', () => {
  test('knows every fault of the service', () => {
    const known = [...faultAnswers.keys()].map(({ name }) => name);
    const unknown = declaredFaults().filter((name) => !known.includes(name) && !Object.hasOwn(elsewhere, name));
    expect(unknown).toStrictEqual([]);
    expect(known.length).toBeGreaterThan(10);
  });

  test('has a kind before the class that it is a kind of', () => {
    const kinds = [...faultAnswers.keys()];
    kinds.forEach((kind, index) => {
      for (const earlier of kinds.slice(0, index)) {
        expect(`${kind.name} after ${earlier.name}: ${Object.prototype.isPrototypeOf.call(earlier, kind)}`).toMatch(/false$/);
      }
    });
    expect(answerFor(new EventStoreFull('no room'), 'r').error).toMatch(/^Storage is full/);
  });

  test.each(Object.entries(refusals))('has a status for the refusal %s', (name, refuse) => {
    const refusal = (refuse as (...parts: string[]) => ReturnType<typeof refusals.adminRequired>)('one', 'other');
    const answer = answerFor(new Refused(refusal), 'r');
    expect([400, 401, 403, 404]).toContain(answer.status);
    expect([answer.error, answer.code]).toEqual([refusal.message, refusal.code]);
    expect(refusal.code).toBe(name.replaceAll(/[A-Z]+/g, (letters) => `_${letters.toLowerCase()}`));
  });

  test.each([
    ['a bad body', refusals.invalidBody('name', 'must be string'), 400],
    ['a conflict', refusals.slugTaken(), 400],
    ['a stale write', refusals.stale(), 400],
    ['a stranger', refusals.notAuthorizedForWebsite('w'), 403],
    ['no admin', refusals.adminRequired(), 403],
    ['a viewer', refusals.editorRequired(), 401],
    ['no credential', refusals.missingToken(), 401],
    ['nothing there', refusals.websiteNotFound('w'), 404],
  ] as const)('%s', (_what, refusal, status) => {
    expect(answerFor(new Refused(refusal), 'r').status).toBe(status);
  });

  test('401 says how to authenticate', () => {
    expect(answerFor(new Refused(refusals.invalidToken()), 'r').headers).toStrictEqual({ 'www-authenticate': 'Bearer' });
  });

  test.each([
    [
      'an outage',
      new ProviderFault({ provider: 'github', message: 'down', transient: true }),
      503,
      'github cannot be asked right now',
    ],
    [
      'a time-out',
      new ProviderFault({
        provider: 'github',
        message: 'late',
        transient: true,
        cause: new DOMException('late', 'TimeoutError'),
      }),
      504,
      'github did not answer in time',
    ],
    [
      'a refusal',
      new ProviderFault({ provider: 'github', message: 'The name is taken', transient: false }),
      502,
      'github refused: The name is taken',
    ],
  ])('a provider with %s is named', (_what, fault, status, error) => {
    expect(answerFor(fault, 'r', 'admin')).toMatchObject({ status, error });
  });

  test('what is wrong with a template is no refusal of the provider that keeps it', () => {
    const message = '_content.schema.json of the template "business" is not a JSON Schema with properties';
    const fault = new TemplateFault({ provider: 'github', message, transient: false });
    expect(answerFor(fault, 'r', 'admin')).toMatchObject({ status: 502, error: `A template cannot be used: ${message}` });
    expect(answerFor(fault, 'r', 'client').error).toBe('A template cannot be used. Ask the agency to look into it.');
  });

  test.each(['client', undefined] as const)('a provider’s words are for admins: to %s they are not shown', (role) => {
    const fault = new ProviderFault({ provider: 'github', message: 'The name is taken', transient: false });
    expect(answerFor(fault, 'r', role)).toMatchObject({
      status: 502,
      code: 'provider_refused',
      error: 'github refused. Ask the agency to look into it.',
    });
  });

  test.each([
    [undefined, '1'],
    [2_500, '3'],
    [86_400_000, '3600'],
  ])('a provider that asks to wait %s ms is given way to for %s s', (retryAfterMs, seconds) => {
    const fault = new ProviderFault({
      provider: 'p',
      message: 'm',
      transient: true,
      ...(retryAfterMs !== undefined && { retryAfterMs }),
    });
    expect(answerFor(fault, 'r').headers).toStrictEqual({ 'retry-after': seconds });
  });

  test.each([
    new Error('secret words'),
    new TypeError('undefined is no function'),
    'a text',
    null,
    new WrongExpectedRevision('s', 1n, 2n),
  ])('%s tells nothing but the request id', (thrown) => {
    expect(answerFor(thrown, 'request-7')).toStrictEqual({
      status: 500,
      code: 'internal_error',
      error: 'Internal server error',
      details: { requestId: 'request-7' },
      headers: {},
    });
  });
});

describe('the codes of the OpenAPI document', () => {
  test('are those of all refusals and faults', () => {
    const answers: readonly { readonly code: string }[] = [
      ...faultAnswers.values(),
      ...Object.values(httpErrors).flatMap((make) => {
        const made = (make as (...parts: unknown[]) => Error)([], []);
        return made instanceof HttpFault ? [made.answer] : [];
      }),
      ...[true, false].map((transient) => answerFor(new ProviderFault({ provider: 'p', message: 'm', transient }), 'r')),
    ];
    const known = new Set([...answers.map(({ code }) => code), 'provider_timeout']);
    expect(Object.keys(faultStatus).filter((code) => !known.has(code))).toStrictEqual([]);
    expect(errorCodes).toEqual(expect.arrayContaining([...Object.keys(refusalKinds), ...known]));
  });
});

describe('over HTTP', () => {
  test('500 is logged with its stack, and the answer shows none of it', async () => {
    const api = await startApi({
      routes: () => [probe({ path: '/broken', answer: () => Promise.reject(new Error('inner words')) })],
      projector: false,
    });
    const answer = await api.call('GET', '/broken', { token: await api.mintToken(), headers: { 'x-request-id': 'r-1' } });
    expect(answer.status).toBe(500);
    expect(answer.body).toStrictEqual({ error: 'Internal server error', code: 'internal_error', details: { requestId: 'r-1' } });
    const line = api.log.find(({ msg }) => msg === 'a request failed');
    expect(line).toMatchObject({ level: 'error', requestId: 'r-1', err: { message: 'inner words' } });
    expect(JSON.stringify(line)).toContain('errors.test');
  });

  test('503 says when to come back', async () => {
    const api = await startApi({
      routes: () => [probe({ path: '/down', answer: () => Promise.reject(new EventStoreUnavailable('gone')) })],
      projector: false,
    });
    const answer = await api.call('GET', '/down', { token: await api.mintToken() });
    expect(answer.status).toBe(503);
    expect(answer.headers.get('retry-after')).toBe('1');
    expect(answer.body).toStrictEqual({
      error: 'The event store cannot be reached',
      code: 'event_store_unavailable',
      details: null,
    });
  });

  test('404 Not found, with and without /v1, whoever asks', async () => {
    const api = await startApi({ routes: () => [], projector: false });
    for (const path of ['/nope', '/v1/nope', '/v1', '/v1/v1/nope', '//nope']) {
      const answer = await api.call('GET', path);
      expect([path, answer.status, answer.body]).toStrictEqual([
        path,
        404,
        { error: 'Not found', code: 'not_found', details: null },
      ]);
    }
  });

  test('405 names the methods that there are', async () => {
    const api = await startApi({
      routes: () => [
        probe({ path: '/things' }),
        probe({ method: 'post', path: '/things' }),
        probe({ method: 'put', path: '/thing' }),
      ],
      projector: false,
    });
    const things = await api.call('DELETE', '/things');
    expect(things.status).toBe(405);
    expect(things.body).toStrictEqual({ error: 'Method not allowed', code: 'method_not_allowed', details: null });
    expect(things.headers.get('allow')).toBe('GET, HEAD, OPTIONS, POST');
    expect((await api.call('GET', '/thing')).headers.get('allow')).toBe('OPTIONS, PUT');
  });

  test('its own errors have the words of the specification', () => {
    expect(httpErrors.bodyRequired().message).toBe('Body required');
    expect(httpErrors.invalidJson().message).toBe('Invalid JSON body');
    expect(httpErrors.invalid('path params', [{ field: 'id', issue: 'is wrong' }]).message).toBe(
      'Invalid path params — id: is wrong',
    );
  });
});
