import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import createParser, { type Busboy } from 'busboy';
import { Refused, refusals, type Violation } from '../commands/refusal.js';
import type { FileStore } from '../integrations/files/port.js';
import { contentTypeOf, sampleBytes } from '../platform/fileContentType.js';
import { measure, type StoredContent } from '../platform/measuredContent.js';
import { cleanFileName } from '../platform/fileName.js';
import { refuseEncoded, SenderGone } from './body.js';
import { httpErrors } from './errors.js';
import { hasBody } from './exchange.js';
import type { Upload } from './route.js';

/** Bytes of one uploaded file (api.md, section 3). */
const maxUploadBytes = 100 * 1024 * 1024;
/** Of the other fields, the boundaries and the heads of the parts. */
export const maxOverheadBytes = 64 * 1024;
const maxFieldBytes = 4_096;
const maxFields = 20;

export interface ReceivedUpload {
  readonly upload: Upload;
  /** The other fields, as they were sent. */
  readonly fields: Readonly<Record<string, string>>;
}

/**
 * Receives `multipart/form-data` with one part `file`, which is stored as it comes, no faster than
 * the store takes it. Whatever goes wrong, nothing is left in the store.
 * @param key under which it is stored; `null` in a dry run, which stores nothing
 * @throws Refused 400; HttpFault 413, 415; SenderGone; faults of the store
 */
export const receiveUpload = async (request: IncomingMessage, files: FileStore, key: string | null): Promise<ReceivedUpload> => {
  if (!hasBody(request)) throw httpErrors.bodyRequired();
  refuseEncoded(request);
  if (Number(request.headers['content-length']) > maxUploadBytes + maxOverheadBytes) throw httpErrors.bodyTooLarge();
  const form = readForm(request, (content) =>
    key === null ? countOnly(content, maxUploadBytes) : files.store(key, content, maxUploadBytes),
  );
  try {
    await form.received();
  } catch (error) {
    await form.abandon();
    if (key !== null) await files.remove(key);
    // What is still coming is read, so that its sender reads the answer.
    if (!request.destroyed) request.resume();
    if (request.destroyed && !request.complete) {
      throw new SenderGone('the sender went away in the middle of the upload', { cause: error });
    }
    throw error;
  }
  const [problem, ...others] = form.problems();
  const { file } = form;
  if (problem === undefined && file !== undefined) {
    const fileName = cleanFileName(file.name) ?? 'file';
    const upload = {
      ...(await file.stored),
      key: key ?? '',
      fileName,
      contentType: await contentTypeOf(file.sample(), fileName),
    };
    if (upload.bytes > 0) return { upload, fields: form.fields };
  }
  if (key !== null) await files.remove(key);
  const { field, issue } = problem ?? { field: 'file', issue: file === undefined ? 'is required' : 'must not be empty' };
  throw new Refused(refusals.invalidBody(field, issue, others));
};

const countOnly = async (content: AsyncIterable<Uint8Array>, maxBytes: number): Promise<StoredContent> => {
  const measured = measure(content, maxBytes);
  while ((await measured.content.next()).done !== true) continue;
  return measured.stored();
};

interface FormFile {
  readonly name: string;
  readonly stored: Promise<StoredContent>;
  /** Its first bytes. */
  readonly sample: () => Uint8Array;
}

interface Form {
  readonly fields: Readonly<Record<string, string>>;
  readonly file: FormFile | undefined;
  readonly problems: () => readonly Violation[];
  /** Resolves when everything was sent and stored. */
  readonly received: () => Promise<void>;
  /** Resolves when nothing is being stored any more. */
  readonly abandon: () => Promise<void>;
}

