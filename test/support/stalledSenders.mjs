/**
 * A worker thread that opens connections from one address, all at once, and sends the same bytes on
 * each and nothing after them.
 */
import { connect } from 'node:net';
import { parentPort, workerData } from 'node:worker_threads';

/** @type {{ port: number, localAddress: string, count: number, bytes: string, filler: number }} */
const { port, localAddress, count, bytes, filler } = workerData;
/** How many answered with each status, and how many refusals said when to come again. */
/** @type {{ open: number, opened: number, closed: number, retryAfter: number, statuses: Record<string, number> }} */
const seen = { open: 0, opened: 0, closed: 0, retryAfter: 0, statuses: {} };

const open = () => {
  const socket = connect({ host: '127.0.0.1', port, localAddress });
  socket.on('connect', () => {
    seen.open += 1;
    seen.opened += 1;
    socket.write(bytes);
    if (filler > 0) socket.write(Buffer.alloc(filler, ' '));
    socket.once('close', () => {
      seen.open -= 1;
      seen.closed += 1;
    });
  });
  socket.on('data', (chunk) => {
    const status = /^HTTP\/1\.1 (\d{3})/.exec(String(chunk))?.[1];
    if (status === undefined) return;
    seen.statuses[status] = (seen.statuses[status] ?? 0) + 1;
    if (/\r\nretry-after: \d/i.test(String(chunk))) seen.retryAfter += 1;
  });
  // What the service does to it is what is counted.
  socket.on('error', () => undefined);
};

parentPort?.on('message', () => parentPort?.postMessage(seen));
for (let index = 0; index < count; index += 1) open();
