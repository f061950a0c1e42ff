import { fstatSync, write, writeSync } from 'node:fs';
import type { DestinationStream } from 'pino';
import { sleep, type Clock } from './clock.js';

/** Standard output as the log goes there: a reader that is slow, or gone, holds nobody up. */
export interface StandardOutput extends DestinationStream {
  /** Lines that were given up so far, because nobody read the ones before them. */
  droppedLines(): number;
  /** Calls `listener` whenever what had to wait has been read, if lines were dropped meanwhile. */
  onDropped(listener: (count: number) => void): void;
  /** Resolves when everything is written, or after a second. */
  flushed(clock: Clock): Promise<void>;
  /** Pino calls this after a fatal line. */
  flushSync(): void;
}

/** Characters that wait to be read, beyond what the pipe holds: some thousand lines. */
const maxUnread = 1_048_576;
const flushTimeoutMs = 1_000;

/** What lines are written to. */
interface Sink {
  write(lines: string): void;
  /** Characters or bytes that were given to it and are not written. */
  waiting(): number;
  /** Calls back when they are. */
  whenWritten(done: () => void): void;
  flushSync(): void;
}

let ofProcess: StandardOutput | undefined;

/**
 * The one of this process. The lines of one turn of the event loop are written together, because
 * writing each by itself took a tenth of a request's time. The rest is written when the process
 * ends, as far as it can be without waiting.
 */
export const standardOutput = (): StandardOutput => (ofProcess ??= createStandardOutput());

const createStandardOutput = (): StandardOutput => {
  let lines = '';
  let dropped = 0;
  let reported = 0;
  let isBroken = false;
  const listeners: ((count: number) => void)[] = [];

  const flush = (): void => {
    const text = lines;
    lines = '';
    if (text !== '') sink.write(text);
  };
  const reportDropped = (): void => {
    const count = dropped - reported;
    if (count === 0 || isBroken) return;
    reported = dropped;
    for (const listener of listeners) listener(count);
  };
  const flushSync = (): void => {
    flush();
    sink.flushSync();
  };
  process.on('exit', flushSync);
  const sink = (isPipe() ? toPipe : toFile)({
    drained: reportDropped,
    broken: () => {
      isBroken = true;
    },
  });

  return {
    write: (line) => {
      if (isBroken || lines.length + sink.waiting() + line.length > maxUnread) {
        dropped += 1;
        return;
      }
      if (lines === '') setImmediate(flush);
      lines += line;
    },
    droppedLines: () => dropped,
    onDropped: (listener) => {
      listeners.push(listener);
    },
    flushed: async (clock) => {
      flush();
      const written = new AbortController();
      sink.whenWritten(() => {
        written.abort();
      });
      await sleep(clock, flushTimeoutMs, written.signal);
    },
    flushSync,
  };
};

const isPipe = (): boolean => {
  const file = fstatSync(1);
  return file.isFIFO() || file.isSocket();
};

interface Events {
  /** Nothing waits any more. */
  readonly drained: () => void;
  /** Nobody will ever read. */
  readonly broken: () => void;
}

/**
 * Node writes to pipes without blocking: what does not fit waits in this process. A write by a
 * thread, as pino's own destination makes, blocks when nobody reads, and at the end Node waits for
 * its threads.
 */
const toPipe = ({ drained, broken }: Events): Sink => {
  const { stdout } = process;
  stdout.on('drain', drained).on('error', broken);
  return {
    write: (lines) => {
      stdout.write(lines);
    },
    waiting: () => stdout.writableLength,
    whenWritten: (done) => {
      stdout.write('', done);
    },
    // What the pipe takes was written at once; for the rest nothing may wait.
    flushSync: () => undefined,
  };
};

/** A file or a terminal is written to by a thread, so that a slow disk holds no request up. */
const toFile = ({ drained }: Events): Sink => {
  let text = '';
  let rest: Uint8Array = new Uint8Array();
  let isWriting = false;

  /** What is to be written next; empty when nothing is. */
  const next = (): Uint8Array => {
    if (rest.length === 0 && text !== '') {
      rest = Buffer.from(text);
      text = '';
    }
    return rest;
  };
  const writeNext = (): void => {
    if (isWriting) return;
    if (next().length === 0) {
      drained();
      return;
    }
    const sent = rest;
    rest = new Uint8Array();
    isWriting = true;
    write(1, sent, (error, written) => {
      isWriting = false;
      rest = Buffer.concat([sent.subarray(error === null ? written : 0), rest]);
      // On a full disk, for example, what is left is tried again with the next lines.
      if (error === null) writeNext();
    });
  };

  return {
    write: (lines) => {
      text += lines;
      writeNext();
    },
    waiting: () => text.length + rest.length,
    // The rest is written at the exit.
    whenWritten: (done) => {
      done();
    },
    flushSync: () => {
      // What a thread writes at the moment is written before the process ends.
      try {
        while (next().length > 0) rest = rest.subarray(writeSync(1, rest));
      } catch {
        // Nothing can take these lines, and the process ends without them.
      }
    },
  };
};
