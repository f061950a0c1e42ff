/**
 * Files that commands read, and those that they write: whole, or not at all.
 */
import { createHash, randomBytes } from 'node:crypto';
import { createWriteStream, existsSync } from 'node:fs';
import { readFile, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { ReadableStream } from 'node:stream/web';
import { Refusal } from './command.js';
import type { Context } from './context.js';
import { clean } from './output.js';

interface Target {
  /** `-` is standard output. */
  readonly output?: string | undefined;
  readonly force: boolean;
}

/** The text of a file. */
export const readText = async (path: string): Promise<string> => {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    // The system does not name a folder that is read.
    throw Object.assign(error as NodeJS.ErrnoException, { path });
  }
};

/** Writes beside the file and takes its place at the end: a cut connection leaves no half of a file. */
const writeWhole = async (path: string, data: Readable, ...through: Transform[]): Promise<void> => {
  const part = join(dirname(path), `.${basename(path)}.${randomBytes(4).toString('hex')}.part`);
  try {
    await pipeline([data, ...through, createWriteStream(part, { flags: 'wx' })]);
    await rename(part, path);
  } catch (error) {
    await rm(part, { force: true });
    // Nobody named the other file.
    if ((error as NodeJS.ErrnoException).path === part) (error as NodeJS.ErrnoException).path = path;
    throw error;
  }
};

/** @throws Refusal when the file is there and is not to be replaced */
const write = async (
  { output }: Context,
  path: string,
  force: boolean,
  data: Readable,
  ...through: Transform[]
): Promise<void> => {
  if (path === '-') {
    await pipeline([data, ...through, process.stdout], { end: false });
    return;
  }
  if (!force && existsSync(path)) throw new Refusal(`${path} is there already. Add --force to replace it.`);
  await writeWhole(path, data, ...through);
  output.note(`${path} is written.`);
};

/** Writes a stream of the service to a file. */
export const save = (context: Context, stream: ReadableStream<Uint8Array>, path: string, force: boolean): Promise<void> =>
  write(context, path, force, Readable.fromWeb(stream));

/** A name of the service as a file of this folder: it may hold what leads elsewhere. */
const fileNameOf = (name: string): string => basename(clean(name).replaceAll('\\', '/')).replace(/^\.+/, '') || 'download';

/** Checks what came against what the service keeps. */
const checked = (name: string, sha256: string): Transform => {
  const hash = createHash('sha256');
  return new Transform({
    transform: (chunk: Buffer, _encoding, next) => {
      hash.update(chunk);
      next(null, chunk);
    },
    flush: (end) => {
      end(hash.digest('hex') === sha256 ? null : new Refusal(`${clean(name)} came damaged. Try again.`));
    },
  });
};

/** Downloads a file from its address. @throws Refusal when it cannot be had, or came damaged */
export const download = async (
  context: Context,
  url: string,
  { name, sha256 }: { readonly name: string; readonly sha256: string },
  { output, force }: Target,
): Promise<void> => {
  const path = output ?? fileNameOf(name);
  if (path !== '-' && !force && existsSync(path)) throw new Refusal(`${path} is there already. Add --force to replace it.`);
  const response = await fetch(url, { signal: context.interruption.signal });
  if (!response.ok || response.body === null)
    throw new Refusal(`${clean(name)} cannot be downloaded: ${String(response.status)} ${response.statusText}`);
  await write(context, path, force, Readable.fromWeb(response.body as ReadableStream<Uint8Array>), checked(name, sha256));
};
