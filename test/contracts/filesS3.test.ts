import { once } from 'node:events';
import { createServer as createHttpServer } from 'node:http';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { ListMultipartUploadsCommand, ListObjectsV2Command, S3Client } from '@aws-sdk/client-s3';
import { afterAll, describe, expect, test } from '@jest/globals';
import { createS3Files } from '../../src/integrations/files/s3.js';
import type { BucketAccount } from '../../src/platform/settings/files.js';
import { eventually } from '../support/eventually.js';
import { minioBucket, whereMinioIs } from '../support/minio.js';
import { createTestClock } from '../support/testClock.js';
import { filesContract, inPieces } from './files.contract.js';

const download = { expiresInS: 300, contentType: 'application/pdf', disposition: `inline; filename="plan.pdf"` };

const namesIn = ({ bucket: Bucket, region, endpoint = '', credentials }: BucketAccount) => {
  const client = new S3Client({ region, endpoint, forcePathStyle: true, ...(credentials && { credentials }) });
  return async (): Promise<string[]> => {
    const { Contents = [] } = await client.send(new ListObjectsV2Command({ Bucket }));
    const { Uploads = [] } = await client.send(new ListMultipartUploadsCommand({ Bucket }));
    return [...Contents, ...Uploads].map(({ Key = '' }) => Key);
  };
};

whereMinioIs(() => {
  filesContract('S3 (MinIO)', async () => {
    const settings = await minioBucket();
    return { files: createS3Files(settings), names: namesIn(settings) };
  });

  test('a signed address gives the file as it is to be shown, in part too', async () => {
    const files = createS3Files(await minioBucket());
    await files.store('site/one', inPieces(Buffer.from('%PDF-1.7')), 100);
    const url = (await files.signedUrl('site/one', download)) ?? '';
    const response = await fetch(url);
    expect([response.status, await response.text()]).toEqual([200, '%PDF-1.7']);
    expect(response.headers.get('content-type')).toBe('application/pdf');
    expect(response.headers.get('content-disposition')).toBe('inline; filename="plan.pdf"');
    expect(response.headers.get('cache-control')).toBe('no-store');
    const part = await fetch(url, { headers: { range: 'bytes=1-3' } });
    expect([part.status, await part.text()]).toEqual([206, 'PDF']);
  });

  test('a signed address is refused for another file, with another name or type, and without its signature', async () => {
    const files = createS3Files(await minioBucket());
    for (const key of ['site/one', 'site/two']) await files.store(key, inPieces(Buffer.from(key)), 100);
    const url = (await files.signedUrl('site/one', download)) ?? '';
    const changed = [
      url.replace('site/one', 'site/two'),
      url.replace('application%2Fpdf', 'text%2Fhtml'),
      url.replace('plan.pdf', 'plan.html'),
      url.replace('X-Amz-Expires=300', 'X-Amz-Expires=3000'),
      url.replace(/X-Amz-Signature=\w+/, `X-Amz-Signature=${'0'.repeat(64)}`),
      url.split('?')[0] ?? '',
    ];
    expect(new Set([...changed, url]).size).toBe(7);
    for (const address of changed) expect((await fetch(address)).status).toBe(403);
  });

  test('a signed address lapses', async () => {
    const files = createS3Files(await minioBucket());
    await files.store('site/one', inPieces(Buffer.from('x')), 100);
    const url = (await files.signedUrl('site/one', { ...download, expiresInS: 1 })) ?? '';
    await eventually('the address has lapsed', async () => {
      const { status } = await fetch(url);
      return status === 403 ? true : undefined;
    });
  });

  test('an address of the bucket that names no file as a page never shows one', async () => {
    const settings = await minioBucket();
    const files = createS3Files(settings);
    await files.store('site/one', inPieces(Buffer.from('<script>')), 100);
    const client = new S3Client({
      ...settings,
      endpoint: settings.endpoint ?? '',
      forcePathStyle: true,
      credentials: settings.credentials ?? { accessKeyId: '', secretAccessKey: '' },
    });
    const { GetObjectCommand } = await import('@aws-sdk/client-s3');
    const found = await client.send(new GetObjectCommand({ Bucket: settings.bucket, Key: 'site/one' }));
    expect([found.ContentType, found.ContentDisposition]).toEqual(['application/octet-stream', 'attachment']);
  });

  test.each([
    ['a bucket that does not exist', { bucket: 'nowhere' }, { transient: false, message: 's3 answered 404 NoSuchBucket' }],
    [
      'another secret',
      { credentials: { accessKeyId: 'doorstep-tests', secretAccessKey: 'not-the-secret-of-them' } },
      { transient: false, message: 's3 answered 403 SignatureDoesNotMatch' },
    ],
    ['a server that is away', { endpoint: 'http://127.0.0.1:9' }, { transient: true, message: 's3 cannot be reached' }],
  ])('%s is a fault of the provider', async (_, changed, fault) => {
    const files = createS3Files({ ...(await minioBucket()), ...changed });
    const expected = { name: 'ProviderFault', provider: 's3', ...fault };
    await expect(files.store('site/one', inPieces(Buffer.from('x')), 100)).rejects.toMatchObject(expected);
    await expect(files.remove('site/one')).rejects.toMatchObject(expected);
  });
});

