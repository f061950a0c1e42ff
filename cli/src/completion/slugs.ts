import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Context } from '../context.js';
import { clean } from '../output.js';
import type { Candidate } from './complete.js';

/** Pressing Tab twice asks the service once. */
const freshMs = 10_000;
/** Somebody waits with a finger on the key. */
const timeoutMs = 2_000;
const atMost = 200;

const cacheFolder = ({ XDG_CACHE_HOME: cache }: NodeJS.ProcessEnv): string =>
  join(cache === undefined || cache === '' ? join(homedir() || tmpdir(), '.cache') : cache, 'doorstep');

/** Slugs that begin with a word, kept for a few seconds. */
export const slugsOf = async (context: Context, beginning: string): Promise<readonly Candidate[]> => {
  const { url, token } = await context.connection();
  const folder = cacheFolder(context.environment);
  const key = createHash('sha256').update(`${url}\n${token}\n${beginning}`).digest('hex').slice(0, 32);
  const file = join(folder, `slugs-${key}.json`);
  if (await isFresh(file)) return JSON.parse(await readFile(file, 'utf8')) as Candidate[];
  const slugs = await askForSlugs(context, beginning);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  for (const one of await readdir(folder)) if (!(await isFresh(join(folder, one)))) await rm(join(folder, one), { force: true });
  await writeFile(file, JSON.stringify(slugs), { mode: 0o600 });
  return slugs;
};

const isFresh = async (file: string): Promise<boolean> => {
  const writtenAt = await stat(file).then(
    ({ mtimeMs }) => mtimeMs,
    () => 0,
  );
  return Math.abs(Date.now() - writtenAt) < freshMs;
};

const askForSlugs = async ({ doorstep }: Context, beginning: string): Promise<Candidate[]> => {
  const client = await doorstep();
  const options = { signal: AbortSignal.timeout(timeoutMs), maxRetries: 0 };
  const query = { limit: atMost, ...(beginning !== '' && { q: beginning }) };
  // Clients have their own list, and no search in it.
  const websites = await client.websites.list(query, options).catch((error: unknown) => {
    if ((error as { status?: number }).status === 403) return client.me.websites({ limit: atMost }, options);
    throw error;
  });
  return websites.map(({ slug, name }) => [slug, clean(name)]);
};
