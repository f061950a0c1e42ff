import { createHash } from 'node:crypto';
import { open, readdir, readFile, stat, type FileHandle } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { constants, inflate as inflateWithCallback, inflateSync } from 'node:zlib';
import { nullIfMissing } from './embeddedFiles.js';

/**
 * Reads the objects of a bare git repository whose content nobody has checked
 * (https://git-scm.com/docs/gitformat-pack): the size of everything is known, and refused if it is
 * too large, before it is inflated. A library that inflates first took 3 GB for a pack of 3 MB.
 */
export interface GitObjects {
  /**
   * The content of an object.
   * @throws UnreadableRepository when it is missing, damaged, of another kind or too large
   */
  read(id: string, kind: ObjectKind, maxBytes?: number): Promise<Buffer>;
  close(): Promise<void>;
}

export type ObjectKind = 'commit' | 'tree' | 'blob';

/** `isTooLarge`: nothing is damaged, but reading on would take more memory or time than allowed. */
export class UnreadableRepository extends Error {
  override readonly name = 'UnreadableRepository';
  readonly isTooLarge: boolean;
  constructor(message: string, isTooLarge = false) {
    super(message);
    this.isTooLarge = isTooLarge;
  }
}

export interface ReadLimits {
  /** Of one object, and of every object that it is stored as a difference to. */
  readonly maxObjectBytes: number;
  /** Of everything that is inflated or put together in all. */
  readonly maxBytesInAll: number;
}

/** Git itself makes no longer chains of differences. */
const maxChain = 4_095;
/** Git packs anew from 50 on. */
const maxPacks = 500;
const maxPackedRefsBytes = 4 * 1024 * 1024;
/** Of the packs of a repository and their indexes, how much is read at once instead of piece by piece. */
const maxKeptBytes = 8 * 1024 * 1024;
/** Handing less than that to another thread takes longer than inflating it. */
const maxInflatedHere = 64 * 1024;
const objectId = /^[0-9a-f]{40}$/;

const damaged = (what: string): UnreadableRepository => new UnreadableRepository(`${what} is damaged`);

/** Points to the commit that the embedded source host made of a template. */
export const templateRef = 'refs/doorstep/template';

/**
 * The commit that a branch points to, or null when the repository or the branch does not exist.
 * @throws UnreadableRepository when it points to something else
 */
export const branchHead = (gitdir: string, branch: string): Promise<string | null> => refTarget(gitdir, `refs/heads/${branch}`);

/** `branchHead` of any reference, by its whole name. */
export const refTarget = async (gitdir: string, ref: string): Promise<string | null> => {
  const loose = await smallFile(join(gitdir, ref), 1_024);
  if (loose !== null) {
    const id = loose.trim();
    if (!objectId.test(id)) throw damaged(`The reference ${ref}`);
    return id;
  }
  const packed = (await smallFile(join(gitdir, 'packed-refs'), maxPackedRefsBytes)) ?? '';
  const line = packed.split('\n').find((one) => one.slice(41).trimEnd() === ref && objectId.test(one.slice(0, 40)));
  return line?.slice(0, 40) ?? null;
};

const smallFile = async (path: string, maxBytes: number): Promise<string | null> => {
  const found = await nullIfMissing(stat(path));
  if (found === null) return null;
  if (found.size > maxBytes) throw new UnreadableRepository(`${basename(path)} is too large`, true);
  return nullIfMissing(readFile(path, 'utf8'));
};

