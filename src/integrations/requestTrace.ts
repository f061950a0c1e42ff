import { AsyncLocalStorage } from 'node:async_hooks';

/** A request to a provider that was answered, by which its support finds it. */
export interface TracedRequest {
  readonly provider: string;
  /** The provider's id of the request. */
  readonly id: string;
  readonly method: string;
  readonly path: string;
  readonly status: number;
  /** When it was sent, ISO 8601 UTC. */
  readonly at: string;
  readonly durationMs: number;
}

const traces = new AsyncLocalStorage<TracedRequest[]>();
let underWay = 0;

/**
 * Runs `run`, and adds to `trace` every request to a provider that it leads to and that is answered
 * with an id, in the order of the answers. Of what goes on after `run` has ended nothing is promised.
 */
export const traceRequests = async <Result>(trace: TracedRequest[], run: () => Promise<Result>): Promise<Result> => {
  underWay += 1;
  try {
    return await traces.run(trace, run);
  } finally {
    underWay -= 1;
    // While there is a storage in use, every promise of the process calls a hook, which made a
    // request half as dear again.
    if (underWay === 0) traces.disable();
  }
};

/** Adds a request to the trace that it is part of, if there is one. */
export const noteRequest = (request: TracedRequest): void => {
  traces.getStore()?.push(request);
};
