import { createHash } from 'node:crypto';
import { open } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { nullIfMissing } from '../embeddedFiles.js';
import { applyDifference } from './difference.js';
import { firstPlace, openPacks, readEntry, type Entry, type Place } from './packs.js';
import { damaged, inflateExactly, inflateStart, UnreadableRepository, type Source } from './source.js';

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
  /**
   * Whether there is such an object of this kind.
   * @throws UnreadableRepository when it is damaged or too large
   */
  has(id: string, kind: ObjectKind): Promise<boolean>;
  close(): Promise<void>;
}

export type ObjectKind = 'commit' | 'tree' | 'blob';

export interface ReadLimits {
  /** Of one object, and of every object that it is stored as a difference to. */
  readonly maxObjectBytes: number;
  /** Of everything that is inflated or put together in all. */
  readonly maxBytesInAll: number;
}

/** Git itself makes no longer chains of differences. */
const maxChain = 4_095;

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
    has: async (id, kind) => ((await readPacked(id)) ?? (await readLoose(id)))?.kind === kind,
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