/** Close it when it is no longer needed: it keeps files open. */
export const openObjects = async (gitdir: string, limits: ReadLimits): Promise<GitObjects> => {
  const { maxObjectBytes, maxBytesInAll } = limits;
  const folder = join(gitdir, 'objects');
  const packs = await openPacks(join(folder, 'pack'));
  let spent = 0;
  /** Must be called before memory for `bytes` is taken. */
  const charge = (bytes: number): void => {
    if (bytes > maxObjectBytes) throw new UnreadableRepository('An object is too large', true);
    spent += bytes;
    if (spent > maxBytesInAll) throw new UnreadableRepository('The repository is too large', true);
  };

  const readLoose = async (id: string): Promise<{ kind: string; content: Buffer } | null> => {
    const handle = await nullIfMissing(open(join(folder, id.slice(0, 2), id.slice(2)), 'r'));
    if (handle === null) return null;
    try {
      const source: Source = { file: handle, at: 0, end: (await handle.stat()).size };
      const header = /^(\w+) (\d{1,15})\0/.exec((await inflateStart(source, 32)).toString('latin1'));
      if (header === null) throw damaged(`Object ${id}`);
      const [{ length }, kind = '', size = ''] = header;
      charge(Number(size));
      return { kind, content: (await inflateExactly(source, length + Number(size))).subarray(length) };
    } finally {
      await handle.close();
    }
  };

  /** From the last difference down to the object that is stored whole. */
  const chainAt = async (found: Place): Promise<readonly Entry[]> => {
    const chain: Entry[] = [];
    for (let place = found; ;) {
      const entry = await readEntry(place);
      chain.push(entry);
      if (entry.base === undefined) return chain;
      if (chain.length > maxChain) throw new UnreadableRepository('A chain of differences is too long', true);
      if (typeof entry.base === 'number') place = { pack: place.pack, offset: entry.base };
      else {
        const offset = await place.pack.find(entry.base);
        // A pack holds all bases that its objects need.
        if (offset === null) throw damaged(basename(place.pack.path));
        place = { pack: place.pack, offset };
      }
    }
  };

  const readPacked = async (id: string): Promise<{ kind: string; content: Buffer } | null> => {
    const place = await firstPlace(packs, id);
    if (place === null) return null;
    const chain = await chainAt(place);
    const whole = chain.at(-1);
    if (whole === undefined) throw damaged(`Object ${id}`);
    // Before anything is inflated: each difference is charged too.
    for (const { size } of chain) charge(size);
    let content = await inflateExactly(whole.source, whole.size);
    for (const { source, size } of chain.slice(0, -1).reverse()) {
      const difference = await inflateExactly(source, size);
      content = applyDifference(content, difference, charge);
    }
    return { kind: whole.kind, content };
  };

  return {
    read: async (id, kind, maxBytes = maxObjectBytes) => {
      const found = (await readPacked(id)) ?? (await readLoose(id));
      if (found === null) throw new UnreadableRepository(`Object ${id} is missing`);
      if (found.kind !== kind) throw new UnreadableRepository(`Object ${id} is a ${found.kind}, not a ${kind}`);
      const { content } = found;
      if (content.length > maxBytes) throw new UnreadableRepository('An object is too large', true);
      const header = `${kind} ${String(content.length)}\0`;
      // A pack's index may say anything: folders would contain themselves.
      if (createHash('sha1').update(header).update(content).digest('hex') !== id) throw damaged(`Object ${id}`);
      return content;
    },
    close: async () => {
      await Promise.all(packs.flatMap(({ index, file }) => [index.close(), file.close()]));
    },
  };
};

/** A pack with its index, version 2. */
interface Pack {
  readonly path: string;
  readonly index: OpenFile;
  readonly file: OpenFile;
  /** Where an object starts in the pack, or null. */
  readonly find: (id: string) => Promise<number | null>;
}

interface Place {
  readonly pack: Pack;
  readonly offset: number;
}

/** `base`: the object, or its offset, that this one is the difference to. */
interface Entry {
  readonly kind: string;
  readonly size: number;
  readonly base?: string | number;
  readonly source: Source;
}

/** Where inflated data starts in a file, and where the file ends. `file`: or all that is in it. */
interface Source {
  readonly file: FileHandle | Buffer;
  readonly at: number;
  readonly end: number;
}

const readBytes = async ({ file, at, end }: Source, length: number): Promise<Buffer> => {
  const size = Math.max(0, Math.min(length, end - at));
  if (Buffer.isBuffer(file)) return file.subarray(at, at + size);
  const bytes = Buffer.alloc(size);
  const { bytesRead } = await file.read(bytes, 0, bytes.length, at);
  return bytes.subarray(0, bytesRead);
};

/** A whole file, as a source. */
type OpenFile = Source & { readonly close: () => Promise<void> };

