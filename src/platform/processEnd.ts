import type { Clock } from './clock.js';
import type { Logger } from './logger.js';

/** Longer than everything that is under way may take (10 s). */
const STOP_TIMEOUT_MS = 15_000;

/**
 * Ends the process: on SIGTERM and SIGINT with code 0 once `stop` resolves; with code 1 when that takes longer
 * than 15 s or fails, at once on a second signal, and after an error that nobody caught. Each reason is
 * logged, and what was logged is written before.
 * @param parts `flushed` resolves when everything is written, or after a time
 */
export const endOnSignals = (parts: {
  process: {
    on(event: NodeJS.Signals, listener: (signal: NodeJS.Signals) => void): unknown;
    on(event: 'uncaughtException', listener: (error: unknown) => void): unknown;
    exit(code: number): void;
  };
  clock: Clock;
  logger: Logger;
  flushed: () => Promise<void>;
  stop: () => Promise<void>;
}): void => {
  const { process, clock, logger, flushed, stop } = parts;
  let isStopping = false;

  const end = (code: number): void => {
    void flushed().then(() => {
      process.exit(code);
    });
  };

  const onSignal = (signal: NodeJS.Signals): void => {
    if (isStopping) {
      logger.warn({ signal }, 'a second signal ends the service at once');
      end(1);
      return;
    }
    isStopping = true;
    logger.info({ signal }, 'stopping');
    const stopAtDeadline = (): void => {
      logger.error({ timeoutMs: STOP_TIMEOUT_MS }, 'the service did not stop in time');
      end(1);
    };
    clock.schedule(STOP_TIMEOUT_MS, stopAtDeadline, { keepAlive: true });
    stop().then(
      () => {
        end(0);
      },
      (error: unknown) => {
        logger.error({ err: error }, 'the service did not stop cleanly');
        end(1);
      },
    );
  };

  process.on('SIGTERM', onSignal);
  process.on('SIGINT', onSignal);
  // A rejection that nobody handles comes here too. What it leaves is unknown, so nothing goes on.
  process.on('uncaughtException', (error) => {
    logger.fatal({ err: error }, 'an error that nobody caught ends the service');
    end(1);
  });
};
