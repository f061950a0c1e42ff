import { open, readdir, stat, unlink } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { Clock } from '../../platform/clock.js';
import type { Logger } from '../../platform/logger.js';
import type { Random } from '../../platform/random.js';
import { isPlainName, makeFolder, nullIfMissing, permanentFault, withDiskFaults } from '../embeddedFiles.js';
import { branchHead } from '../git/refs.js';
import { repositoriesIn } from '../shardedFolder.js';
import { defaultBranch, readRepositoryMetadata } from './embedded.js';
import { removeLeftovers } from './branchMoves.js';
import { watchBranches } from './branchWatch.js';
import { createGitBackend } from './gitBackend.js';
import { gitFile } from './gitFiles.js';
import type { BodyBuffer, GitServer } from './port.js';

/** What a file takes at least, a branch of 41 bytes too. */
const blockBytes = 4_096;

/** Of the files in a folder and below, on the disk; those that go meanwhile count nothing. */
const bytesBelow = async (folder: string): Promise<number> => {
  let bytes = 0;
  for (const entry of (await nullIfMissing(readdir(folder, { withFileTypes: true }))) ?? []) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) bytes += await bytesBelow(path);
    const file = entry.isDirectory() ? null : await nullIfMissing(stat(path));
    if (file !== null) bytes += Math.max(blockBytes, file.size);
  }
  return bytes;
};

/** @param parts `folder`: that of the embedded source host; `program`: git */
export const createGitServer = (parts: {
  folder: string;
  clock: Clock;
  random: Random;
  logger: Logger;
  program?: string;
}): GitServer & { close(): void } => {
  const folder = resolve(parts.folder);
  const repositories = repositoriesIn(folder);
  const { clock, random, logger } = parts;
  const backend = createGitBackend(parts);

  const gitdirOf = async (repositoryId: string): Promise<string> => {
    if (!isPlainName(repositoryId)) throw permanentFault(`There is no repository "${repositoryId}"`);
    return repositories.locate(repositoryId);
  };
  /** Works with a repository's folder. */
  const inGitdir = <Result>(repositoryId: string, work: (gitdir: string) => Promise<Result>): Promise<Result> =>
    withDiskFaults(gitdirOf(repositoryId).then(work));

  const openBuffer = async (): Promise<BodyBuffer> => {
    // No repository has such a name.
    const bodies = join(folder, '.bodies');
    await makeFolder(bodies);
    const path = join(bodies, Buffer.from(random.bytes(16)).toString('hex'));
    const writer = await open(path, 'wx', 0o600);
    const reader = await open(path, 'r');
    // Whatever happens to this process, nothing is left.
    await unlink(path);
    let bytes = 0;
    return {
      get bytes() {
        return bytes;
      },
      readFrom: reader.fd,
      write: async (chunk) => {
        bytes += chunk.length;
        await withDiskFaults(writer.writeFile(chunk));
      },
      close: async () => {
        await writer.close();
        await reader.close();
      },
    };
  };

  return {
    isInstalled: () => backend.isInstalled(),
    removeLeftovers: (repositoryId) => inGitdir(repositoryId, (gitdir) => removeLeftovers(gitdir, clock.now())),
    bytesOf: (repositoryId) => inGitdir(repositoryId, bytesBelow),
    headOf: (repositoryId) => inGitdir(repositoryId, (gitdir) => branchHead(gitdir, defaultBranch)),
    file: (repositoryId, path) => inGitdir(repositoryId, (gitdir) => gitFile(gitdir, path)),
    openBuffer: () => withDiskFaults(openBuffer()),
    serve: ({ repositoryId, ...request }, signal) =>
      inGitdir(repositoryId, (gitdir) => backend.serve(gitdir, { repositoryId, ...request }, signal)),
    markerOf: async (repositoryId) => (await inGitdir(repositoryId, readRepositoryMetadata))?.marker ?? null,
    watch: (observer) => withDiskFaults(watchBranches({ folder, clock, logger }, observer)),
    tidyUp: (repositoryId) => inGitdir(repositoryId, (gitdir) => backend.tidyUp(gitdir)),
    close: () => {
      backend.close();
    },
  };
};