const readForm = (request: IncomingMessage, store: (content: AsyncIterable<Uint8Array>) => Promise<StoredContent>): Form => {
  const parser = parserFor(request);
  const fields: Record<string, string> = Object.create(null) as Record<string, string>;
  const problems: Violation[] = [];
  let file: (FormFile & { readonly content: Readable }) | undefined;
  let fail: (error: unknown) => void = () => undefined;
  const failure = new Promise<never>((_, reject) => {
    fail = reject;
  });
  // Those who wait for it get the error. Without this, one that nobody waits for would end the process.
  failure.catch(() => undefined);

  parser.on('field', (name, value, { nameTruncated, valueTruncated }) => {
    if (name === 'file') problems.push({ field: 'file', issue: 'must be a file' });
    else if (name in fields) problems.push({ field: name, issue: 'must be there once' });
    else if (nameTruncated || valueTruncated) problems.push({ field: name, issue: 'is too long' });
    else fields[name] = value;
  });
  parser.on('file', (field, content, { filename }: { filename: string | undefined }) => {
    // Its reader gets the error; nobody reads what is refused.
    content.on('error', () => undefined);
    if (field !== 'file' || file !== undefined) {
      problems.push({ field, issue: field === 'file' ? 'must be there once' : 'is not a known field' });
      content.resume();
      return;
    }
    const sample = createSample(content);
    const stored = store(sample.content);
    stored.catch(fail);
    // Browsers escape these alone (https://html.spec.whatwg.org/#multipart-form-data).
    const name = (filename ?? '').replace(/%22/g, '"').replace(/%0[AD]/gi, ' ');
    file = { name, stored, sample: sample.bytes, content };
  });
  for (const limit of ['partsLimit', 'filesLimit', 'fieldsLimit'] as const) {
    parser.once(limit, () => {
      fail(notAForm('has too many parts'));
    });
  }
  // It can come twice, for a bad head and for the end that is missing; unheard, it would end the process.
  parser.on('error', () => {
    fail(notAForm(cutOff));
  });
  const closed = once(parser, 'close');
  closed.catch(() => undefined);

  return {
    fields,
    get file() {
      return file;
    },
    problems: () => problems,
    received: async () => {
      let bytes = 0;
      for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
        bytes += chunk.length;
        if (bytes > maxUploadBytes + maxOverheadBytes) throw httpErrors.bodyTooLarge();
        if (!parser.write(chunk)) await Promise.race([failure, once(parser, 'drain')]);
      }
      parser.end();
      // When both have failed by now, the first counts: the parser's own error is no answer.
      await Promise.race([failure, closed]);
      await file?.stored;
    },
    abandon: async () => {
      file?.content.destroy(new Error('the upload is given up'));
      parser.destroy();
      // What it ended with is known already.
      await file?.stored.catch(() => undefined);
    },
  };
};

const cutOff = 'ends in the middle of a part, or is not multipart/form-data';
const notAForm = (issue: string): Refused => new Refused(refusals.invalidBody('body', issue));

const parserFor = ({ headers }: IncomingMessage): Busboy => {
  if (!/^multipart\/form-data\s*;/i.test(headers['content-type'] ?? '')) throw notAForm('must be sent as multipart/form-data');
  try {
    return createParser({
      headers,
      defParamCharset: 'utf8',
      limits: {
        fieldNameSize: 100,
        fieldSize: maxFieldBytes,
        fields: maxFields,
        files: 2,
        parts: maxFields + 2,
        headerPairs: 20,
      },
    });
  } catch {
    throw notAForm('must be multipart/form-data with a boundary');
  }
};

/** Passes the content on and keeps its beginning. */
const createSample = (content: Readable): { readonly content: AsyncIterable<Uint8Array>; readonly bytes: () => Uint8Array } => {
  const kept: Uint8Array[] = [];
  let size = 0;
  async function* passOn(): AsyncGenerator<Uint8Array, void> {
    try {
      for await (const chunk of content as AsyncIterable<Uint8Array>) {
        if (size < sampleBytes) {
          const part = Uint8Array.from(chunk.subarray(0, sampleBytes - size));
          kept.push(part);
          size += part.length;
        }
        yield chunk;
      }
    } catch {
      // The parser ends a part that has no end.
      throw notAForm(cutOff);
    }
  }
  return { content: passOn(), bytes: () => Buffer.concat(kept) };
};
