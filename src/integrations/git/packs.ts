import { open, readdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { nullIfMissing } from '../embeddedFiles.js';
import { damaged, readBytes, UnreadableRepository, type Source } from './source.js';

/** Git packs anew from 50 on. */
const maxPacks = 500;
/** Of the packs of a repository and their indexes, how much is read at once instead of piece by piece. */
const maxKeptBytes = 8 * 1024 * 1024;

/** A pack with its index, version 2. */
export interface Pack {
  readonly path: string;
  readonly index: OpenFile;
  readonly file: OpenFile;
  /** Where an object starts in the pack, or null. */
  readonly find: (id: string) => Promise<number | null>;
}

export interface Place {
  readonly pack: Pack;
  readonly offset: number;
}

/** `base`: the object, or its offset, that this one is the difference to. */
export interface Entry {
  readonly kind: string;
  readonly size: number;
  readonly base?: string | number;
  readonly source: Source;
}

/** A whole file, as a source. */
type OpenFile = Source & { readonly close: () => Promise<void> };

export const openPacks = async (folder: string): Promise<readonly Pack[]> => {
  const names = ((await nullIfMissing(readdir(folder))) ?? []).filter((name) => name.endsWith('.idx'));
  if (names.length > maxPacks) throw new UnreadableRepository('The repository has too many packs', true);
  const opened: OpenFile[] = [];
  let kept = 0;
  const openFile = async (path: string): Promise<OpenFile> => {
    const handle = await open(path, 'r');
    const whole: OpenFile = { file: handle, at: 0, end: Infinity, close: () => handle.close() };
    opened.push(whole);
    const { size } = await handle.stat();
    if (kept + size > maxKeptBytes) return { ...whole, end: size };
    kept += size;
    const content = await readBytes(whole, size);
    return { ...whole, file: content, end: content.length };
  };
  try {
    const packs: Pack[] = [];
    for (const name of names) {
      const path = join(folder, name);
      const [index, file] = [await openFile(path), await openFile(path.replace(/idx$/, 'pack'))];
      packs.push({ path, index, file, find: await finderOf(path, index) });
    }
    return packs;
  } catch (error) {
    await Promise.all(opened.map((file) => file.close()));
    throw error;
  }
};

const fanoutBytes = 8 + 256 * 4;

const finderOf = async (path: string, index: OpenFile): Promise<Pack['find']> => {
  const part = async (at: number, length: number): Promise<Buffer> => {
    const bytes = await readBytes({ ...index, at }, length);
    if (bytes.length !== length) throw damaged(basename(path));
    return bytes;
  };
  const fanout = await part(0, fanoutBytes);
  if (fanout.readUInt32BE(0) !== 0xff744f63 || fanout.readUInt32BE(4) !== 2) throw damaged(basename(path));
  const countUpTo = (first: number): number => (first < 0 ? 0 : fanout.readUInt32BE(8 + first * 4));
  const count = countUpTo(255);
  const offsetsAt = fanoutBytes + count * 24;

  return async (id) => {
    const wanted = Buffer.from(id, 'hex');
    const [first = 0] = wanted;
    let [low, high] = [countUpTo(first - 1), countUpTo(first)];
    while (low < high) {
      const middle = Math.floor((low + high) / 2);
      const order = Buffer.compare(await part(fanoutBytes + middle * 20, 20), wanted);
      if (order === 0) {
        const offset = (await part(offsetsAt + middle * 4, 4)).readUInt32BE(0);
        if (offset < 0x80000000) return offset;
        return Number((await part(offsetsAt + count * 4 + (offset - 0x80000000) * 8, 8)).readBigUInt64BE(0));
      }
      if (order < 0) low = middle + 1;
      else high = middle;
    }
    return null;
  };
};

export const firstPlace = async (packs: readonly Pack[], id: string): Promise<Place | null> => {
  for (const pack of packs) {
    const offset = await pack.find(id);
    if (offset !== null) return { pack, offset };
  }
  return null;
};

const kinds: Readonly<Record<number, string>> = { 1: 'commit', 2: 'tree', 3: 'blob', 4: 'tag' };

/** Reads an entry's header: its kind, its size, and its base. */
export const readEntry = async ({ pack, offset }: Place): Promise<Entry> => {
  const { file, path } = pack;
  const bytes = await readBytes({ ...file, at: offset }, 48);
  let at = 0;
  const next = (): number => {
    const byte = bytes[at];
    if (byte === undefined) throw damaged(basename(path));
    at += 1;
    return byte;
  };
  const first = next();
  const type = (first >> 4) & 7;
  let size = first & 15;
  for (let [byte, factor] = [first, 16]; byte >= 0x80; factor *= 128) {
    byte = next();
    size += (byte & 0x7f) * factor;
  }
  let base: string | number | undefined;
  if (type === 6) {
    let byte = next();
    let back = byte & 0x7f;
    while (byte >= 0x80) {
      byte = next();
      back = (back + 1) * 128 + (byte & 0x7f);
    }
    base = offset - back;
    if (back === 0 || base < 0) throw damaged(basename(path));
  } else if (type === 7) {
    base = bytes.subarray(at, at + 20).toString('hex');
    at += 20;
  }
  const kind = base === undefined ? kinds[type] : 'difference';
  if (kind === undefined) throw damaged(basename(path));
  return { kind, size, source: { ...file, at: offset + at }, ...(base !== undefined && { base }) };
};
