import { createLogger, type Logger } from '../../src/platform/logger.js';

/** A logger as the service has it, and the lines that it wrote. */
export const collectLogs = (): { readonly logger: Logger; readonly lines: () => readonly string[] } => {
  const written: string[] = [];
  return {
    logger: createLogger({ level: 'trace', destination: { write: (line: string) => void written.push(line) } }),
    lines: () => written,
  };
};
