import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { ParkedCount } from '../projections/parkedWork/parkedWork.queries.js';
import type { StoredProjectionStatus } from '../projections/runner/status.js';
import type { Answered } from './accessLog.js';
import type { SenderMetrics } from './senders.js';

/** What there is to measure, for Prometheus. */
export interface Metrics extends SenderMetrics {
  observe(answered: Answered): void;
  /** Counts events that were appended. */
  appended(count: number): void;
  appendFailed(error: unknown): void;
  /** Counts a webhook that was taken, and of a topic that nothing is done about. */
  webhookIgnored(): void;
  /** In Prometheus' text format, with projections and work as they are now. */
  text(projections: readonly StoredProjectionStatus[], work: WorkStatus): Promise<string>;
  readonly contentType: string;
}

/** What the workers do and do not get done, according to the stores. */
export interface WorkStatus {
  readonly workers: readonly { readonly name: string; readonly ms: number }[];
  readonly parked: readonly ParkedCount[];
}

export const noWork: WorkStatus = { workers: [], parked: [] };

/** @param droppedLogLines how many lines of the log were given up so far */
export const createMetrics = (droppedLogLines: () => number = () => 0): Metrics => {
  const registry = new Registry();
  const registers = [registry];
  // Memory, processor time, garbage collection, event loop lag.
  collectDefaultMetrics({ register: registry });

  const requests = new Histogram({
    name: 'http_request_duration_seconds',
    help: 'Time from the head of a request to the end of its answer.',
    labelNames: ['method', 'route', 'status'],
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    registers,
  });
  const connections = new Gauge({
    name: 'http_connections',
    help: 'Open connections to this process.',
    registers,
  });
  const refused = new Counter({
    name: 'sender_limit_refusals_total',
    help: 'Requests, connections and bodies that were refused because their sender had too many (SENDER_LIMIT).',
    labelNames: ['what'],
    registers,
  });
  const appends = new Counter({
    name: 'events_appended_total',
    help: 'Events appended to the event store by this process.',
    registers,
  });
  const failedAppends = new Counter({
    name: 'appends_failed_total',
    help: 'Appends that were refused or whose outcome is unknown, by the kind of fault.',
    labelNames: ['fault'],
    registers,
  });
  const ignoredWebhooks = new Counter({
    name: 'webhooks_ignored_total',
    help: 'Webhooks of topics that nothing is done about: they were verified and answered, and are not in the log.',
    registers,
  });
  new Counter({
    name: 'log_lines_dropped_total',
    help: 'Lines of the log that were dropped, because standard output was not read.',
    registers,
    collect() {
      this.reset();
      this.inc(droppedLogLines());
    },
  });
  const positions = new Gauge({
    name: 'projection_position',
    help: 'Position in the log up to which the read model reflects it.',
    labelNames: ['projection'],
    registers,
  });
  const lags = new Gauge({
    name: 'projection_lag_seconds',
    help: 'Age of the oldest event that the read model does not reflect; 0 when it has caught up.',
    labelNames: ['projection'],
    registers,
  });
  const failures = new Gauge({
    name: 'projection_failed',
    help: '1 while an event that the projection cannot take keeps the read model where it is.',
    labelNames: ['projection'],
    registers,
  });
  const parkedDocuments = new Gauge({
    name: 'projection_parked_documents',
    help: 'Documents that stay as they were, because the store of read models cannot hold them.',
    labelNames: ['projection'],
    registers,
  });
  const workerLags = new Gauge({
    name: 'worker_lag_seconds',
    help: 'Age of the oldest event that the worker has not dealt with, retries and pauses included; 0 when there is none.',
    labelNames: ['worker'],
    registers,
  });
  const parkedWork = new Gauge({
    name: 'work_parked',
    help: 'Mails, webhooks and reactions that a worker has given up until an operator has them tried again.',
    labelNames: ['worker'],
    registers,
  });
  const failingReactions = new Gauge({
    name: 'reactions_failing',
    help: 'Reactions to an event that fail and are retried.',
    labelNames: ['worker'],
    registers,
  });

  return {
    observe: ({ method, route, status, durationMs }) => {
      requests.observe({ method: known.has(method) ? method : 'other', route, status }, durationMs / 1_000);
    },
    connections: (change) => {
      connections.inc(change);
    },
    refused: (what) => {
      refused.inc({ what });
    },
    appended: (count) => {
      appends.inc(count);
    },
    appendFailed: (error) => {
      failedAppends.inc({ fault: error instanceof Error ? error.name : 'unknown' });
    },
    webhookIgnored: () => {
      ignoredWebhooks.inc();
    },
    text: (projections, { workers, parked }) => {
      positions.reset();
      lags.reset();
      failures.reset();
      parkedDocuments.reset();
      for (const { name, lag, failure, parked: documents } of projections) {
        failures.set({ projection: name }, failure === null ? 0 : 1);
        parkedDocuments.set({ projection: name }, documents.length);
        if (lag === null) continue;
        positions.set({ projection: name }, Number(lag.position));
        lags.set({ projection: name }, lag.ms / 1_000);
      }
      workerLags.reset();
      parkedWork.reset();
      failingReactions.reset();
      for (const { name, ms } of workers) {
        workerLags.set({ worker: name }, ms / 1_000);
        parkedWork.set({ worker: name }, 0);
        failingReactions.set({ worker: name }, 0);
      }
      for (const { worker, state, count } of parked) (state === 'parked' ? parkedWork : failingReactions).set({ worker }, count);
      return registry.metrics();
    },
    contentType: registry.contentType,
  };
};

/** Other methods share one label: each new label would stay in memory. */
const known = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);
