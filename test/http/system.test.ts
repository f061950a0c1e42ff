import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { Type } from 'typebox';
import { createOpenApi } from '../../src/http/openapi.js';
import { errorCodesOf, statusOfError } from '../../src/http/refusals.js';
import { dryRunType } from '../../src/http/reply.js';
import { createRoutes } from '../../src/http/routes/index.js';
import type { Route } from '../../src/http/route.js';
import { projections } from '../../src/projections/catalogue.js';
import { createProjector } from '../../src/projections/runner/projector.js';
import { eventually } from '../support/eventually.js';
import { startApi, type RunningApi } from '../support/http.js';
import { probe } from '../support/probeRoutes.js';
import { createShiftedClock } from '../support/shiftedClock.js';

let api: RunningApi;
let routes: readonly Route[] = [];

beforeAll(async () => {
  api = await startApi({
    routes: (parts) => {
      routes = createRoutes(parts);
      return routes;
    },
  });
});

describe('how it is, without a credential', () => {
  test.each(['', '/v1'])('%s/healthz: it is up', async (prefix) => {
    const answer = await api.call('GET', `${prefix}/healthz`);
    expect([answer.status, answer.body]).toStrictEqual([200, { status: 'up' }]);
    expect(answer.headers.get('cache-control')).toBe('no-store');
  });

  test('/readyz: every part is well', async () => {
    const answer = await api.call('GET', '/readyz');
    expect(answer.status).toBe(200);
    expect(answer.body).toMatchObject({ status: 'ready', checks: expect.arrayContaining([{ name: 'event store' }]) as unknown });
  });

  test('/readyz: 503 names what is not, and /healthz and /metrics go on', async () => {
    const broken = await startApi();
    await broken.engine.eventStore.close();
    const answer = await broken.call('GET', '/readyz');
    expect(answer.status).toBe(503);
    expect((answer.body as { error: string }).error).toMatch(/^Not ready: event store: it cannot be asked \(EventStoreClosed\)/);
    expect((await broken.call('GET', '/healthz')).status).toBe(200);
    expect((await broken.call('GET', '/metrics')).status).toBe(200);
    await broken.stop();
  });

  test('/readyz: 503 where no read model was ever made', async () => {
    const fresh = await startApi({ projector: false });
    const needed = projections.find(({ name }) => name === 'website')?.version ?? 0;
    const answer = await fresh.call('GET', '/readyz');
    const words = `no version is published yet, this process reads version ${needed}; a process with the projector role must run`;
    expect(answer.status).toBe(503);
    expect(answer.body).toMatchObject({
      details: expect.arrayContaining([{ name: 'read model website', problem: words }]) as unknown,
    });
    await fresh.stop();
  });

  test('/readyz: 503 in a process that cannot read the live version of a read model', async () => {
    const behind = await startApi();
    await eventually('it is ready', async () => ((await behind.call('GET', '/readyz')).status === 200 ? true : undefined));
    const needed = projections.find(({ name }) => name === 'website')?.version ?? 0;
    const newer = { name: 'website', version: String(needed + 1), indexes: [] };
    await behind.engine.readModels.prepare(newer);
    await behind.engine.readModels.publish(newer);
    const answer = await behind.call('GET', '/readyz');
    const problem = `version ${needed + 1} of a newer build is live, this process reads version ${needed}; upgrade this process`;
    expect([answer.status, (answer.body as { details: unknown }).details]).toStrictEqual([
      503,
      [{ name: 'read model website', problem }],
    ]);
    await behind.stop();
  });

  test('/readyz: a read model that lags or cannot go on is a warning', async () => {
    const made = await startApi();
    await eventually('it is ready', async () => ((await made.call('GET', '/readyz')).status === 200 ? true : undefined));
    await made.stop();
    const { folder } = made;
    const token = await (await startApi({ folder, projector: false })).mintToken();
    const later = createShiftedClock();
    later.shift(60_000);
    const stuck = await startApi({ folder, projector: false, clock: later });
    const { engine } = stuck;
    const warningOf = async (name: string): Promise<readonly [number, string | undefined]> => {
      const { status, body } = await stuck.call('GET', '/readyz');
      const checks = (body as { checks?: { name: string; warning?: string }[] }).checks ?? [];
      return [status, checks.find((check) => check.name === name)?.warning];
    };
    expect(await warningOf('read model apiKey')).toStrictEqual([200, expect.stringMatching(/^6\d s behind$/)]);
    expect((await stuck.call('GET', '/websites/unknown', { token })).status).toBe(404);

    const projector = createProjector({
      ...engine,
      decode: (stored) => engine.codec.decode(stored),
      projections: projections.map((projection) => ({
        ...projection,
        evolve: (...of: Parameters<typeof projection.evolve>) => {
          if (projection.name === 'apiKey') throw new TypeError('cannot take kim@example.com');
          return projection.evolve(...of);
        },
      })),
    });
    await projector.start();
    const failure = /^the apiKey projection failed at position \d+ over APIKeyMinted: TypeError at system\.test\.ts:\d+$/;
    const failed = await eventually('the failure', async () => {
      const [status, warning = ''] = await warningOf('read model apiKey');
      return failure.test(warning) ? status : undefined;
    });
    expect(failed).toBe(200);
    const { text } = await stuck.call('GET', '/metrics');
    expect(text).toMatch(/^projection_failed\{projection="apiKey"\} 1$/m);
    expect(text).toMatch(/^projection_failed\{projection="website"\} 0$/m);
    await projector.stop();
    await stuck.stop();
  });

  test('/readyz and /metrics read nothing of the log, however many ask', async () => {
    const asked: string[] = [];
    const counted = await startApi({
      instrument: (eventStore) => ({
        ...eventStore,
        lastPosition: (filter) => {
          asked.push(filter === undefined ? 'end' : 'end of some');
          return eventStore.lastPosition(filter);
        },
        readAll: (options) => {
          asked.push('read');
          return eventStore.readAll(options);
        },
      }),
    });
    await counted.mintToken();
    const end = String(await counted.engine.eventStore.lastPosition());
    await eventually('every read model is at the end', async () => {
      const { text } = await counted.call('GET', '/metrics');
      const positions = [...text.matchAll(/^projection_position\{.*\} (\d+)$/gm)].map(([, position]) => position);
      return positions.length === projections.length && positions.every((position) => position === end) ? true : undefined;
    });
    asked.length = 0;
    const scrapes = Array.from({ length: 20 }, (_, index) => counted.call('GET', index % 2 === 0 ? '/readyz' : '/metrics'));
    for (const { status } of await Promise.all(scrapes)) expect(status).toBe(200);
    // One question of the status, and one whether the store answers.
    expect(asked.length).toBeLessThanOrEqual(30);
    expect([...new Set(asked)]).toStrictEqual(['end']);
    await counted.stop();
  });

  test('/metrics: requests by route, appends, read models, the process', async () => {
    const token = await api.mintToken();
    await api.call('GET', '/websites/some-id', { token });
    await api.call('PROPFIND', '/nope');
    const { status, headers, text } = await eventually('the read model of the token', async () => {
      const answer = await api.call('GET', '/metrics');
      return /^projection_position\{projection="apiKey"\} [1-9]/m.test(answer.text) ? answer : undefined;
    });
    expect(status).toBe(200);
    expect(headers.get('content-type')).toMatch(/^text\/plain; version=0\.0\.4/);
    expect(text).toMatch(/^http_request_duration_seconds_count\{method="GET",route="\/websites\/:id",status="404"\} 1$/m);
    expect(text).toMatch(/^http_request_duration_seconds_count\{method="other",route="none",status="404"\} 1$/m);
    expect(text).toMatch(/^events_appended_total [1-9]\d*$/m);
    expect(text).toMatch(/^projection_lag_seconds\{projection="website"\} 0$/m);
    expect(text).toContain('nodejs_eventloop_lag_seconds');
    expect(text).not.toContain('some-id');
  });
});

