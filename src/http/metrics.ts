import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { StoredProjectionStatus } from '../projections/runner/status.js';
import type { Answered } from './accessLog.js';
import type { SenderMetrics } from './senders.js';

/** What there is to measure, for Prometheus. */
export interface Metrics extends SenderMetrics {
  observe(answered: Answered): void;
  /** Counts events that were appended. */
  appended(count: number): void;
  appendFailed(error: unknown): void;
  /** In Prometheus' text format, with projections as they are now. */
  text(projections: readonly StoredProjectionStatus[]): Promise<string>;
  readonly contentType: string;
}

export const createMetrics = (): Metrics => {
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
    text: (projections) => {
      positions.reset();
      lags.reset();
      failures.reset();
      for (const { name, lag, failure } of projections) {
        failures.set({ projection: name }, failure === null ? 0 : 1);
        if (lag === null) continue;
        positions.set({ projection: name }, Number(lag.position));
        lags.set({ projection: name }, lag.ms / 1_000);
      }
      return registry.metrics();
    },
    contentType: registry.contentType,
  };
};

/** Other methods share one label: each new label would stay in memory. */
const known = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);
