import { Refusal, UsageError } from './command.js';
import { cleanLines } from './output.js';

/** Errors of the SDK by their form: the SDK itself is not loaded to report that nothing was called. */
interface ApiError extends Error {
  readonly status?: number;
  readonly body?: unknown;
  readonly requestId?: string;
  readonly suggestion?: string;
}

const hints: Readonly<Record<number, string>> = {
  401: 'Run "doorstep whoami" to see whose token is used, or "doorstep login" for another.',
};

/** By the code of an error, those of one command before it. */
const hintsByCode: Readonly<Record<string, string>> = {
  delivery_not_set_up: 'To set it up: doorstep delivery set <website> --ready-by <date>',
  website_archived: 'To bring it back: doorstep websites restore <website>',
  website_not_archived: 'To archive it: doorstep websites archive <website>',
  invalid_token: 'Run "doorstep login" for another one, or correct DOORSTEP_TOKEN where that is set.',
  'websites list: admin_required': 'Those that you have access to: doorstep websites list --mine',
};

/** Why a file cannot be read or written, by the code of the system. */
const fileFaults: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file or folder.',
  ENOTDIR: 'a part of this path is no folder.',
  EISDIR: 'this is a folder.',
  EACCES: 'your user may not open this.',
  EPERM: 'your user may not open this.',
  EROFS: 'the file system is read-only.',
  ENOSPC: 'the disk is full.',
};

/** The system's own words name what it was doing, not what to correct. */
const fileFault = ({ code, path }: NodeJS.ErrnoException): string | undefined => {
  const words = fileFaults[code ?? ''];
  return words === undefined || path === undefined ? undefined : `${path}: ${words}`;
};

/** What is printed of an error: the message of the API, and what else there is to do about it. */
const messageOf = (error: unknown, called: string): string[] => {
  if (error instanceof UsageError) {
    const stop = /[.?!]$/.test(error.message) ? '' : '.';
    return [`${error.message}${stop}`, `Run "${['doorstep', called, '--help'].filter(Boolean).join(' ')}" for how it is used.`];
  }
  if (error instanceof Refusal) return [error.message];
  if (!(error instanceof Error)) return [String(error)];
  const fault = fileFault(error);
  if (fault !== undefined) return [fault];
  const { message, status, body, suggestion } = error as ApiError;
  const { details, code = '' } = (body ?? {}) as { details?: unknown; code?: string };
  const others = Array.isArray(details)
    ? details
        .slice(1)
        .map(violation)
        .filter((line) => line !== '')
    : [];
  const near = suggestion === undefined || message.includes(suggestion) ? '' : `. Did you mean ${suggestion}?`;
  const hint = hintsByCode[`${called}: ${code}`] ?? hintsByCode[code] ?? hints[status ?? 0];
  return [`${message}${near}`, ...others, ...(hint === undefined ? [] : [hint])];
};

/** The first violation stands in the message. */
const violation = (detail: unknown): string => {
  const { field, issue } = (detail ?? {}) as { field?: unknown; issue?: unknown };
  return typeof field === 'string' && typeof issue === 'string' ? `  ${field}: ${issue}` : '';
};

/** Prints an error on standard error; where it came from only with DOORSTEP_DEBUG=1. */
export const report = (error: unknown, called: string, environment: NodeJS.ProcessEnv): void => {
  const lines = messageOf(error, called).map(cleanLines).join('\n');
  process.stderr.write(`doorstep: ${lines}\n`);
  if (environment.DOORSTEP_DEBUG !== '1' || !(error instanceof Error)) return;
  const { requestId } = error as ApiError;
  if (requestId !== undefined) process.stderr.write(`request ${requestId}\n`);
  process.stderr.write(`${error.stack ?? ''}\n`);
};
