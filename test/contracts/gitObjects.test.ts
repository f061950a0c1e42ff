import { createHash, randomBytes } from 'node:crypto';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { deflateSync } from 'node:zlib';
import { afterEach, describe, expect, test } from '@jest/globals';
import { openObjects, type ObjectKind } from '../../src/integrations/git/objects.js';
import { branchHead } from '../../src/integrations/git/refs.js';
import { openFiles } from '../support/openFiles.js';
import { temporaryFolder } from '../support/temporary.js';
import { commitTo, git, repositoryOf } from './hostingSites.js';

const limits = { maxObjectBytes: 1_000_000, maxBytesInAll: 20_000_000 };

// Also of what is refused.
afterEach(() => {
  expect(openFiles('/objects/')).toBe(0);
});

const readIn = async (gitdir: string, id: string, kind: ObjectKind = 'blob'): Promise<Buffer> => {
  const objects = await openObjects(gitdir, limits);
  try {
    return await objects.read(id, kind);
  } finally {
    await objects.close();
  }
};

/** An entry of a pack: what it is, how long it says it is, and its data. */
interface Entry {
  readonly type: 3 | 6 | 7;
  readonly size: number;
  /** Of a difference: how far back its base is, or the base's id. */
  readonly base?: number | string;
  readonly data: Uint8Array;
  /** What the index calls it. */
  readonly id: string;
}

const idOf = (content: Uint8Array): string =>
  createHash('sha1')
    .update(`blob ${String(content.length)}\0`)
    .update(content)
    .digest('hex');
const sizeHeader = (type: number, size: number): Buffer => {
  const bytes = [(type << 4) | (size & 15)];
  for (let rest = Math.floor(size / 16); rest > 0; rest = Math.floor(rest / 128)) {
    bytes.push((bytes.pop() ?? 0) | 0x80);
    bytes.push(rest & 0x7f);
  }
  return Buffer.from(bytes);
};
const varint = (value: number): number[] => (value < 128 ? [value] : [(value & 0x7f) | 0x80, ...varint(Math.floor(value / 128))]);
/** One `Entry` base less than 128 bytes back. */
const baseHeader = (base: number | string | undefined): Buffer =>
  base === undefined ? Buffer.alloc(0) : typeof base === 'number' ? Buffer.from([base]) : Buffer.from(base, 'hex');

/** A repository with one pack and its index as they are given, valid or not. */
const packOf = async (entries: readonly Entry[]): Promise<string> => {
  const gitdir = temporaryFolder();
  const folder = join(gitdir, 'objects', 'pack');
  await mkdir(folder, { recursive: true });
  const parts: Uint8Array[] = [Buffer.from('PACK\0\0\0\x02\0\0\0\x01', 'latin1')];
  const offsets = entries.map(({ type, size, base, data }) => {
    const offset = parts.reduce((sum, { length }) => sum + length, 0);
    parts.push(sizeHeader(type, size), baseHeader(base), deflateSync(data));
    return offset;
  });
  await writeFile(join(folder, 'pack-a.pack'), Buffer.concat([...parts, Buffer.alloc(20)]));
  const sorted = entries
    .map(({ id }, index) => ({ id, offset: offsets[index] ?? 0 }))
    .sort((one, other) => (one.id < other.id ? -1 : 1));
  const uint32 = (value: number): Buffer => {
    const bytes = Buffer.alloc(4);
    bytes.writeUInt32BE(value);
    return bytes;
  };
  const fanout = Array.from({ length: 256 }, (_, first) =>
    uint32(sorted.filter(({ id }) => Number.parseInt(id.slice(0, 2), 16) <= first).length),
  );
  const index = [
    Buffer.from([0xff, 0x74, 0x4f, 0x63, 0, 0, 0, 2]),
    ...fanout,
    ...sorted.map(({ id }) => Buffer.from(id, 'hex')),
    ...sorted.map(() => uint32(0)),
    ...sorted.map(({ offset }) => uint32(offset)),
    Buffer.alloc(40),
  ];
  await writeFile(join(folder, 'pack-a.idx'), Buffer.concat(index));
  return gitdir;
};

