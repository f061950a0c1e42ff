import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterAll, test } from '@jest/globals';
import { CreateBucketCommand, S3Client } from '@aws-sdk/client-s3';
import type { BucketAccount } from '../../src/platform/settings/files.js';
import { temporaryFolder } from './temporary.js';

const program = fileURLToPath(new URL('../../.servers/minio/minio', import.meta.url));

/** Runs `suite` where MinIO is installed (test/support/minio/install). CI must have it. */
export const whereMinioIs = (suite: () => void): void => {
  if (existsSync(program) || process.env['CI'] === 'true') suite();
  else test.skip('there is no S3-compatible server here: run test/support/minio/install', () => undefined);
};

const minioCredentials = { accessKeyId: 'doorstep-tests', secretAccessKey: 'a-secret-of-the-tests' };

let started: Promise<string> | undefined;
let buckets = 0;
const stops: (() => Promise<unknown>)[] = [];
afterAll(async () => {
  for (const stop of stops.splice(0)) await stop();
});

/** An empty bucket on a MinIO server of this test file's own. */
export const minioBucket = async (): Promise<BucketAccount> => {
  const endpoint = await (started ??= start());
  buckets += 1;
  const settings = { bucket: `bucket-${String(buckets)}`, region: 'us-east-1', endpoint, credentials: minioCredentials };
  const client = new S3Client({ region: settings.region, endpoint, forcePathStyle: true, credentials: minioCredentials });
  await client.send(new CreateBucketCommand({ Bucket: settings.bucket }));
  client.destroy();
  return settings;
};

const freePort = async (): Promise<number> => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
};

const start = async (): Promise<string> => {
  const address = `127.0.0.1:${String(await freePort())}`;
  const folder = temporaryFolder();
  const child = spawn(program, ['server', folder, '--address', address, '--certs-dir', folder], {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: {
      HOME: folder,
      MINIO_ROOT_USER: minioCredentials.accessKeyId,
      MINIO_ROOT_PASSWORD: minioCredentials.secretAccessKey,
      MINIO_BROWSER: 'off',
      MINIO_UPDATE: 'off',
    },
  });
  const ended = once(child, 'exit');
  stops.push(() => {
    child.kill();
    return ended;
  });
  const said: string[] = [];
  const lines = createInterface({ input: child.stderr });
  const isReady = new Promise<boolean>((resolve) => {
    lines.on('line', (line) => {
      said.push(line);
      if (line.startsWith('API:')) resolve(true);
    });
    lines.once('close', () => {
      resolve(false);
    });
  });
  if (!(await isReady)) throw new Error(`MinIO ended instead of starting: ${said.join(' ')}`);
  return `http://${address}`;
};