const credentials = { accessKeyId: 'id', secretAccessKey: 'secret' };

test.each([
  { bucket: 'agency', region: 'eu-central-1', endpoint: undefined },
  { bucket: 'agency', region: 'us-east-1', endpoint: undefined },
  { bucket: 'agency.example', region: 'eu-central-1', endpoint: undefined },
  { bucket: 'agency', region: 'cn-north-1', endpoint: undefined },
  { bucket: 'agency', region: 'us-east-1', endpoint: 'https://files.example.com:9000' },
])('pages can name where the addresses of $bucket in $region at $endpoint lead', async (settings) => {
  const files = createS3Files({ ...settings, credentials });
  expect(new URL((await files.signedUrl('site/one', download)) ?? '').origin).toBe(files.origin);
});

const servers: (() => void)[] = [];
afterAll(() => {
  for (const close of servers) close();
});

test('drafts are given up however many uploads of others the bucket lists before them', async () => {
  const ours = `${'0'.repeat(26)}/${'a'.repeat(36)}`;
  const old = (key: string, id: string) =>
    `<Upload><Key>${key}</Key><UploadId>${id}</UploadId><Initiated>2026-01-01T00:00:00.000Z</Initiated></Upload>`;
  const pages = new Map([
    [
      '',
      `<IsTruncated>true</IsTruncated><NextKeyMarker>b</NextKeyMarker><NextUploadIdMarker>1</NextUploadIdMarker>${old('b', '1')}`,
    ],
    [
      'b 1',
      `<IsTruncated>true</IsTruncated><NextKeyMarker>b</NextKeyMarker><NextUploadIdMarker>2</NextUploadIdMarker>${old('b', '2')}`,
    ],
    ['b 2', `<IsTruncated>false</IsTruncated>${old(ours, '3')}${old(`${ours}-960-gif`, '4')}${old(`${ours}-notes`, '5')}`],
  ]);
  const removed: string[] = [];
  const server = createHttpServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://s3');
    if (request.method === 'DELETE') {
      removed.push(`${pathname} ${searchParams.get('uploadId') ?? ''}`);
      response.writeHead(204).end();
      return;
    }
    const markers = ['key-marker', 'upload-id-marker'].flatMap((name) => searchParams.get(name) ?? []);
    response.end(`<ListMultipartUploadsResult>${pages.get(markers.join(' ')) ?? ''}</ListMultipartUploadsResult>`);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  servers.push(() => {
    server.closeAllConnections();
    server.close();
  });
  const endpoint = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`;
  const files = createS3Files({ bucket: 'agency', region: 'us-east-1', endpoint, credentials });
  expect(await files.removeDrafts(Date.UTC(2026, 0, 2))).toBe(2);
  expect(removed).toEqual([`/agency/${ours} 3`, `/agency/${ours}-960-gif 4`]);
});

test('an address is signed by the clock of the bucket, where ours is an hour behind', async () => {
  const inAnHour = (): number => Date.now() + 3_600_000;
  const server = createHttpServer((_, response) => {
    response.setHeader('date', new Date(inAnHour()).toUTCString());
    response.writeHead(204).end();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  servers.push(() => server.close());
  const endpoint = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`;
  const files = createS3Files({ bucket: 'agency', region: 'us-east-1', endpoint, credentials });
  await files.remove('site/one');
  const at = new URL((await files.signedUrl('site/one', download)) ?? '').searchParams.get('X-Amz-Date') ?? '';
  const time = at.replace(/^(\d{4})(\d\d)(\d\dT\d\d)(\d\d)(\d\dZ)$/, '$1-$2-$3:$4:$5');
  expect(Math.abs(Date.parse(time) - inAnHour())).toBeLessThan(60_000);
});

