import { describe, expect, test } from '@jest/globals';
import { contentFiles, ContentTooLarge, type SiteMedia } from '../../src/events/content/content.files.js';

const picture = (id: string, bytes: number, read: (id: string) => void = () => undefined): SiteMedia => ({
  id,
  alt: 'A loaf',
  width: 800,
  height: 600,
  variants: [
    {
      name: '800.webp',
      width: 800,
      type: 'image/webp',
      bytes,
      content: () => {
        read(id);
        return Promise.resolve(Buffer.from(id));
      },
    },
  ],
});
const noMedia = () => Promise.resolve(null);

const textsOf = async (
  documents: Readonly<Record<string, unknown>>,
  findMedia: (mediaId: string) => Promise<SiteMedia | null> = noMedia,
  present: readonly string[] = [],
): Promise<Readonly<Record<string, string>>> => {
  const stored = Object.entries(documents).map(([id, body]) => ({ id, json: JSON.stringify(body) }));
  const files = await contentFiles(stored, ['company'], findMedia, new Set(present));
  return Object.fromEntries([...files].map(([path, content]) => [path, Buffer.from(content).toString('utf8')]));
};

/** A list in 60 others, of as many numbers. */
const nested = (numbers: number): unknown => {
  let value: unknown = Array<number>(numbers).fill(0);
  for (let depth = 0; depth < 60; depth += 1) value = [value];
  return value;
};

describe('the files of content', () => {
  test('are in lines, for people', async () => {
    expect(await textsOf({ company: { name: 'Bäcker' }, note: [1] })).toEqual({
      '_data/company.json': '{\n  "name": "Bäcker"\n}\n',
      '_content/note.json': '[\n  1\n]\n',
    });
  });

  test('are in one line where lines would take many times as much', async () => {
    const body = nested(100_000);
    const { '_content/deep.json': text = '' } = await textsOf({ deep: body });
    expect(text).toBe(`${JSON.stringify(body)}\n`);
  });

  test('have each picture once', async () => {
    const read: string[] = [];
    const find = (id: string) => Promise.resolve(picture(id, 4, (one) => read.push(one)));
    const files = await textsOf({ a: [{ mediaId: 'loaf' }, { mediaId: 'loaf' }], b: { mediaId: 'loaf' } }, find);
    expect(Object.keys(files)).toEqual(['media/loaf/800.webp', '_content/a.json', '_content/b.json']);
    expect(read).toEqual(['loaf']);
    expect(JSON.parse(files['_content/b.json'] ?? '')).toMatchObject({ alt: 'A loaf', src: 'media/loaf/800.webp' });
  });

  test('are refused before a picture is read that is too much', async () => {
    const read: string[] = [];
    const find = (id: string) => Promise.resolve(picture(id, 50_000_000, (one) => read.push(one)));
    const body = ['a', 'b', 'c'].map((mediaId) => ({ mediaId }));
    await expect(textsOf({ company: body }, find)).rejects.toThrow(ContentTooLarge);
    expect(read).toEqual(['a', 'b']);
  });

  test('have no picture that the repository has already', async () => {
    const read: string[] = [];
    const find = (id: string) => Promise.resolve(picture(id, 60_000_000, (one) => read.push(one)));
    const files = await textsOf({ company: [{ mediaId: 'loaf' }] }, find, ['loaf']);
    expect(Object.keys(files)).toEqual(['_data/company.json']);
    expect(JSON.parse(files['_data/company.json'] ?? '')).toMatchObject([{ src: 'media/loaf/800.webp' }]);
    expect(read).toEqual([]);
  });

  test('are refused with an image or video that no site can show', async () => {
    const find = (id: string) => Promise.resolve(picture(id, 50 * 1024 * 1024 + 1));
    await expect(textsOf({ company: { mediaId: 'loaf' } }, find)).rejects.toThrow('loaf is too large');
  });

  test('are refused when a document describes a picture too often', async () => {
    const find = (id: string) => Promise.resolve({ ...picture(id, 4), alt: 'x'.repeat(300) });
    const body = Array.from({ length: 20_000 }, () => ({ mediaId: 'loaf' }));
    await expect(textsOf({ company: body }, find)).rejects.toThrow('The content is too large: at most 8 MB a document');
  });

  test('are refused when documents and pictures are too much together', async () => {
    const find = (id: string) => Promise.resolve(picture(id, 42_633_200));
    const documents = { company: ['a', 'b', 'c'].map((mediaId) => ({ mediaId })), note: 'x'.repeat(90_000) };
    expect(Object.keys(await textsOf(documents, find))).toHaveLength(5);
    await expect(textsOf({ ...documents, more: 'x'.repeat(10_000) }, find)).rejects.toThrow(ContentTooLarge);
  });
});