interface Operation {
  readonly operationId: string;
  readonly security?: readonly unknown[];
  readonly 'x-error-codes': Readonly<Record<string, readonly string[]>>;
  readonly parameters: readonly { readonly name?: string; readonly $ref?: string }[];
  readonly requestBody?: { readonly content: { readonly 'application/json': { readonly schema: Record<string, unknown> } } };
  readonly responses: Readonly<Record<string, { readonly headers?: Record<string, unknown>; readonly content?: unknown }>>;
}

interface Document {
  readonly openapi: string;
  readonly servers: readonly { readonly url: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, unknown>> };
}

/** The codes that an operation lists, whatever their status. */
const codesIn = (operation: Operation | undefined): readonly string[] =>
  Object.values(operation?.['x-error-codes'] ?? {})
    .flat()
    .sort();

describe('/openapi.json', () => {
  const document = async (): Promise<Document> => (await api.call('GET', '/openapi.json')).body as Document;

  test('is a sound OpenAPI 3.1 document', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'doorstep-openapi-'));
    try {
      const file = join(folder, 'openapi.json');
      await writeFile(file, (await api.call('GET', '/openapi.json')).text);
      const root = fileURLToPath(new URL('../..', import.meta.url));
      const problems = await new Promise<string>((resolve) => {
        execFile(
          process.execPath,
          [
            join(root, 'node_modules/@redocly/cli/bin/cli.js'),
            'lint',
            '--config',
            join(root, 'redocly.yaml'),
            '--format',
            'json',
            file,
          ],
          { env: { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' } },
          (_error, stdout) => {
            resolve(stdout);
          },
        );
      });
      expect(JSON.parse(problems)).toMatchObject({ totals: { errors: 0, warnings: 0 }, problems: [] });
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  test('has every route, once, and no other', async () => {
    const { openapi, paths, servers } = await document();
    expect(openapi).toBe('3.1.0');
    expect(servers.map(({ url }) => url)).toStrictEqual([`${api.url}/v1`, api.url]);
    const described = Object.entries(paths).flatMap(([path, operations]) =>
      Object.keys(operations).map((method) => `${method} ${path.replaceAll(/\{(\w+)\}/g, ':$1')}`),
    );
    const there = routes.filter(({ hidden }) => hidden !== true).map(({ method, path }) => `${method} ${path}`);
    expect(described.sort()).toStrictEqual([...there].sort());
    expect(new Set(there).size).toBe(there.length);
  });

  test('says of each route what it takes and answers', async () => {
    const { paths } = await document();
    for (const route of routes.filter(({ hidden }) => hidden !== true)) {
      const operation = paths[route.path.replaceAll(/:(\w+)/g, '{$1}')]?.[route.method];
      const statuses = Object.keys(operation?.responses ?? {});
      const names = operation?.parameters.map(({ name, $ref }) => name ?? $ref?.split('/').at(-1)) ?? [];
      const answered = [...Object.keys(route.answers), ...(route.method === 'get' ? [] : ['200'])];
      const errors = [...errorCodesOf(route)].map((code) => String(statusOfError(code)));
      expect(statuses.filter((status) => status !== '304').sort()).toStrictEqual([...new Set([...answered, ...errors])].sort());
      expect(Object.keys(operation?.['x-error-codes'] ?? {}).sort()).toStrictEqual([...new Set(errors)].sort());
      expect(codesIn(operation)).toStrictEqual([...errorCodesOf(route)].sort());
      if (route.access === 'public') expect(operation?.security).toStrictEqual([]);
      else expect(statuses).toContain('401');
      if (route.access !== 'public' && (route.access !== 'signedIn' || route.method !== 'get')) expect(statuses).toContain('403');
      if (route.path.includes(':')) expect(statuses).toContain('404');
      if (route.body !== undefined || route.raw !== undefined) expect(statuses).toContain('413');
      expect([route.operationId, operation?.requestBody !== undefined]).toStrictEqual([
        route.operationId,
        route.body !== undefined || route.raw !== undefined,
      ]);
      expect([route.operationId, names.includes('DryRun')]).toStrictEqual([route.operationId, route.method !== 'get']);
      // A key belongs to a caller, and nobody is asked who they are on a public route.
      const takesKey = route.method !== 'get' && route.access !== 'public';
      expect([route.operationId, names.includes('IdempotencyKey')]).toStrictEqual([route.operationId, takesKey]);
      expect([route.operationId, names.includes('IfMatch')]).toStrictEqual([route.operationId, route.ifMatch === 'honoured']);
      for (const name of Object.keys(route.query?.properties ?? {})) expect(names).toContain(name);
    }
  });

  test('says that unknown fields are refused, and where lists and numbers end', async () => {
    const { paths, components } = await document();
    const { schema } = paths['/websites']?.post?.requestBody?.content['application/json'] ?? {};
    expect(schema).toStrictEqual({ $ref: '#/components/schemas/CreateWebsiteRequest' });
    expect(components.schemas.CreateWebsiteRequest).toMatchObject({ additionalProperties: false, required: ['name', 'slug'] });
    expect(JSON.stringify(paths)).not.toContain('x-issue');
  });

  test('gives dry runs a media type of their own, so that a plain 200 has one schema', async () => {
    const { paths } = await document();
    const put = paths['/websites/{id}/delivery']?.put?.responses['200'];
    expect(put?.content).toMatchObject({
      'application/json': { schema: { $ref: '#/components/schemas/DeliveryBlock' } },
      'application/vnd.doorstep.dry-run+json': { schema: { $ref: '#/components/schemas/DryRun' } },
    });
    const writes = Object.values(paths).flatMap((operations) =>
      Object.entries(operations).filter(([method]) => method !== 'get'),
    );
    for (const [, { operationId, responses }] of writes) {
      const types = Object.keys(responses['200']?.content ?? {});
      expect([operationId, types]).toStrictEqual([operationId, expect.arrayContaining([dryRunType])]);
    }
  });

  test('two schemas of one name are a mistake', () => {
    const answering = (path: string, schema: Route['answers'][number]['schema']): Route =>
      probe({ path, answers: { 200: { description: 'It.', ...(schema !== undefined && { schema }) } } });
    const parts = { baseUrl: 'http://localhost', version: '1.0.0' };
    const one = Type.Object({ a: Type.String() }, { $id: 'Thing' });
    const other = Type.Object({ b: Type.String() }, { $id: 'Thing' });
    expect(() => createOpenApi([answering('/a', one), answering('/b', Type.Array(one))], parts)).not.toThrow();
    expect(() => createOpenApi([answering('/a', one), answering('/b', other)], parts)).toThrow(
      'two different schemas are named Thing',
    );
  });
});

describe('/docs', () => {
  test('is one page without scripts that shows every operation and every schema', async () => {
    const page = await api.call('GET', '/docs');
    expect(page.status).toBe(200);
    expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8');
    const policy = page.headers.get('content-security-policy') ?? '';
    expect(policy).toContain("default-src 'none'");
    expect(policy).not.toContain('script-src');
    expect(page.text).not.toMatch(/<script|src=/);
    expect([...page.text.matchAll(/<link [^>]*href="([^"]*)"/g)].map(([, address]) => address)).toStrictEqual(['data:,']);
    const document = (await api.call('GET', '/openapi.json')).body as Document;
    const ids = Object.values(document.paths).flatMap((path) => Object.values(path).map(({ operationId }) => operationId));
    for (const id of ids) expect(page.text).toContain(`<h3 id="${id}">`);
    for (const name of Object.keys(document.components.schemas)) expect(page.text).toContain(`<h3 id="schema-${name}">`);
    const anchors = new Set([...page.text.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id));
    expect([...page.text.matchAll(/href="#([^"]+)"/g)].filter(([, id]) => !anchors.has(id))).toStrictEqual([]);
  });

  test.each(['/docs', '/openapi.json'])('%s is not sent again to who has it', async (path) => {
    const headers = { 'if-none-match': (await api.call('GET', path)).headers.get('etag') ?? '' };
    expect((await api.call('GET', path, { headers })).status).toBe(304);
  });

  test('stays small', async () => {
    const { body, headers } = await fetch(`${api.url}/docs`, { headers: { 'accept-encoding': 'identity' } });
    expect(headers.get('content-encoding')).toBeNull();
    let bytes = 0;
    for await (const chunk of body ?? []) bytes += (chunk as Uint8Array).length;
    expect(bytes).toBeLessThan(600_000);
  });
});