describe('a service that stops answering', () => {
  /** Files at a server that sends `answer` to each request, and nothing more. */
  const open = async (answer: string) => {
    const asked: Socket[] = [];
    const server = createServer((socket) => {
      socket.on('error', () => undefined);
      socket.once('data', () => {
        asked.push(socket);
        socket.write(answer);
      });
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    servers.push(() => {
      for (const socket of asked) socket.destroy();
      server.close();
    });
    const endpoint = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`;
    const clock = createTestClock();
    const files = createS3Files({ bucket: 'agency', region: 'us-east-1', endpoint, credentials }, { clock });
    const nthRequest = (count: number): Promise<Socket> => eventually('a request came', () => asked[count - 1]);
    return { files, clock, nthRequest };
  };
  const timeout = { name: 'ProviderFault', provider: 's3', transient: true, cause: { name: 'TimeoutError' } };
  const beginning = 'HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\n01234';

  test('is a timeout of every call, and left alone after eight of them', async () => {
    const { files, clock, nthRequest } = await open('');
    const calls: (() => Promise<unknown>)[] = [
      () => files.store('site/one', inPieces(Buffer.from('x')), 100),
      () => files.read('site/one'),
      () => files.remove('site/one'),
      () => files.removeDrafts(0),
    ];
    for (const [index, call] of [...calls, ...calls].entries()) {
      const refused = expect(call()).rejects.toMatchObject(timeout);
      await nthRequest(index + 1);
      await clock.advance(90_000);
      await refused;
    }
    await expect(files.remove('site/one')).rejects.toMatchObject({ message: expect.stringContaining('left alone') });
  });

  test('in the middle of a file is a timeout of whoever reads it', async () => {
    const { files, clock, nthRequest } = await open(beginning);
    const found = await files.read('site/one');
    const refused = expect(found?.content.toArray()).rejects.toMatchObject(timeout);
    const closed = once(await nthRequest(1), 'close');
    await eventually('five bytes came', () => (clock.pending() === 1 ? true : undefined));
    await clock.advance(30_000);
    await refused;
    await closed;
  });

  test('and closes the connection in the middle of a file is a fault that passes', async () => {
    const { files, nthRequest } = await open(beginning);
    const found = await files.read('site/one');
    const refused = expect(found?.content.toArray()).rejects.toMatchObject({ ...timeout, cause: { code: 'ECONNRESET' } });
    (await nthRequest(1)).destroy();
    await refused;
  });

  test('is not waited for by whoever gives a file up', async () => {
    const { files, nthRequest } = await open(beginning);
    const found = await files.read('site/one');
    const closed = once(await nthRequest(1), 'close');
    found?.content.destroy();
    await closed;
  });

  test('is not blamed for a reader who takes their time', async () => {
    const piece = 'x'.repeat(500_000);
    const { files, clock } = await open(`HTTP/1.1 200 OK\r\ncontent-length: ${String(piece.length)}\r\n\r\n${piece}`);
    const found = await files.read('site/one');
    const pieces = found?.content.iterator();
    const first = (await pieces?.next())?.value as Buffer;
    await eventually('as much is there as is kept', () => (clock.pending() === 0 ? true : undefined));
    await clock.advance(3_600_000);
    let bytes = first.length;
    for await (const each of found?.content ?? []) bytes += (each as Buffer).length;
    expect(bytes).toBe(piece.length);
  });
});
