/**
 * The encoding of protocol buffers, as far as the adapter needs it: the client's own classes take several
 * times as long, for each event and each append.
 */

/** How a field of a message begins: its number, and how its value is written. */
export const numeric = (field: number): number => field * 8;
export const sized = (field: number): number => field * 8 + 2;

/** Where a message is read. */
export interface Reader {
  readonly bytes: Buffer;
  at: number;
}

/** Reads the fields of a message that ends at `end`. What `onField` does not read is passed over. */
export const readFields = (reader: Reader, end: number, onField: (tag: number) => void): void => {
  while (reader.at < end) {
    const tag = readSize(reader);
    const { at } = reader;
    onField(tag);
    if (reader.at === at) passOver(reader, tag);
  }
  if (reader.at > end) throw endsEarly();
};

/** As `readFields`, of a message that is the value of a field. */
export const readMessage = (reader: Reader, onField: (tag: number) => void): void => {
  const end = readEnd(reader);
  readFields(reader, end, onField);
};

export const readBytes = (reader: Reader): Buffer => {
  const end = readEnd(reader);
  const bytes = reader.bytes.subarray(reader.at, end);
  reader.at = end;
  return bytes;
};

export const readText = (reader: Reader): string => {
  const end = readEnd(reader);
  const text = reader.bytes.toString('utf8', reader.at, end);
  reader.at = end;
  return text;
};

/** The only text that is wanted of a message. */
export const readOnlyText = (reader: Reader, wanted: number): string => {
  let text = '';
  readMessage(reader, (tag) => {
    if (tag === wanted) text = readText(reader);
  });
  return text;
};

/** Where the value ends whose size comes next. */
const readEnd = (reader: Reader): number => {
  const size = readSize(reader);
  const end = reader.at + size;
  if (end > reader.bytes.length) throw endsEarly();
  return end;
};

/** A tag or a size. */
const readSize = (reader: Reader): number => {
  const first = reader.bytes[reader.at];
  if (first === undefined || first >= 128) return Number(readNumber(reader));
  reader.at += 1;
  return first;
};

/** Seven bits in each byte, the lowest first. Up to 49 bits are added up without bigints, which take longer. */
export const readNumber = (reader: Reader): bigint => {
  let low = 0;
  for (let factor = 1; factor < 2 ** 49; factor *= 128) {
    const byte = readByte(reader);
    low += (byte % 128) * factor;
    if (byte < 128) return BigInt(low);
  }
  let value = BigInt(low);
  for (let shift = 49n; shift < 70n; shift += 7n) {
    const byte = readByte(reader);
    value += BigInt(byte % 128) << shift;
    if (byte < 128) return BigInt.asUintN(64, value);
  }
  throw new RangeError('a number in a message of the event store is too long');
};

/** A number of 64 bits, in hexadecimal, as ids are written. */
export const readHex = (reader: Reader): string => {
  let [low, high] = [0, 0];
  for (let shift = 0; shift < 70; shift += 7) {
    const byte = readByte(reader);
    const bits = byte & 0x7f;
    if (shift < 28) low |= bits << shift;
    else if (shift > 28) high |= bits << (shift - 32);
    else {
      low |= bits << 28;
      high |= bits >> 4;
    }
    if (byte < 128) break;
  }
  return hexOf(high) + hexOf(low);
};

const hexOf = (bits: number): string => (bits >>> 0).toString(16).padStart(8, '0');

const readByte = (reader: Reader): number => {
  const byte = reader.bytes[reader.at];
  if (byte === undefined) throw endsEarly();
  reader.at += 1;
  return byte;
};

/** By the kind of value that a tag names in its lowest three bits. */
const passOver = (reader: Reader, tag: number): void => {
  const kind = tag % 8;
  if (kind === 0) readNumber(reader);
  else if (kind === 1) reader.at += 8;
  else if (kind === 2) reader.at = readEnd(reader);
  else if (kind === 5) reader.at += 4;
  else throw new RangeError('a message of the event store has a field of an unknown kind');
};

const endsEarly = (): RangeError => new RangeError('a message of the event store ends early');

/** What is written begins at `at`. */
export interface Writer {
  readonly bytes: Buffer;
  at: number;
}

/**
 * A message is written from its end to its beginning, so that the size of what a field holds is known
 * when its beginning is written.
 * @param maxBytes no less than what is written
 */
export const createWriter = (maxBytes: number): Writer => ({ bytes: Buffer.allocUnsafe(maxBytes), at: maxBytes });

/** The most bytes that a text, or the beginning of a field, takes. */
export const maxTextBytes = (text: string): number => 3 * text.length;
export const MAX_FIELD_BYTES = 10;

/** Writes the beginning of a field around what was written since the writer was at `end`. */
export const wrap = (writer: Writer, tag: number, end: number): void => {
  writeSize(writer, end - writer.at);
  writeSize(writer, tag);
};

export const writeText = (writer: Writer, tag: number, text: string): void => {
  const end = writer.at;
  const size = Buffer.byteLength(text);
  writer.at -= size;
  writer.bytes.write(text, writer.at, size);
  wrap(writer, tag, end);
};

export const writeBytes = (writer: Writer, tag: number, bytes: Uint8Array): void => {
  const end = writer.at;
  writer.at -= bytes.length;
  writer.bytes.set(bytes, writer.at);
  wrap(writer, tag, end);
};

/** @param value from 0 to 2^64 - 1 */
export const writeNumber = (writer: Writer, tag: number, value: bigint): void => {
  if (value <= MAX_SIZE) writeSize(writer, Number(value));
  else {
    const bytes: number[] = [];
    for (let rest = value; rest > 0n; rest >>= 7n) bytes.push(Number(rest & 0x7fn) + (rest > 0x7fn ? 128 : 0));
    writer.at -= bytes.length;
    writer.bytes.set(bytes, writer.at);
  }
  writeSize(writer, tag);
};

const MAX_SIZE = 2n ** 31n - 1n;

/** A tag, a size, or a number of up to 31 bits. */
const writeSize = (writer: Writer, size: number): void => {
  let count = 1;
  for (let rest = size >>> 7; rest > 0; rest >>>= 7) count += 1;
  writer.at -= count;
  let rest = size;
  for (let at = writer.at; at < writer.at + count - 1; at += 1, rest >>>= 7) writer.bytes[at] = (rest & 0x7f) | 0x80;
  writer.bytes[writer.at + count - 1] = rest;
};
