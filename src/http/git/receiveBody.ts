import type { IncomingMessage } from 'node:http';
import type { BodyBuffer } from '../../integrations/sourceHost/port.js';
import { SenderGone } from '../body.js';
import { httpErrors } from '../errors.js';

/**
 * Writes a body into `buffer`, no faster than the disk takes it, so that a slow sender holds neither
 * memory nor a process.
 * @throws HttpFault 413; SenderGone. The buffer is closed then.
 */
export const receiveBody = async (request: IncomingMessage, buffer: BodyBuffer, maxBytes: number): Promise<BodyBuffer> => {
  try {
    if (Number(request.headers['content-length']) > maxBytes) throw httpErrors.bodyTooLarge();
    for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      if (buffer.bytes + chunk.length > maxBytes) throw httpErrors.bodyTooLarge();
      await buffer.write(chunk);
    }
    return buffer;
  } catch (error) {
    await buffer.close();
    if (request.destroyed && !request.complete) {
      throw new SenderGone('the sender went away in the middle of the body', { cause: error });
    }
    throw error;
  }
};
