import { createHash, randomBytes } from 'node:crypto';
import { copyFile, cp, readdir } from 'node:fs/promises';
import { request } from 'node:http';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { eventually } from '../support/eventually.js';
import { picture } from '../support/mediaFiles.js';
import { minioBucket, whereMinioIs } from '../support/minio.js';
import { createApi, mintToken, operate, startServer, type ServerProcess } from '../support/server.js';
import { temporaryFolder } from '../support/temporary.js';
import { formOf } from '../support/upload.js';

interface Document {
  readonly id: string;
  readonly sha256: string;
}

const sha256 = (content: Uint8Array): string => createHash('sha256').update(content).digest('hex');

const clientOf = ({ address }: ServerProcess, token: string) => {
  const api = createApi(address, token);
  return {
    api,
    newWebsite: async (): Promise<string> => {
      const { body } = await api.post('/websites', { name: 'Bakery', slug: 'bakery' });
      return `/websites/${(body as { id: string }).id}/documents`;
    },
    upload: async (path: string, content: Uint8Array, fields: Readonly<Record<string, string>> = {}): Promise<Document> => {
      const { raw, headers } = formOf({ content, name: 'data.bin' }, fields);
      const response = await fetch(`${address}/v1${path}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, ...headers },
        body: raw,
      });
      expect(response.status).toBe(201);
      return (await response.json()) as Document;
    },
    hashOf: async (path: string, id: string): Promise<string> => {
      const { body } = await api.get(`${path}/${id}/url`);
      const response = await fetch((body as { url: string }).url);
      expect(response.status).toBe(200);
      return sha256(Buffer.from(await response.arrayBuffer()));
    },
  };
};

/** Of a website's documents, the one of its images. */
const mediaOf = (path: string): string => path.replace(/documents$/, 'media');

const uploadImage = async ({ upload }: ReturnType<typeof clientOf>, path: string): Promise<Document> =>
  upload(mediaOf(path), await picture(640, 480).png().toBuffer(), { alt: 'A loaf' });

/** What a draft that shows an image has of it: the variants, which have no address of their own. */
const variantsOf = async ({ api }: ReturnType<typeof clientOf>, path: string, { id }: Document): Promise<string[]> => {
  const website = path.replace(/\/documents$/, '');
  await eventually(
    'an active website',
    async () => ((await api.get(website)).body as { status: string }).status === 'active' || undefined,
  );
  const { hash, body } = (await api.get(`${website}/content/company`)).body as { hash: string; body: object };
  const company = { ...body, picture: { mediaId: id } };
  expect((await api.put(`${website}/content/company`, { baseHash: hash, body: company })).status).toBe(200);
  const { url } = (await api.post(`${website}/content/preview`)).body as { url: string };
  const html = await (await fetch(url)).text();
  const addresses = [...new Set(html.match(new RegExp(`media/${id}/[\\w.-]+`, 'g')))].sort();
  expect(addresses).not.toEqual([]);
  return Promise.all(
    addresses.map(async (address) => {
      const response = await fetch(new URL(address, url));
      expect(response.status).toBe(200);
      return sha256(Buffer.from(await response.arrayBuffer()));
    }),
  );
};

const filesIn = async (folder: string): Promise<string[]> => {
  const entries = await readdir(join(folder, 'files'), { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name));
};

test('after a kill in the middle of uploads, every document that was answered is there whole, and no other', async () => {
  const dataDir = temporaryFolder();
  const token = await mintToken(dataDir);
  const server = await startServer(dataDir);
  const client = clientOf(server, token);
  const path = await client.newWebsite();
  const answered = [await client.upload(path, randomBytes(300_000))];
  const cutOff = request(`${server.address}/v1${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'multipart/form-data; boundary=b' },
  });
  cutOff.on('error', () => undefined);
  cutOff.write('--b\r\ncontent-disposition: form-data; name="file"; filename="half.bin"\r\n\r\n');
  cutOff.write(randomBytes(2_000_000));
  await eventually('a draft is there', async () =>
    (await readdir(join(dataDir, 'files', '.drafts'))).length > 0 ? true : undefined,
  );
  const uploading = (async () => {
    for (;;) answered.push(await client.upload(path, randomBytes(1_000_000)));
  })().catch(() => undefined);
  await eventually('some are answered', () => Promise.resolve(answered.length > 5 ? true : undefined));
  await server.kill('SIGKILL');
  await uploading;

  const again = await startServer(dataDir);
  const reader = clientOf(again, token);
  const { body } = await reader.api.get(`${path}?limit=200`);
  const listed = new Map((body as readonly Document[]).map((document) => [document.id, document]));
  for (const { id } of answered) expect(listed.has(id)).toBe(true);
  // One more may have been recorded whose answer was lost; it is whole too.
  expect(listed.size).toBeLessThanOrEqual(answered.length + 1);
  for (const { id, sha256: hash } of listed.values()) expect(await reader.hashOf(path, id)).toBe(hash);
  expect(await again.kill('SIGTERM')).toBe(0);
}, 120_000);

