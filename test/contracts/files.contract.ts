import { createHash, randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { beforeAll, describe, expect, test } from '@jest/globals';
import type { FileStore, ListedFile } from '../../src/integrations/files/port.js';

/** What an adapter provides to the suite. */
export interface FilesUnderTest {
  readonly files: FileStore;
  /** Keys and drafts that are there, read independently of the adapter. */
  readonly names: () => Promise<readonly string[]>;
}

const MiB = 1024 * 1024;

/** In pieces of odd sizes, as they come from a network. */
export const inPieces = (content: Buffer): AsyncIterable<Uint8Array> => {
  const pieces: Buffer[] = [];
  for (let at = 0, size = 1; at < content.length; at += size, size = Math.min(size * 3 + 1, 200_001)) {
    pieces.push(content.subarray(at, at + size));
  }
  return Readable.from(pieces);
};

async function* cutOff(content: Buffer, fault: Error): AsyncGenerator<Uint8Array, void> {
  yield* inPieces(content);
  throw fault;
}

/** The contract of every file store (`src/integrations/files/port.ts`). */
export const filesContract = (adapter: string, open: () => Promise<FilesUnderTest>): void => {
  describe(`files: ${adapter}`, () => {
    let files: FileStore;
    let names: FilesUnderTest['names'];
    beforeAll(async () => {
      ({ files, names } = await open());
    });

    let keys = 0;
    const freshKey = (): string => `website-1/file${String((keys += 1))}`;
    const store = (key: string, content: Buffer, max = 100 * MiB) => files.store(key, inPieces(content), max);
    const read = async (key: string, range?: { start: number; end: number }): Promise<Buffer | null> => {
      const found = await files.read(key, range);
      return found === null ? null : buffer(found.content);
    };
    const list = async (prefix: string): Promise<ListedFile[]> => {
      const found: ListedFile[] = [];
      for await (const file of files.list(prefix)) found.push(file);
      return found.sort((one, other) => (one.key < other.key ? -1 : 1));
    };

    test.each([0, 1, 5 * MiB, 8 * MiB - 1, 8 * MiB, 8 * MiB + 1, 20 * MiB + 3])(
      'a file of %i bytes is read back as it was stored, with its size and its hash',
      async (bytes) => {
        const content = randomBytes(bytes);
        const key = freshKey();
        expect(await store(key, content)).toEqual({
          bytes,
          sha256: createHash('sha256').update(content).digest('hex'),
        });
        const found = await files.read(key);
        expect(found?.bytes).toBe(bytes);
        expect(found !== null && (await buffer(found.content)).equals(content)).toBe(true);
      },
    );

    test('a part of a file is read with the size of the whole', async () => {
      const key = freshKey();
      await store(key, Buffer.from('0123456789'));
      expect(await read(key, { start: 2, end: 4 })).toEqual(Buffer.from('234'));
      expect(await read(key, { start: 0, end: 0 })).toEqual(Buffer.from('0'));
      expect(await read(key, { start: 9, end: 9 })).toEqual(Buffer.from('9'));
      const found = await files.read(key, { start: 2, end: 4 });
      expect(found?.bytes).toBe(10);
      found?.content.destroy();
    });

    test('what was never stored is not there, and can be removed', async () => {
      const key = freshKey();
      expect(await files.read(key)).toBeNull();
      await files.remove(key);
      await files.remove('website-none/file');
      expect(await files.read(key)).toBeNull();
    });

    test('a file that was removed is gone, and its neighbour stays', async () => {
      const [one, other] = [freshKey(), freshKey()];
      await store(one, Buffer.from('one'));
      await store(other, Buffer.from('other'));
      await files.remove(one);
      expect(await read(one)).toBeNull();
      expect(await read(other)).toEqual(Buffer.from('other'));
    });

    test('a file that is stored again is replaced whole', async () => {
      const key = freshKey();
      await store(key, Buffer.from('a longer text'));
      await store(key, Buffer.from('short'));
      expect(await read(key)).toEqual(Buffer.from('short'));
    });

    test.each([
      ['small', 1_000],
      ['in several parts', 9 * MiB],
    ])('content that is cut off leaves nothing: %s', async (_, bytes) => {
      const key = freshKey();
      const before = await names();
      const fault = Object.assign(new Error('the sender went away'), { code: 'ECONNRESET' });
      await expect(files.store(key, cutOff(randomBytes(bytes), fault), 100 * MiB)).rejects.toBe(fault);
      expect(await files.read(key)).toBeNull();
      expect(await names()).toEqual(before);
    });

    test.each([
      ['small', 1_000],
      ['in several parts', 9 * MiB],
    ])('a file that is cut off leaves the one that it was to replace: %s', async (_, bytes) => {
      const key = freshKey();
      await store(key, Buffer.from('the first'));
      await expect(files.store(key, cutOff(randomBytes(bytes), new Error('gone')), 100 * MiB)).rejects.toThrow('gone');
      expect(await read(key)).toEqual(Buffer.from('the first'));
    });

    test.each([10, 9 * MiB])('a file of more than %i bytes, which are allowed, leaves nothing', async (max) => {
      const key = freshKey();
      const before = await names();
      await expect(store(key, randomBytes(max + 1), max)).rejects.toMatchObject({ name: 'FileTooLarge' });
      expect(await names()).toEqual(before);
      expect(await store(key, randomBytes(max), max)).toMatchObject({ bytes: max });
    });

    test('files are listed with size and time by the beginning of their keys', async () => {
      const now = Date.now();
      await store('site-a/one', Buffer.from('1'));
      await store('site-a/two', Buffer.from('22'));
      await store('site-ab/three', Buffer.from('333'));
      expect((await list('site-a/')).map(({ key, bytes }) => [key, bytes])).toEqual([
        ['site-a/one', 1],
        ['site-a/two', 2],
      ]);
      expect((await list('site-a')).map(({ key }) => key)).toEqual(['site-a/one', 'site-a/two', 'site-ab/three']);
      expect(await list('site-b/')).toEqual([]);
      expect((await list('')).map(({ key }) => key)).toEqual(expect.arrayContaining(['site-a/one', 'site-ab/three']));
      for (const { storedAt } of await list('site-a/')) expect(Math.abs(storedAt - now)).toBeLessThan(60_000);
    });

    test.each(['', '/', '..', '../x', 'a/../b', 'a//b', '.drafts/x', 'a/.b', '/etc/passwd', 'a\\b', 'a\0b', 'a'.repeat(201)])(
      'nothing is stored, read or removed under %j',
      async (key) => {
        const before = await names();
        const refusal = /is not the key of a file/;
        await expect(store(key, Buffer.from('x'))).rejects.toThrow(refusal);
        await expect((async () => files.read(key))()).rejects.toThrow(refusal);
        await expect((async () => files.remove(key))()).rejects.toThrow(refusal);
        expect(await names()).toEqual(before);
      },
    );

    test('20 files that are stored at the same time are all there', async () => {
      const contents = Array.from({ length: 20 }, (_, index) => [`crowd/${String(index)}`, randomBytes(100_000)] as const);
      await Promise.all(contents.map(([key, content]) => store(key, content)));
      for (const [key, content] of contents) expect((await read(key))?.equals(content)).toBe(true);
    });
  });
};
