/**
 * Counts the calls that the service makes to an EventStoreDB: a proxy that looks at the frames of
 * HTTP/2 (RFC 9113, 4.1), where each call begins with one of the type HEADERS. For one node without
 * TLS.
 */
import { once } from 'node:events';
import { connect, createServer } from 'node:net';

const PREFACE = Buffer.byteLength('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');
const FRAME_HEADER = 9;
const HEADERS = 1;

/**
 * @param {string} url
 * @returns {Promise<{ url: string, calls: () => number }>}
 */
export const countCalls = async (url) => {
  const [, scheme = '', credentials = '', host = '', port = '2113', rest = ''] =
    /^(\w+:\/\/)([^@/]*@)?([^:/?,]+)(?::(\d+))?((?:[/?].*)?)$/.exec(url) ?? [];
  if (host === '' || !/[?&]tls=false/i.test(rest)) throw new Error('calls are counted on one node without TLS');
  let calls = 0;
  const server = createServer((client) => {
    const upstream = connect(Number(port), host);
    client.on(
      'data',
      framesOf((type) => (calls += type === HEADERS ? 1 : 0)),
    );
    for (const [from, to] of /** @type {const} */ ([
      [client, upstream],
      [upstream, client],
    ])) {
      from.setNoDelay();
      from.pipe(to);
      from.on('error', () => to.destroy());
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  server.unref();
  const address = /** @type {import('node:net').AddressInfo} */ (server.address());
  return { url: `${scheme}${credentials}127.0.0.1:${address.port}${rest}`, calls: () => calls };
};

/**
 * Reports the type of each frame that a client sends.
 * @param {(type: number) => void} onFrame
 */
const framesOf = (onFrame) => {
  let skip = PREFACE;
  let header = Buffer.alloc(0);
  return (/** @type {Buffer} */ chunk) => {
    for (let at = 0; at < chunk.length;) {
      const skipped = Math.min(skip, chunk.length - at);
      skip -= skipped;
      at += skipped;
      const part = chunk.subarray(at, at + FRAME_HEADER - header.length);
      header = Buffer.concat([header, part]);
      at += part.length;
      if (header.length < FRAME_HEADER) continue;
      onFrame(header.readUInt8(3));
      skip = header.readUIntBE(0, 3);
      header = Buffer.alloc(0);
    }
  };
};
