import { pino, stdSerializers, type Logger as PinoLogger, type DestinationStream } from 'pino';
import { isoTime, systemClock } from './clock.js';
import type { LogLevel } from './settings/settings.js';
import { standardOutput } from './standardOutput.js';

/** Takes a message, or fields and a message; an error goes under `err`. */
export interface LogMethod {
  (message: string): void;
  (fields: Readonly<Record<string, unknown>>, message: string): void;
}

/** Writes one JSON object per line. */
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

/** Of a silent logger: listening to standard output would be in vain. */
const nowhere: DestinationStream = { write: () => undefined };

/** Names of fields that may hold a secret, at any depth. */
const secretFields = new Set([
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
]);

/** Deep enough for a request's headers inside an error's cause. */
const maxDepth = 6;

type Fields = Record<string, unknown>;

/**
 * The same fields without secrets. Objects are copied only when they hold a secret, which hardly
 * any line does; pino's own redaction by wildcards costs more than writing the whole line.
 */
const withoutSecrets = <Value extends object>(value: Value, depth = 0): Value => {
  let copy: Fields | undefined;
  for (const [name, field] of Object.entries(value)) {
    const clean = secretFields.has(name)
      ? removed
      : isWalkable(field, depth)
        ? withoutSecrets(field, depth + 1)
        : (field as unknown);
    if (clean === field) continue;
    copy ??= (Array.isArray(value) ? [...(value as unknown[])] : { ...value }) as Fields;
    copy[name] = clean;
  }
  return (copy as Value | undefined) ?? value;
};

/** Errors have their own serializer; values with `toJSON` (dates, buffers) serialise themselves. */
const isWalkable = (field: unknown, depth: number): field is object =>
  typeof field === 'object' && field !== null && depth < maxDepth && !(field instanceof Error) && !('toJSON' in field);

/**
 * The last line of defence: credentials inside a text, such as an error's message or an address.
 * The first 12 characters of a token stay, because its owner recognises it by them.
 */
const credentials = /svc_pat_\w{5,}|\bBearer [\w.~+/=-]+|\beyJ[\w-]{10,}\.[\w-]+\.[\w-]*/g;

/**
 * Creates a logger that writes one JSON object per line, with ISO 8601 times, levels as words, and
 * no secrets. Default `destination`: standard output.
 */
export const createLogger = (options: { level: LogLevel; destination?: DestinationStream }): Logger =>
  withCleanChildren(
    pino(
      {
        level: options.level,
        timestamp: () => `,"time":"${isoTime(systemClock.now())}"`,
        formatters: { level: (label) => ({ level: label }), log: withoutSecrets },
        serializers: { err: (error: Error) => withoutSecrets(stdSerializers.err(error)) },
        hooks: { streamWrite: (line) => line.replace(credentials, removed) },
      },
      options.destination ?? (options.level === 'silent' ? nowhere : standardOutput()),
    ),
  );

/** Pino serialises a child's fields when the child is created, without calling `formatters`. */
const withCleanChildren = (logger: PinoLogger): Logger =>
  Object.assign(Object.create(logger) as PinoLogger, {
    child: (fields: Fields) => withCleanChildren(logger.child(withoutSecrets(fields))),
  });