test('a backup has the documents and images, and the service hands them out when it is restored', async () => {
  const dataDir = temporaryFolder();
  const token = await mintToken(dataDir);
  const server = await startServer(dataDir);
  const client = clientOf(server, token);
  const path = await client.newWebsite();
  const documents = [await client.upload(path, randomBytes(2_000_000)), await client.upload(path, Buffer.from('Notes'))];
  const image = await uploadImage(client, path);
  const variants = await variantsOf(client, path, image);
  const backup = join(temporaryFolder(), 'backup');
  await operate(dataDir, 'backup', [backup]);
  await server.kill('SIGTERM');

  const restored = join(temporaryFolder(), 'restored');
  await cp(backup, restored, { recursive: true });
  await copyFile(join(dataDir, 'encryption.key'), join(restored, 'encryption.key'));
  const again = await startServer(restored);
  const reader = clientOf(again, token);
  for (const { id, sha256: hash } of documents) expect(await reader.hashOf(path, id)).toBe(hash);
  expect(await reader.hashOf(mediaOf(path), image.id)).toBe(image.sha256);
  expect(await variantsOf(reader, path, image)).toEqual(variants);
  expect(await again.kill('SIGTERM')).toBe(0);
}, 120_000);

whereMinioIs(() => {
  test('a backup has the documents and images of the bucket, and they are restored into another one', async () => {
    const environmentOf = async (): Promise<Readonly<Record<string, string>>> => {
      const { bucket, endpoint = '', credentials } = await minioBucket();
      const { accessKeyId = '', secretAccessKey = '' } = credentials ?? {};
      return {
        S3_BUCKET: bucket,
        S3_ENDPOINT: endpoint,
        AWS_ACCESS_KEY_ID: accessKeyId,
        AWS_SECRET_ACCESS_KEY: secretAccessKey,
      };
    };
    const first = await environmentOf();
    const dataDir = temporaryFolder();
    const token = await mintToken(dataDir);
    const server = await startServer(dataDir, first);
    const client = clientOf(server, token);
    const path = await client.newWebsite();
    const documents = [await client.upload(path, randomBytes(10_000_000)), await client.upload(path, Buffer.from('Notes'))];
    const image = await uploadImage(client, path);
    const variants = await variantsOf(client, path, image);
    const backup = join(temporaryFolder(), 'backup');
    expect(await operate(dataDir, 'backup', [backup], first)).toContain('6 files of the bucket');
    expect(await filesIn(backup)).toHaveLength(6);
    expect(await readdir(dataDir)).not.toContain('files');
    await server.kill('SIGTERM');

    const second = await environmentOf();
    expect(await operate(backup, 'restoreFiles', [backup], second)).toBe('6 files restored');
    expect(await operate(backup, 'restoreFiles', [backup], second)).toBe('0 files restored');
    await copyFile(join(dataDir, 'encryption.key'), join(backup, 'encryption.key'));
    const again = await startServer(backup, second);
    const reader = clientOf(again, token);
    for (const { id, sha256: hash } of documents) expect(await reader.hashOf(path, id)).toBe(hash);
    expect(await reader.hashOf(mediaOf(path), image.id)).toBe(image.sha256);
    expect(await variantsOf(reader, path, image)).toEqual(variants);
    expect(await again.kill('SIGTERM')).toBe(0);
    await expect(operate(backup, 'restoreFiles', [backup])).rejects.toThrow('S3_BUCKET: is not set');
  }, 120_000);
});