const openPacks = async (folder: string): Promise<readonly Pack[]> => {
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

const firstPlace = async (packs: readonly Pack[], id: string): Promise<Place | null> => {
  for (const pack of packs) {
    const offset = await pack.find(id);
    if (offset !== null) return { pack, offset };
  }
  return null;
};

const kinds: Readonly<Record<number, string>> = { 1: 'commit', 2: 'tree', 3: 'blob', 4: 'tag' };

/** Reads an entry's header: its kind, its size, and its base. */
const readEntry = async ({ pack, offset }: Place): Promise<Entry> => {
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

const inflateElsewhere = promisify(inflateWithCallback);

/** What is packed last may be cut off. */
const inflate = async (packed: Buffer, maxBytes?: number): Promise<Buffer> => {
  const options = { finishFlush: constants.Z_SYNC_FLUSH, ...(maxBytes !== undefined && { maxOutputLength: maxBytes }) };
  return (maxBytes ?? Infinity) <= maxInflatedHere ? inflateSync(packed, options) : inflateElsewhere(packed, options);
};

/** Inflates the beginning of `source`, and of that not more than `maxBytes`. */
const inflateStart = async (source: Source, maxBytes: number): Promise<Buffer> => {
  // The tables that come first take up to 300 bytes; 512 bytes inflate to at most half a million.
  const packed = await readBytes(source, 512);
  try {
    return (await inflate(packed)).subarray(0, maxBytes);
  } catch {
    throw damaged('An object');
  }
};

/**
 * Inflates what must be `size` bytes long. Reads more and more of the file, because nothing says
 * how long the data is before it is inflated.
 */
const inflateExactly = async (source: Source, size: number): Promise<Buffer> => {
  // Data that cannot be compressed grows by less than that.
  const maxPackedBytes = size + Math.ceil(size / 1_000) + 64;
  for (let length = Math.min(maxPackedBytes, 16_384); ; length = Math.min(maxPackedBytes, length * 8)) {
    const packed = await readBytes(source, length);
    let content: Buffer;
    try {
      content = await inflate(packed, Math.max(size, 1));
    } catch {
      throw damaged('An object'); // It is not deflated, or longer than it says.
    }
    if (content.length === size) return content;
    if (content.length > size || length >= maxPackedBytes || packed.length < length) throw damaged('An object');
  }
};

/**
 * Puts an object together from its base and the difference.
 * @param charge is called with the size before memory is taken for it
 */
const applyDifference = (base: Buffer, difference: Buffer, charge: (bytes: number) => void): Buffer => {
  let at = 0;
  const next = (): number => {
    const byte = difference[at];
    if (byte === undefined) throw damaged('A difference');
    at += 1;
    return byte;
  };
  const size = (): number => {
    let value = 0;
    for (let factor = 1; ; factor *= 128) {
      const byte = next();
      value += (byte & 0x7f) * factor;
      if (byte < 0x80) return value;
    }
  };
  /** A number whose bytes are present where `instruction` has a bit from `first` on. */
  const sparse = (instruction: number, first: number, bytes: number): number => {
    let value = 0;
    for (let index = 0; index < bytes; index += 1) if ((instruction & (first << index)) !== 0) value += next() * 256 ** index;
    return value;
  };

  if (size() !== base.length) throw damaged('A difference');
  const length = size();
  charge(length);
  const content = Buffer.alloc(length);
  let written = 0;
  while (at < difference.length) {
    const instruction = next();
    const isCopy = instruction >= 0x80;
    const from = isCopy ? sparse(instruction, 1, 4) : at;
    const count = isCopy ? sparse(instruction, 16, 3) || 0x10000 : instruction;
    const source = isCopy ? base : difference;
    if (count === 0 || from + count > source.length || written + count > length) throw damaged('A difference');
    source.copy(content, written, from, from + count);
    written += count;
    if (!isCopy) at += count;
  }
  if (written !== length) throw damaged('A difference');
  return content;
};

/** The id of a commit's topmost folder, which stands for all that is in it. */
export const rootOf = async (objects: GitObjects, commit: string): Promise<string> => {
  const head = (await objects.read(commit, 'commit')).toString('latin1');
  const [, root] = /^tree ([0-9a-f]{40})\n/.exec(head) ?? [];
  if (root === undefined) throw new UnreadableRepository(`Commit ${commit} is damaged`);
  return root;
};

/** An entry of a folder. */
export interface TreeEntry {
  readonly mode: string;
  readonly name: string;
  readonly nameBytes: number;
  readonly id: string;
}

/** `<mode> <name>\0<20 bytes>`, again and again. */
export function* treeEntries(tree: Buffer): Generator<TreeEntry> {
  for (let at = 0; at < tree.length;) {
    const space = tree.indexOf(0x20, at);
    const end = tree.indexOf(0, space);
    if (space < 0 || end < 0 || end + 21 > tree.length) throw new UnreadableRepository('A folder is damaged');
    yield {
      mode: tree.toString('latin1', at, space).replace(/^0+/, ''),
      name: tree.toString('utf8', space + 1, end),
      nameBytes: end - space - 1,
      id: tree.toString('hex', end + 1, end + 21),
    };
    at = end + 21;
  }
}
