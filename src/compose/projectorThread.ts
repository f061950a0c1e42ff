import { Worker } from 'node:worker_threads';
import type { DestinationStream } from 'pino';
import type { Environment } from '../platform/settings/environment.js';

/** What the thread sends: lines of its log, and one message once its read models can be read. */
export type ThreadMessage = { readonly line: string } | { readonly isStarted: true };

/** What the thread gets of the process. */
export interface ThreadOptions {
  /** What the settings of the process were read from. */
  readonly environment: Environment;
  /** Where the lines of its log go. */
  readonly log: DestinationStream;
}

/** A projector, as `Projector` starts and stops. */
export interface ProjectorThread {
  /** Resolves as `started`. */
  start(): Promise<void>;
  stop(): Promise<void>;
  /** Resolves once its read models can be read. */
  readonly started: Promise<void>;
}

/** What it folds is soon gone; more would be memory that never pays. */
const maxYoungGenerationSizeMb = 4;

/**
 * The projector on a thread of its own, so that writing read models takes no time from requests
 * (docs/adr/0042-projector-thread.md). A fault of the thread ends the process.
 * @param program `projectorThread.js`, compiled
 */
export const createProjectorThread = (program: string, { environment, log }: ThreadOptions): ProjectorThread => {
  let resolveStarted = (): void => undefined;
  const started = new Promise<void>((resolve) => {
    resolveStarted = resolve;
  });
  let stop = (): Promise<void> => Promise.resolve();
  return {
    started,
    start: () => {
      const worker = new Worker(program, { workerData: { ...environment }, resourceLimits: { maxYoungGenerationSizeMb } });
      const ended = new Promise<void>((resolve) => {
        worker.once('exit', () => {
          resolve();
        });
      });
      stop = () => {
        worker.postMessage('stop');
        return ended;
      };
      worker.on('message', (message: ThreadMessage) => {
        if ('line' in message) log.write(message.line);
        else resolveStarted();
      });
      return started;
    },
    stop: () => stop(),
  };
};
