import { isBrowser, randomId } from './platform.js';
import type { RequestOptions } from './types.js';

/**
 * A file to send: its path (Node.js, Bun, Deno), a `Blob` or `File`, its bytes (a `Buffer`, `Uint8Array`
 * or `ArrayBuffer`), or its bytes as they come. Only what can be read again is sent again: a failed
 * upload of a stream is not repeated.
 */
export type FileInput =
  string | URL | Blob | ArrayBuffer | ArrayBufferView | AsyncIterable<Uint8Array> | ReadableStream<Uint8Array>;

/** What an upload takes: the file, its name where it has none or another one, and the other fields. */
export type UploadBody<Sent extends object = object> = Omit<Sent, 'file'> & {
  readonly file: FileInput;
  /** Default: the name of the file. */
  readonly fileName?: string | undefined;
};

export interface Progress {
  /** Bytes of the file that were handed over. Another attempt begins at 0 again. */
  readonly sent: number;
  /** Of the file; `undefined` for a stream. */
  readonly total: number | undefined;
}

export interface UploadOptions extends RequestOptions {
  /**
   * Called as the file is sent, and at its end. Browsers do not say how far they are: there it is called
   * at the begin and at the end of the request.
   */
  readonly onProgress?: ((progress: Progress) => void) | undefined;
}

/** A `Blob` may come as a whole: handed over in pieces, it shows how far it is. */
const maxPieceBytes = 64 * 1024;

/** The body of one attempt. Not `BodyInit`: programs without the DOM's types have no such type. */
export interface Content {
  readonly body?: string | FormData | ReadableStream<Uint8Array>;
  readonly contentType?: string;
  /** What ended the body, where that was the program's: its file, or its `onProgress`. */
  readonly fault?: () => Error | undefined;
}

export interface OpenFile {
  /** The body, anew for each attempt. */
  readonly content: () => Content;
  /** Whether there may be another attempt. */
  readonly isRepeatable: boolean;
  /** The answer is there. */
  readonly end: () => void;
}

/** Bytes are a `Blob` by then. */
type Openable = Exclude<FileInput, ArrayBuffer | ArrayBufferView>;

interface Source {
  readonly name: string;
  /** In bytes. */
  readonly total?: number;
  readonly chunks: () => AsyncIterable<Uint8Array>;
}

/**
 * A form with a file as a body, `multipart/form-data` (RFC 7578).
 * @throws TypeError when there is no file, and what the file system says of a path
 */
export const openFile = async (
  { file: given, fileName, ...fields }: UploadBody,
  onProgress: UploadOptions['onProgress'],
): Promise<OpenFile> => {
  // Programs without types leave it out.
  if (!(given as unknown)) throw new TypeError('`file` is missing');
  const file = given instanceof ArrayBuffer || ArrayBuffer.isView(given) ? new Blob([given as ArrayBuffer]) : given;
  const texts = Object.entries(fields).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, String(value as string | number)] as const],
  );
  if (isBrowser) return formOf(file, fileName, texts, onProgress);

  const { name, total, chunks } = await sourceOf(file);
  const boundary = `doorstep-${randomId()}`;
  const encoder = new TextEncoder();
  const head = (part: string): string => `--${boundary}\r\ncontent-disposition: form-data; ${part}\r\n`;
  async function* parts(): AsyncGenerator<Uint8Array, void, undefined> {
    const before = texts.map(([field, text]) => `${head(`name="${escaped(field)}"`)}\r\n${text}\r\n`).join('');
    const type = 'content-type: application/octet-stream';
    yield encoder.encode(`${before}${head(`name="file"; filename="${escaped(fileName ?? name)}"`)}${type}\r\n\r\n`);
    let sent = 0;
    for await (const chunk of chunks()) {
      // A stream of text, for one: it would be sent as an empty file.
      if (!ArrayBuffer.isView(chunk)) throw new TypeError('`file` gives no bytes: it must give Uint8Arrays');
      for (let from = 0; from < chunk.byteLength; from += maxPieceBytes) {
        const piece = chunk.subarray(from, from + maxPieceBytes);
        yield piece;
        sent += piece.byteLength;
        onProgress?.({ sent, total });
      }
    }
    yield encoder.encode(`\r\n--${boundary}--\r\n`);
  }
  return {
    content: () => {
      let fault: Error | undefined;
      const body = streamOf(parts(), (error) => (fault = error));
      return { body, contentType: `multipart/form-data; boundary=${boundary}`, fault: () => fault };
    },
    isRepeatable: total !== undefined,
    end: () => undefined,
  };
};

/** Browsers read the file themselves: most send no stream, and none says how far it is. */
const formOf = async (
  file: Openable,
  fileName: string | undefined,
  fields: readonly (readonly [string, string])[],
  onProgress: UploadOptions['onProgress'],
): Promise<OpenFile> => {
  if (typeof file === 'string' || file instanceof URL)
    throw new TypeError('A browser reads no paths: `file` must be a Blob or a stream');
  const blob =
    file instanceof Blob ? file : await new Response(file instanceof ReadableStream ? file : streamOf(iteratorOf(file))).blob();
  const form = new FormData();
  for (const [name, text] of fields) form.append(name, text);
  form.append('file', blob, fileName ?? (blob instanceof File ? blob.name : 'file'));
  const total = blob.size;
  return {
    content: () => {
      onProgress?.({ sent: 0, total });
      return { body: form };
    },
    isRepeatable: true,
    end: () => {
      onProgress?.({ sent: total, total });
    },
  };
};

const sourceOf = async (file: Openable): Promise<Source> => {
  if (typeof file === 'string' || file instanceof URL) {
    const fs = await fileSystem();
    const found = await fs.promises.stat(file);
    if (!found.isFile()) throw new TypeError(`${String(file)} is not a file`);
    return { name: baseName(file), total: found.size, chunks: () => fs.createReadStream(file) };
  }
  if (file instanceof Blob) {
    return { name: file instanceof File ? file.name : 'file', total: file.size, chunks: () => file.stream() };
  }
  return { name: 'file', chunks: () => file };
};

interface FileSystem {
  createReadStream(path: string | URL): AsyncIterable<Uint8Array>;
  readonly promises: { stat(path: string | URL): Promise<{ readonly size: number; isFile(): boolean }> };
}

/** Loaded when a path is given, under a name that bundlers for browsers do not look for. */
const fileSystem = async (): Promise<FileSystem> => {
  const name = 'node:fs';
  return (await import(/* webpackIgnore: true */ /* @vite-ignore */ name)) as FileSystem;
};

const baseName = (file: string | URL): string => {
  const path = file instanceof URL ? decodeURIComponent(file.pathname) : file;
  return path.slice(path.search(/[^\\/]*$/));
};

/** As browsers write a name (WHATWG HTML, "multipart/form-data"). */
const escaped = (name: string): string => name.replace(/"/g, '%22').replace(/\r/g, '%0D').replace(/\n/g, '%0A');

const iteratorOf = async function* (chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void, undefined> {
  yield* chunks;
};

const streamOf = (
  chunks: AsyncGenerator<Uint8Array, void, undefined>,
  onFault: (error: Error) => void = () => undefined,
): ReadableStream<Uint8Array> =>
  new ReadableStream<Uint8Array>(
    {
      pull: async (controller) => {
        try {
          const { value, done } = await chunks.next();
          if (done === true) controller.close();
          else controller.enqueue(value);
        } catch (error) {
          onFault(error as Error);
          throw error;
        }
      },
      cancel: async () => {
        await chunks.return();
      },
    },
    { highWaterMark: 0 },
  );