const blob = (text: string): Entry => {
  const data = Buffer.from(text);
  return { type: 3, size: data.length, data, id: idOf(data) };
};
const difference = (parts: { base: number | string; from: number; to: number; instructions: number[]; id?: string }): Entry => {
  const data = Buffer.from([...varint(parts.from), ...varint(parts.to), ...parts.instructions]);
  return {
    type: typeof parts.base === 'number' ? 6 : 7,
    size: data.length,
    base: parts.base,
    data,
    id: parts.id ?? 'cd'.repeat(20),
  };
};
const home = blob('Home');
/** How far the entry after `home` is behind it. */
const back = 1 + deflateSync(home.data).length;

describe('what git has made', () => {
  const many = Object.fromEntries(
    Array.from({ length: 40 }, (_, index) => [
      `${String(index)}.txt`,
      `${'line of a file\n'.repeat(400)}${String(index)}\n`.repeat(3),
    ]),
  );

  test('is read, whether it is loose, packed, or a chain of differences', async () => {
    const repository = repositoryOf(many);
    const gitdir = fileURLToPath(repository.cloneUrl);
    for (const command of [[], ['gc', '--quiet'], ['repack', '-adfq', '--depth=30', '--window=40']]) {
      if (command.length > 0) git(gitdir, command);
      for (const [name, content] of Object.entries(many).slice(0, 10)) {
        expect((await readIn(gitdir, git(gitdir, ['rev-parse', `main:${name}`]))).toString()).toBe(content);
      }
    }
    const [pack = ''] = (await readdir(join(gitdir, 'objects/pack'))).filter((name) => name.endsWith('.idx'));
    expect(git(gitdir, ['verify-pack', '-v', join('objects/pack', pack)])).toMatch(/chain length = \d/);
    await expect(readIn(gitdir, 'ef'.repeat(20))).rejects.toThrow(/is missing/);
  });

  test('a branch is found, loose and packed', async () => {
    const repository = repositoryOf({ 'a.txt': 'a' });
    const gitdir = fileURLToPath(repository.cloneUrl);
    const first = git(gitdir, ['rev-parse', 'main']);
    expect(await branchHead(gitdir, 'main')).toBe(first);
    git(gitdir, ['pack-refs', '--all']);
    expect(await branchHead(gitdir, 'main')).toBe(first);
    git(gitdir, ['update-ref', 'refs/heads/main', first]);
    const second = commitTo(repository, { 'a.txt': 'b' });
    expect(await branchHead(gitdir, 'main')).toBe(second);
    expect(await branchHead(gitdir, 'other')).toBeNull();
    expect(await branchHead('/nowhere', 'main')).toBeNull();
    await writeFile(join(gitdir, 'refs/heads/main'), 'ref: refs/heads/main\n');
    await expect(branchHead(gitdir, 'main')).rejects.toMatchObject({ name: 'UnreadableRepository' });
  });
});

