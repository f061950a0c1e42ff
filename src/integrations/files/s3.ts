import { Readable } from 'node:stream';
import type * as S3Sdk from '@aws-sdk/client-s3';
import { systemClock, type Clock } from '../../platform/clock.js';
import { lazily } from '../../platform/lazily.js';
import { measure } from '../../platform/measuredContent.js';
import type { BucketAccount } from '../../platform/settings/files.js';
import { createCircuitBreaker } from '../circuitBreaker.js';
import { ProviderFault } from '../fault.js';
import { checkKey } from './fileKey.js';
import { FileStoreFull, type FileStore } from './port.js';

const provider = 's3';
/** The parts of a file that is stored in several; no part but the last may be below 5 MiB. */
const partBytes = 8 * 1024 * 1024;
const connectionTimeoutMs = 5_000;
/**
 * For all attempts at a call, a part of 8 MiB on its way included; less than the two minutes after
 * which the server closes a connection on which nothing moves.
 */
const callTimeoutMs = 90_000;
/** How long a reader waits for the next piece of a file. */
const pieceTimeoutMs = 30_000;
const maxAttempts = 3;

/** Files in a bucket of S3 or a compatible service. The SDK is loaded on first use. */
export const createS3Files = (settings: BucketAccount, { clock = systemClock }: { clock?: Clock } = {}): FileStore => {
  const { bucket: Bucket, region, endpoint, credentials } = settings;
  const withBreaker = createCircuitBreaker(provider, ({ transient }) => transient, clock);

  const load = lazily(async () => {
    const sdk: typeof S3Sdk = await import('@aws-sdk/client-s3');
    return {
      sdk,
      client: new sdk.S3Client({
        region,
        maxAttempts,
        // Its own timeouts of a request and of a socket also count the time that a slow reader takes.
        requestHandler: { connectionTimeout: connectionTimeoutMs },
        // Compatible services need not know Amazon's newer checksums. The signature covers a part's hash.
        requestChecksumCalculation: 'WHEN_REQUIRED',
        responseChecksumValidation: 'WHEN_REQUIRED',
        ...(endpoint !== undefined && { endpoint, forcePathStyle: true }),
        ...(credentials !== undefined && { credentials }),
      }),
    };
  });

  interface Call extends Awaited<ReturnType<typeof load>> {
    /** For each request to the service, so that it ends with the call. */
    readonly options: { readonly abortSignal: AbortSignal };
  }
  const ask = async <Result>(act: (call: Call) => Promise<Result>): Promise<Result> => {
    const parts = await load();
    return withBreaker(async () => {
      const abort = new AbortController();
      const cancelTimeout = clock.schedule(callTimeoutMs, () => {
        abort.abort();
      });
      try {
        return await act({ ...parts, options: { abortSignal: abort.signal } });
      } catch (error) {
        throw abort.signal.aborted ? timeoutFault(callTimeoutMs) : toFault(error);
      } finally {
        cancelTimeout();
      }
    });
  };

  /** Stores the parts one after the other; what is incomplete is given up again. */
  const storeParts = async (Key: string, first: Uint8Array, rest: AsyncGenerator<Uint8Array, void>): Promise<void> => {
    const { UploadId } = await ask(({ sdk, client, options }) =>
      client.send(new sdk.CreateMultipartUploadCommand({ Bucket, Key, ...storedAs }), options),
    );
    const Parts: { PartNumber: number; ETag: string | undefined }[] = [];
    const storePart = async (Body: Uint8Array): Promise<void> => {
      const PartNumber = Parts.length + 1;
      const { ETag } = await ask(({ sdk, client, options }) =>
        client.send(new sdk.UploadPartCommand({ Bucket, Key, UploadId, PartNumber, Body }), options),
      );
      Parts.push({ PartNumber, ETag });
    };
    try {
      await storePart(first);
      for await (const part of rest) await storePart(part);
      await ask(({ sdk, client, options }) =>
        client.send(new sdk.CompleteMultipartUploadCommand({ Bucket, Key, UploadId, MultipartUpload: { Parts } }), options),
      );
    } catch (error) {
      // What cannot be given up now is removed with the drafts; the first fault counts.
      await ask(({ sdk, client, options }) =>
        client.send(new sdk.AbortMultipartUploadCommand({ Bucket, Key, UploadId }), options),
      ).catch(() => undefined);
      throw error;
    }
  };

  /** The uploads in parts that are neither complete nor given up. */
  async function* listUploads(): AsyncGenerator<S3Sdk.MultipartUpload, void> {
    let KeyMarker: string | undefined;
    let UploadIdMarker: string | undefined;
    do {
      const after = { KeyMarker, UploadIdMarker };
      const page = await ask(({ sdk, client, options }) =>
        client.send(new sdk.ListMultipartUploadsCommand({ Bucket, ...after }), options),
      );
      yield* page.Uploads ?? [];
      KeyMarker = page.IsTruncated === true ? page.NextKeyMarker : undefined;
      UploadIdMarker = page.NextUploadIdMarker;
    } while (KeyMarker !== undefined);
  }

  return {
    provider,
    origin: originOf(settings),

    store: async (key, content, maxBytes) => {
      const Key = checkKey(key);
      const measured = measure(content, maxBytes);
      const parts = inParts(measured.content);
      const first = await parts.next();
      const Body = first.done === true ? new Uint8Array() : first.value;
      if (Body.length < partBytes) {
        await ask(({ sdk, client, options }) =>
          client.send(new sdk.PutObjectCommand({ Bucket, Key, Body, ...storedAs }), options),
        );
      } else await storeParts(Key, Body, parts);
      return measured.stored();
    },

    read: async (key, range) => {
      const Key = checkKey(key);
      const found = await ask(async ({ sdk, client, options }) => {
        try {
          const Range = range === undefined ? undefined : `bytes=${String(range.start)}-${String(range.end)}`;
          return await client.send(new sdk.GetObjectCommand({ Bucket, Key, Range }), options);
        } catch (error) {
          if (error instanceof sdk.NoSuchKey) return null;
          throw error;
        }
      });
      if (found?.Body === undefined) return null;
      const whole = /\/(\d+)$/.exec(found.ContentRange ?? '')?.[1];
      return { bytes: Number(whole ?? found.ContentLength), content: withTimeout(found.Body as Readable, clock) };
    },

    // Removing what is not there is no fault there either.
    remove: async (key) => {
      const Key = checkKey(key);
      await ask(({ sdk, client, options }) => client.send(new sdk.DeleteObjectCommand({ Bucket, Key }), options));
    },

    list: async function* list(prefix) {
      let next: string | undefined;
      do {
        const ContinuationToken = next;
        const page = await ask(({ sdk, client, options }) =>
          client.send(new sdk.ListObjectsV2Command({ Bucket, Prefix: prefix, ContinuationToken }), options),
        );
        for (const { Key, Size = 0, LastModified } of page.Contents ?? []) {
          if (Key !== undefined) yield { key: Key, bytes: Size, storedAt: LastModified?.getTime() ?? 0 };
        }
        next = page.NextContinuationToken;
      } while (next !== undefined);
    },

    signedUrl: async (key, { expiresInS, contentType, disposition }) => {
      const [{ sdk, client }, { getSignedUrl }] = await Promise.all([load(), import('@aws-sdk/s3-request-presigner')]);
      const command = new sdk.GetObjectCommand({
        Bucket,
        Key: checkKey(key),
        ResponseContentType: contentType,
        ResponseContentDisposition: disposition,
        ResponseCacheControl: 'no-store',
      });
      // By the clock of the bucket, once the SDK has learned it from an answer, as it signs its own requests: an address
      // that is signed by ours, five minutes behind, has expired when it is made.
      const signingDate = new Date(clock.now() + client.config.systemClockOffset);
      return getSignedUrl(client, command, { expiresIn: expiresInS, signingDate });
    },

    removeDrafts: async (before) => {
      let removed = 0;
      for await (const { Key = '', UploadId, Initiated } of listUploads()) {
        // A bucket may hold what is not ours.
        if (!uploadedKey.test(Key) || Initiated === undefined || Initiated.getTime() >= before) continue;
        await ask(({ sdk, client, options }) =>
          client.send(new sdk.AbortMultipartUploadCommand({ Bucket, Key, UploadId }), options),
        );
        removed += 1;
      }
      return removed;
    },
  };
};

