import { spawnSync } from 'node:child_process';
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';

/**
 * What a power cut leaves of SQLite's files, from a trace of a process: whatever was written after
 * the last sync of its file is gone. Names of files, and what is no SQLite file, are taken as they
 * were before.
 */

/** Whether this machine can trace a process. */
export const canTrace = spawnSync('strace', ['-o', '/dev/null', '-e', 'trace=none', 'true']).status === 0;

/** The program, with its arguments, that traces another one into `file`. */
export const tracing = (file: string): readonly string[] => [
  ...['strace', '-f', '-qq', '--seccomp-bpf', '-y', '-xx', '-s', '1000000'],
  ...['-e', 'trace=write,writev,pwrite64,ftruncate,fsync,fdatasync', '-o', file],
];

const textOf = (hex: string): string => bytesOf(hex).toString();
const bytesOf = (hex: string): Buffer => Buffer.from(hex.replaceAll('\\x', ''), 'hex');
const hexOf = (text: string): string => [...Buffer.from(text)].map((byte) => `\\x${byte.toString(16).padStart(2, '0')}`).join('');

const isDatabase = (path: string): boolean => /\.db(?:-wal)?$/.test(path);

/**
 * Makes `after` the folder `before` as it stands on the disk at the moment when the traced process
 * begins to send `sent`. @throws when it did not send it
 */
export const cutPower = (trace: string, sent: string, { before, after }: { before: string; after: string }): void => {
  cpSync(before, after, { recursive: true });
  const files = new Map<string, { synced: Buffer; written: Buffer }>();
  const fileOf = (path: string): { synced: Buffer; written: Buffer } => {
    const name = basename(path);
    let file = files.get(name);
    if (file === undefined) {
      const content = readIfThere(join(before, name));
      file = { synced: content, written: content };
      files.set(name, file);
    }
    return file;
  };

  const marker = hexOf(sent);
  for (const line of readFileSync(trace, 'latin1').split('\n')) {
    const [, call, path = '', rest = ''] = /^\d+ +(\w+)\(\d+<([^>]*)>(.*)$/.exec(line) ?? [];
    if (call === undefined) continue;
    if (call.startsWith('write') && rest.includes(marker)) {
      for (const [name, { synced }] of files) writeFileSync(join(after, name), synced);
      return;
    }
    if (!isDatabase(textOf(path))) continue;
    const file = fileOf(textOf(path));
    if (call === 'fsync' || call === 'fdatasync') {
      file.synced = file.written;
    } else if (call === 'ftruncate') {
      const length = Number(/^, (\d+)/.exec(rest)?.[1]);
      file.written = Buffer.concat([file.written.subarray(0, length)], length);
    } else if (call === 'pwrite64') {
      const [, hex = '', , offset] = /^, "([^"]*)", (\d+), (\d+)/.exec(rest) ?? [];
      const bytes = bytesOf(hex);
      const from = Number(offset);
      file.written = Buffer.concat([file.written], Math.max(file.written.length, from + bytes.length));
      bytes.copy(file.written, from);
    } else {
      throw new Error(`cannot replay ${call}`);
    }
  }
  throw new Error(`${sent} was not sent`);
};

const readIfThere = (file: string): Buffer => {
  try {
    return readFileSync(file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return Buffer.alloc(0);
    throw error;
  }
};
