import { pino, stdSerializers, type Logger as PinoLogger, stdTimeFunctions, type DestinationStream } from 'pino';
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
const deepest = 6;

type Fields = Record<string, unknown>;

/**
 * The same fields with secrets taken out. Nothing is copied unless there is something to take out: nearly every line holds no
 * secret, and pino's own redaction by wildcards costs more than the whole of such a line.
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

/** An error is made plain by its serializer first; what says itself how it is written (a date, a buffer) is left to it. */
const isWalkable = (field: unknown, depth: number): field is object =>
  typeof field === 'object' && field !== null && depth < deepest && !(field instanceof Error) && !('toJSON' in field);

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
  withCleanChildren(
    pino(
      {
        level: options.level,
        timestamp: stdTimeFunctions.isoTime,
        formatters: { level: (label) => ({ level: label }), log: withoutSecrets },
        serializers: { err: (error: Error) => withoutSecrets(stdSerializers.err(error)) },
        hooks: { streamWrite: (line) => line.replace(credentials, removed) },
      },
      options.destination ?? standardOutput(),
    ),
  );

/**
 * Standard output, without waiting for it. The lines of one turn of the event loop go out together: handing over each by itself took
 * a tenth of a request. What is left goes out when the process ends.
 */
const standardOutput = (): DestinationStream & { flushSync(): void } => {
  let lines = '';
  const passOn = (): void => {
    if (lines !== '') output.write(lines);
    lines = '';
  };
  // Before pino's own, which writes what it was given.
  process.on('exit', passOn);
  const output = pino.destination({ dest: 1, sync: false });
  return {
    write: (line) => {
      if (lines === '') setImmediate(passOn);
      lines += line;
    },
    // Asked for by pino after a fatal line.
    flushSync: () => {
      passOn();
      output.flushSync();
    },
  };
};

/** pino writes a child's fields down when the child is made, without asking `formatters`. */
const withCleanChildren = (logger: PinoLogger): Logger =>
  Object.assign(Object.create(logger) as PinoLogger, {
    child: (fields: Fields) => withCleanChildren(logger.child(withoutSecrets(fields))),
  });
