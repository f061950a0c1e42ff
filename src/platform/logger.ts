import { pino, stdTimeFunctions, type DestinationStream } from 'pino';
import type { LogLevel } from './settings.js';

/** Words, or fields and words; an error goes under `err`. */
export interface LogMethod {
  (message: string): void;
  (fields: Readonly<Record<string, unknown>>, message: string): void;
}

/** What the parts of the service log with: one JSON object a line. */
export interface Logger {
  readonly trace: LogMethod;
  readonly debug: LogMethod;
  readonly info: LogMethod;
  readonly warn: LogMethod;
  readonly error: LogMethod;
  readonly fatal: LogMethod;
  /** A logger that adds `fields` to every line. */
  child(fields: Readonly<Record<string, unknown>>): Logger;
}

const removed = '[removed]';

/** Fields that may hold a secret, whatever object they sit in. */
const secretFields = [
  'authorization',
  'proxy-authorization',
  'cookie',
  'set-cookie',
  'token',
  'accessToken',
  'access_token',
  'refresh_token',
  'id_token',
  'secret',
  'secrets',
  'client_secret',
  'clientSecret',
  'password',
  'apiKey',
  'encryptionKey',
];

/** Deep enough for a request's headers inside an error's cause. */
const depths = ['', '*.', '*.*.', '*.*.*.'];

/**
 * The last line of defence: credentials that stand in the middle of a text, such as an error's message or an address. The first
 * 12 characters of a token may be shown: that is how its owner recognises it.
 */
const credentials = /svc_pat_\w{5,}|\bBearer [\w.~+/=-]+|\beyJ[\w-]{10,}\.[\w-]+\.[\w-]*/g;

/**
 * A logger that writes a JSON object a line, with ISO 8601 times, levels as words, and no secrets.
 * `destination` is standard output when absent.
 */
export const createLogger = (options: { level: LogLevel; destination?: DestinationStream }): Logger =>
  pino(
    {
      level: options.level,
      timestamp: stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      redact: { paths: depths.flatMap((depth) => secretFields.map((field) => pathTo(depth, field))), censor: removed },
      hooks: { streamWrite: (line) => line.replace(credentials, removed) },
    },
    options.destination ?? pino.destination(1),
  );

const pathTo = (depth: string, field: string): string =>
  /^\w+$/.test(field) ? `${depth}${field}` : `${depth.slice(0, -1)}["${field}"]`;