/**
 * Where the SDK leads to: a service of one's own, or Amazon's with the bucket in its name, but for one
 * with a dot, which no certificate of Amazon's covers.
 */
const originOf = ({ bucket, region, endpoint }: BucketAccount): string => {
  if (endpoint !== undefined) return new URL(endpoint).origin;
  const host = `s3.${region}.amazonaws.com${region.startsWith('cn-') ? '.cn' : ''}`;
  return `https://${bucket.includes('.') ? '' : `${bucket}.`}${host}`;
};

/** As uploads are named, by a website's id and a UUID, and the variants of images after them. */
const uploadedKey = /^[0-9a-z]{26}\/[0-9a-f-]{36}(?:-\d+-[a-z]+)?$/;

/** An address that is opened without the service's own headers never shows a file as a page. */
const storedAs = { ContentType: 'application/octet-stream', ContentDisposition: 'attachment' };

/** Pieces of `partBytes`; only the last one is shorter. */
async function* inParts(content: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void> {
  let part = Buffer.allocUnsafe(partBytes);
  let filled = 0;
  for await (const chunk of content) {
    for (let taken = 0; taken < chunk.length;) {
      const piece = chunk.subarray(taken, taken + partBytes - filled);
      part.set(piece, filled);
      filled += piece.length;
      taken += piece.length;
      if (filled < partBytes) continue;
      yield part;
      part = Buffer.allocUnsafe(partBytes);
      filled = 0;
    }
  }
  if (filled > 0) yield part.subarray(0, filled);
}

const timeoutFault = (afterMs: number): ProviderFault => {
  const cause = Object.assign(new Error('no complete response in time'), { name: 'TimeoutError' });
  const message = `${provider} did not answer within ${String(afterMs / 1_000)} s`;
  return new ProviderFault({ provider, message, transient: true, cause });
};

/**
 * The content of a response, which fails with ProviderFault when it breaks off, or when a piece of
 * it does not come in time. The time that its reader takes does not count.
 */
const withTimeout = (body: Readable, clock: Clock): Readable => {
  const pieces = body.iterator();
  let cancelTimeout = (): void => undefined;
  return new Readable({
    read() {
      let late = false;
      cancelTimeout = clock.schedule(pieceTimeoutMs, () => {
        late = true;
        body.destroy();
      });
      const fail = (cause: unknown): void => {
        const message = `${provider} broke off in the middle of a file`;
        this.destroy(late ? timeoutFault(pieceTimeoutMs) : new ProviderFault({ provider, message, transient: true, cause }));
      };
      pieces
        .next()
        .finally(cancelTimeout)
        .then(({ done, value }) => this.push(done === true ? null : value), fail);
    },
    destroy(error, done) {
      cancelTimeout();
      body.destroy();
      done(error);
    },
  });
};

/** What the SDK throws, without the request that it may name. */
const toFault = (error: unknown): unknown => {
  const { name, $metadata } = error as { readonly name: string; readonly $metadata?: { readonly httpStatusCode?: number } };
  if (name === 'CredentialsProviderError') {
    return new ProviderFault({ provider, message: 'there are no credentials for s3', transient: false, cause: error });
  }
  // No request went wrong.
  if ($metadata === undefined) return error;
  const { httpStatusCode: status } = $metadata;
  if (status === 507 || fullCodes.includes(name)) return new FileStoreFull('the bucket has no room', { cause: error });
  const transient = status === undefined || status === 429 || status >= 500;
  const message = transient ? `${provider} cannot be reached` : `${provider} answered ${String(status)} ${name}`;
  return new ProviderFault({ provider, message, transient, cause: error });
};

const fullCodes = ['XMinioStorageFull', 'QuotaExceeded', 'XMinioAdminBucketQuotaExceeded'];
