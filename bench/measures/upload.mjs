/** Whether the memory that an upload takes grows with the file. */
import { once } from 'node:events';
import { request as httpRequest } from 'node:http';
import { call } from '../support/api.mjs';
import { rounded } from '../support/figures.mjs';
import { growthDuring, mebibyte } from '../support/memory.mjs';
import { withService } from '../support/service.mjs';

/** api.md, section 3: as much as one upload may have. */
const largest = 100 * mebibyte;
const boundary = 'bench-boundary';

/**
 * @param {{ quick: boolean }} options
 * @returns {Promise<import('../support/figures.mjs').Figure[]>}
 */
export const upload = ({ quick }) =>
  withService({ purpose: 'upload', websites: 1 }, async ({ doorstep, url, headers, websiteIds: [websiteId] }) => {
    const path = `/v1/websites/${websiteId}/documents`;
    const send = (/** @type {number} */ bytes) => sendFile(new URL(path, url), headers, bytes);
    // What an upload needs whatever its size.
    for (let round = 0; round < 5; round += 1) await send(mebibyte);
    const size = quick ? 2 * mebibyte : largest;
    const { before, peak, seconds } = await growthDuring(doorstep.process, () => send(size));
    await call({ url, headers }, 'GET', path);
    const what = `${rounded(size / mebibyte)} MiB`;
    return [
      { name: `upload of ${what}`, value: size / mebibyte / seconds, unit: 'MiB/s', about: `${rounded(seconds)} s` },
      {
        name: `growth of memory while ${what} are uploaded`,
        value: Math.max(0.01, (peak - before) / mebibyte),
        unit: 'MiB',
        aim: { atMost: 64 },
        about: `from ${rounded(before / mebibyte)} to ${rounded(peak / mebibyte)} MiB`,
      },
    ];
  });

const block = Buffer.alloc(64 * 1024, 'Doorstep ');

/**
 * A form with one file of text, never in memory as a whole.
 * @param {URL} url
 * @param {Record<string, string>} headers
 * @param {number} bytes
 */
const sendFile = async (url, headers, bytes) => {
  const head = Buffer.from(
    `--${boundary}\r\ncontent-disposition: form-data; name="file"; filename="large.txt"\r\ncontent-type: text/plain\r\n\r\n`,
  );
  const tail = Buffer.from(`\r\n--${boundary}--\r\n`);
  const request = httpRequest(url, {
    method: 'POST',
    headers: {
      ...headers,
      'content-type': `multipart/form-data; boundary=${boundary}`,
      'content-length': head.length + bytes + tail.length,
    },
  });
  const answered = once(request, 'response');
  request.write(head);
  for (let left = bytes; left > 0; left -= block.length) {
    if (!request.write(block.subarray(0, Math.min(left, block.length)))) await once(request, 'drain');
  }
  request.end(tail);
  const [response] = /** @type {[import('node:http').IncomingMessage]} */ (await answered);
  /** @type {Buffer[]} */
  const chunks = [];
  for await (const chunk of /** @type {AsyncIterable<Buffer>} */ (response)) chunks.push(chunk);
  if (response.statusCode !== 201)
    throw new Error(`the upload answered ${response.statusCode}: ${Buffer.concat(chunks).toString()}`);
};