describe('a crafted pack', () => {
  const copyAll = (times: number): number[] => Array.from({ length: times }, () => [0x90, 4]).flat();

  test('is read when it holds what it says', async () => {
    const twice = difference({
      base: back,
      from: 4,
      to: 9,
      instructions: [...copyAll(2), 1, 33],
      id: idOf(Buffer.from('HomeHome!')),
    });
    const gitdir = await packOf([home, twice]);
    expect((await readIn(gitdir, home.id)).toString()).toBe('Home');
    expect((await readIn(gitdir, twice.id)).toString()).toBe('HomeHome!');
    const byId = { ...twice, type: 7 as const, base: home.id };
    expect((await readIn(await packOf([home, byId]), byId.id)).toString()).toBe('HomeHome!');
  });

  const zeros = Buffer.alloc(20_000_000);
  const tooLarge = { name: 'UnreadableRepository', isTooLarge: true };
  const damagedObject = { name: 'UnreadableRepository', isTooLarge: false };
  const cd = 'cd'.repeat(20);
  test.each<[string, readonly Entry[], object]>([
    ['an object that says how large it is', [{ type: 3, size: zeros.length, data: zeros, id: cd }], tooLarge],
    ['an object that is larger than it says', [{ type: 3, size: 10, data: zeros, id: cd }], damagedObject],
    ['an object that is smaller than it says', [{ type: 3, size: 900_000, data: Buffer.from('x'), id: cd }], damagedObject],
    ['a size of many digits', [{ type: 3, size: 2 ** 60, data: Buffer.from('x'), id: cd }], tooLarge],
    [
      'a small difference that makes a large object',
      [home, difference({ base: back, from: 4, to: 4_000_000_000, instructions: copyAll(9) })],
      tooLarge,
    ],
    [
      'a difference that says it is large',
      [home, { ...difference({ base: back, from: 4, to: 8, instructions: copyAll(2) }), size: zeros.length }],
      tooLarge,
    ],
    ['a difference to another base', [home, difference({ base: back, from: 5, to: 8, instructions: copyAll(2) })], damagedObject],
    [
      'a difference that copies what is not there',
      [home, difference({ base: back, from: 4, to: 9, instructions: [0x91, 3, 9] })],
      damagedObject,
    ],
    [
      'a difference that writes too much',
      [home, difference({ base: back, from: 4, to: 5, instructions: copyAll(2) })],
      damagedObject,
    ],
    [
      'a difference that writes too little',
      [home, difference({ base: back, from: 4, to: 9, instructions: copyAll(2) })],
      damagedObject,
    ],
    [
      'a difference with an unknown instruction',
      [home, difference({ base: back, from: 4, to: 9, instructions: [0] })],
      damagedObject,
    ],
    ['a difference to itself', [difference({ base: cd, from: 4, to: 8, instructions: copyAll(2) })], tooLarge],
    [
      'a difference to what comes before the pack',
      [difference({ base: 127, from: 4, to: 8, instructions: copyAll(2) })],
      damagedObject,
    ],
    ['a difference to nothing', [difference({ base: 'ab'.repeat(20), from: 4, to: 8, instructions: copyAll(2) })], damagedObject],
    ['an object under the name of another', [{ ...home, id: cd }], damagedObject],
  ])('is refused, at once and with little memory: %s', async (_, entries, error) => {
    const gitdir = await packOf(entries);
    const before = process.memoryUsage().arrayBuffers;
    await expect(readIn(gitdir, cd)).rejects.toMatchObject(error);
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(10_000_000);
  });

  test('is read piece by piece when it is large', async () => {
    const pictures = Array.from({ length: 9 }, () => randomBytes(1_000_000));
    const entries = pictures.map((data) => ({ type: 3 as const, size: data.length, data, id: idOf(data) }));
    const gitdir = await packOf([home, ...entries]);
    expect((await readIn(gitdir, home.id)).toString()).toBe('Home');
    const last = entries.at(-1);
    expect((await readIn(gitdir, last?.id ?? '')).equals(last?.data ?? Buffer.alloc(0))).toBe(true);
  });

  test('is refused when everything in all is too much, though each object is not', async () => {
    const large = { ...blob('x'.repeat(900_000)) };
    const objects = await openObjects(await packOf([large]), limits);
    const readAll = async (): Promise<void> => {
      for (let count = 0; count < 40; count += 1) await objects.read(large.id, 'blob');
    };
    await expect(readAll()).rejects.toMatchObject(tooLarge);
    await objects.close();
  });

  test('is refused when its index is none', async () => {
    const gitdir = await packOf([home]);
    await writeFile(join(gitdir, 'objects/pack/pack-a.idx'), 'index');
    await expect(readIn(gitdir, home.id)).rejects.toMatchObject(damagedObject);
  });
});
