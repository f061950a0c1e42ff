import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import { httpErrors } from './errors.js';
import { hasBody } from './exchange.js';
import type { Admission } from './senders.js';

/**
 * Bytes of a body that are taken; more are refused without being read to their end (api.md, section
 * 3).
 */
export const MAX_BODY_BYTES = 1_048_576;

/**
 * Few bytes may decode to many, and the signature of a webhook is that of the bytes as they come.
 * @throws HttpFault 415 for a body with a `Content-Encoding`
 */
export const refuseEncoded = (request: IncomingMessage): void => {
  const encoding = request.headers['content-encoding']?.toLowerCase() ?? '';
  if (encoding !== '' && encoding !== 'identity' && hasBody(request)) throw httpErrors.encodingNotSupported();
};

/**
 * Reads the whole body.
 * @param admission of its sender, who may have sent only so much of several bodies
 * @throws HttpFault 413, 415, 429; SenderGone
 */
export const readBody = async (request: IncomingMessage, admission?: Admission): Promise<Buffer> => {
  refuseEncoded(request);
  if (Number(request.headers['content-length']) > MAX_BODY_BYTES) throw httpErrors.bodyTooLarge();
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    const refuse = (fault: Error): void => {
      request.removeAllListeners('data');
      chunks.length = 0;
      reject(fault);
    };
    request.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > MAX_BODY_BYTES) refuse(httpErrors.bodyTooLarge());
      else if (admission?.holdBody(chunk.length) === false) refuse(httpErrors.tooManyOfSender());
      else chunks.push(chunk);
    });
    request.on('end', () => {
      admission?.holdBody(-bytes);
      const [only] = chunks;
      resolve(chunks.length === 1 && only !== undefined ? only : Buffer.concat(chunks));
    });
    const gone = (cause?: Error): void => {
      reject(new SenderGone('the sender went away in the middle of the body', { cause }));
    };
    request.on('error', gone);
    request.on('close', () => {
      if (!request.complete) gone();
    });
  });
};

/** Nobody is left to be answered. */
export class SenderGone extends Error {
  override readonly name = 'SenderGone';
}

/**
 * The JSON value of a body, whatever `Content-Type` says: what is not JSON is refused as such.
 * @throws Refused: `Body required`, `Invalid JSON body`
 */
export const parseBody = (bytes: Buffer): unknown => {
  if (bytes.length === 0) throw httpErrors.bodyRequired();
  if (!isUtf8(bytes)) throw httpErrors.invalidJson();
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch (error) {
    if (error instanceof SyntaxError) throw httpErrors.invalidJson();
    throw error;
  }
};
