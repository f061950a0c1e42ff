import { whole, type SettingsReader } from './reader.js';
import { anyText, credential, Problem } from './values.js';
import { baseAddress } from './webAddresses.js';

export interface FileSettings {
  /** A bucket of S3 or a compatible service; absent: a folder in `dataDir`. */
  readonly s3: BucketAccount | undefined;
  /** Bytes of documents and media that a website may have. */
  readonly storageLimit: number;
}

export interface BucketAccount {
  readonly bucket: string;
  readonly region: string;
  /** Without a trailing slash; absent: Amazon's own. */
  readonly endpoint: string | undefined;
  /** Absent: the SDK finds them, such as those of the machine's role. */
  readonly credentials: BucketCredentials | undefined;
}

interface BucketCredentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
}

export const readFiles = (reader: SettingsReader): FileSettings => ({
  s3: readBucket(reader),
  storageLimit: reader.read('STORAGE_LIMIT', byteSize, 5 * 1024 ** 3),
});

const readBucket = (reader: SettingsReader): BucketAccount | undefined => {
  const { read, needFor, needTogether } = reader;
  const bucket = read('S3_BUCKET', bucketName, undefined);
  const region = read('S3_REGION', credential, read('AWS_REGION', credential, 'us-east-1'));
  const endpoint = read('S3_ENDPOINT', baseAddress, undefined);
  const credentials = readCredentials(reader);
  needFor('S3_BUCKET', 'S3_REGION', 'S3_ENDPOINT');
  // Build machines set `AWS_*` for other programs: without a bucket they select nothing.
  if (bucket === undefined) return undefined;
  needTogether('AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY');
  return { bucket, region, endpoint, credentials };
};

const readCredentials = ({ read }: SettingsReader): BucketCredentials | undefined => {
  const keys = whole({
    accessKeyId: read('AWS_ACCESS_KEY_ID', anyText, undefined),
    secretAccessKey: read('AWS_SECRET_ACCESS_KEY', anyText, undefined),
  });
  const sessionToken = read('AWS_SESSION_TOKEN', anyText, undefined);
  return keys && { ...keys, ...(sessionToken !== undefined && { sessionToken }) };
};

/** https://docs.aws.amazon.com/AmazonS3/latest/userguide/bucketnamingrules.html */
const bucketName = (text: string): string | Problem =>
  /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/.test(text)
    ? text
    : new Problem('must be the name of a bucket: 3 to 63 of a-z, 0-9, hyphens and dots');

const units = ['', 'KB', 'MB', 'GB', 'TB'];

/** As in `500MB`; a KB is 1,024 bytes. A number alone is bytes. */
const byteSize = (text: string): number | Problem => {
  const [, number = '', unit = ''] = /^([1-9]\d{0,14}) ?(|[KMGT]B)$/i.exec(text) ?? [];
  const bytes = Number(number) * 1024 ** units.indexOf(unit.toUpperCase());
  return number !== '' && Number.isSafeInteger(bytes) ? bytes : new Problem('must be a size such as 500MB or 5GB');
};
