import { Type } from 'typebox';
import type { Engine } from '../../../engine.js';
import { EventStoreError } from '../../../events/store/eventStore.js';
import type { StoredProjectionStatus } from '../../../projections/runner/status.js';
import { ReadModelStoreUnavailable } from '../../../projections/store/readModelStore.js';
import { createSharedTask } from '../../../platform/sharedTask.js';
import { etagOf } from '../../conditional.js';
import { httpErrors } from '../../errors.js';
import { noWork, type Metrics, type WorkStatus } from '../../metrics.js';
import { createOpenApi } from '../../openapi.js';
import { pageSecurityPolicy } from '../../reply.js';
import { route, type Answer, type Route, type RouteTag } from '../../route.js';
import { docsPage } from './docs.js';
import { checkReadiness, type ReadinessCheck } from './readiness.js';

const systemTag: RouteTag = { name: 'System', description: 'The state of the service; needs no credential.' };

export interface SystemRouteParts {
  readonly engine: Engine;
  readonly projectionStatus: (signal: AbortSignal) => Promise<readonly StoredProjectionStatus[]>;
  readonly workStatus: () => Promise<WorkStatus>;
  readonly checks: readonly ReadinessCheck[];
  readonly metrics: Metrics;
  /** Whether the API's own address leaves out `/metrics`; then its description does as well. */
  readonly metricsOnHealthPort: boolean;
  /** Public base address without a trailing slash. */
  readonly baseUrl: () => string;
  /** Of the service, as in `1.2.3`. */
  readonly version: string;
}

/**
 * Routes that need no credential: how the service is, and what it offers. `routes` are all the
 * others.
 */
export const systemRoutes = (parts: SystemRouteParts, routes: readonly Route[]): readonly Route[] => {
  const { engine, projectionStatus, workStatus, checks, metrics, metricsOnHealthPort, baseUrl, version } = parts;

  // Shared, so that many who ask cost as much as one.
  const readiness = createSharedTask((signal) => checkReadiness(engine, checks, signal));
  const work = createSharedTask(workStatus);

  const own: readonly Route[] = [
    route({
      method: 'get',
      path: '/healthz',
      operationId: 'getHealth',
      summary: 'Whether the process is up',
      description: 'For supervisors: restart the process when this does not answer.',
      tag: systemTag,
      scope: 'installation',
      access: 'public',
      vital: true,
      answers: { 200: { description: 'It is.', schema: Type.Object({ status: Type.Enum(['up']) }) } },
      answer: () => Promise.resolve({ body: { status: 'up' }, headers: uncached }),
    }),

    route({
      method: 'get',
      path: '/readyz',
      operationId: 'getReadiness',
      summary: 'Whether requests can be answered: the stores answer and this process can read the read models',
      description: 'For load balancers: 503 names what is not ready. A read model that lags is a warning.',
      tag: systemTag,
      scope: 'installation',
      access: 'public',
      faults: ['not_ready'],
      vital: true,
      answers: {
        200: {
          description: 'They can. A warning says what an operator should look at, such as a read model that lags.',
          schema: Type.Object({
            status: Type.Enum(['ready']),
            checks: Type.Array(Type.Object({ name: Type.String(), warning: Type.Optional(Type.String()) })),
          }),
        },
      },
      answer: async ({ signal }) => {
        const results = await readiness(signal);
        const problems = results.flatMap(({ name, problem }) => (problem === undefined ? [] : [{ name, problem }]));
        if (problems.length > 0) throw httpErrors.notReady(problems);
        return { body: { status: 'ready', checks: results }, headers: uncached };
      },
    }),

    route({
      method: 'get',
      path: '/metrics',
      operationId: 'getMetrics',
      summary: 'Measurements for Prometheus',
      description: 'Requests, appends, read models, workers and the process itself.',
      tag: systemTag,
      scope: 'installation',
      access: 'public',
      faults: ['not_ready'],
      vital: true,
      hidden: metricsOnHealthPort,
      answers: {
        200: {
          description: "Prometheus' text format.",
          contentType: 'text/plain',
          schema: Type.String({ examples: ['events_appended_total 42\n'] }),
        },
      },
      answer: async ({ signal }) => {
        const [projections, workers] = await Promise.all([
          projectionStatus(signal).catch(whenDown([])),
          work(signal).catch(whenDown(noWork)),
        ]);
        return {
          body: Buffer.from(await metrics.text(projections, workers)),
          headers: { ...uncached, 'content-type': metrics.contentType },
        };
      },
    }),

    route({
      method: 'get',
      path: '/openapi.json',
      operationId: 'getOpenApi',
      summary: 'This document',
      description: 'Made from the schemas that validate requests, so that it says what is checked.',
      tag: systemTag,
      scope: 'installation',
      access: 'public',
      answers: { 200: { description: 'OpenAPI 3.1.', schema: Type.Object({ openapi: Type.String() }) } },
      answer: () => Promise.resolve(documentation().json),
    }),

    route({
      method: 'get',
      path: '/docs',
      operationId: 'getDocs',
      summary: 'The documentation of the API',
      tag: systemTag,
      scope: 'installation',
      access: 'public',
      hidden: true,
      answers: { 200: { description: 'A page.', contentType: 'text/html' } },
      answer: () => Promise.resolve(documentation().page),
    }),
  ];

  let kept: { readonly base: string; readonly json: Answer; readonly page: Answer } | undefined;
  /** As bytes, because making them takes 20 ms and anybody may ask. The base address is known once the service listens. */
  const documentation = (): NonNullable<typeof kept> => {
    const base = baseUrl();
    if (kept?.base !== base) {
      const document = createOpenApi([...routes, ...own], { baseUrl: base, version });
      const path = new URL(base).pathname.replace(/\/$/, '');
      kept = { base, json: tagged(JSON.stringify(document), jsonType), page: tagged(docsPage(document, path), pageType) };
    }
    return kept;
  };
  return own;
};

/** The process is measured even when a store is down. */
const whenDown =
  <Nothing>(nothing: Nothing) =>
  (error: unknown): Nothing => {
    if (error instanceof EventStoreError || error instanceof ReadModelStoreUnavailable) return nothing;
    throw error;
  };

const jsonType = { 'content-type': 'application/json; charset=utf-8' };
const pageType = { 'content-type': 'text/html; charset=utf-8', 'content-security-policy': pageSecurityPolicy };

/** The same answer each time, with the tag that would be computed for each. */
const tagged = (text: string, headers: Readonly<Record<string, string>>): Answer => {
  const body = Buffer.from(text);
  return { body, headers: { ...headers, etag: etagOf(body) } };
};

const uncached = { 'cache-control': 'no-store' };
