/** Writes to a file and syncs it, again and again, as another program on the same disk does. */
import { fsyncSync, openSync, writeSync } from 'node:fs';

const size = 64 * 1024;
const fileSize = 1_024 * size;
const [file = ''] = process.argv.slice(2);
const descriptor = openSync(file, 'w');
const content = Buffer.alloc(size);
process.send?.('ready', () => {
  for (let at = 0; ; at = (at + size) % fileSize) {
    writeSync(descriptor, content, 0, size, at);
    fsyncSync(descriptor);
  }
});
