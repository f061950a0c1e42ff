import { createHash } from 'node:crypto';
import * as fs from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { isoTime, type Clock } from '../../platform/clock.js';
import { createKeyedMutex } from '../../platform/keyedMutex.js';
import {
  embedded,
  isPlainName,
  permanentFault,
  publishFolder,
  replaceFile,
  unlessMissing,
  withDiskFaults,
  withdrawFolder,
  writeFiles,
} from '../embeddedFiles.js';
import { createMemoryFiles } from './memoryFiles.js';
import type { Commit, Repository, SourceHost } from './port.js';

/** Kept in the repository's folder as `doorstep.json`, which git passes over. */
interface Notes {
  readonly marker: string;
  readonly templateId: string;
  readonly collaborators: readonly string[];
}

interface Template {
  readonly id: string;
  readonly name: string;
  readonly description: string;
}

const defaultBranch = 'main';
const notesName = 'doorstep.json';

/**
 * A source host in one folder: each repository is the bare git repository `<folder>/<name>.git`, made from
 * `<templatesFolder>/<templateId>/`, that any git can clone and push to on this machine. Creating one is atomic and durable: a
 * kill at any moment leaves it whole or absent. A refused disk is a transient ProviderFault, everything else a permanent one.
 */
export const createEmbeddedSourceHost = (options: { folder: string; templatesFolder: string; clock: Clock }): SourceHost => {
  const folder = resolve(options.folder);
  const { templatesFolder, clock } = options;
  const mutex = createKeyedMutex();

  const folderOf = (name: string): string => {
    if (!isPlainName(name))
      throw permanentFault(`A repository cannot be named "${name}": use lower-case letters, digits and dashes`);
    return join(folder, `${name}.git`);
  };
  const repositoryNamed = (name: string): Repository => ({
    id: name,
    name,
    defaultBranch,
    cloneUrl: pathToFileURL(folderOf(name)).href,
  });
  const notesFile = (name: string): string => join(folderOf(name), notesName);
  const readNotes = async (name: string): Promise<Notes | null> => {
    const text = await unlessMissing(readFile(notesFile(name), 'utf8'));
    return text === null ? null : (JSON.parse(text) as Notes);
  };
  const notesOf = async (repositoryId: string): Promise<Notes> => {
    const notes = await readNotes(repositoryId);
    if (notes === null) throw permanentFault(`Repository ${repositoryId} does not exist`);
    return notes;
  };

  const findRepository = async (name: string, marker: string): Promise<Repository | null> => {
    const notes = await readNotes(name);
    return notes?.marker === marker ? repositoryNamed(name) : null;
  };
  const taken = (name: string) => permanentFault(`The repository name ${name} is already taken`);

  const createRepository: SourceHost['createRepository'] = async ({ name, templateId, marker, description }) => {
    const existing = await readNotes(name);
    if (existing !== null && existing.marker !== marker) throw taken(name);
    if (existing !== null) return repositoryNamed(name);
    const template = await readTemplate(templatesFolder, templateId);
    const files = await repositoryFrom(join(templatesFolder, template.id), {
      message: `Start ${name} from the ${template.id} template\n`,
      seconds: Math.floor(clock.now() / 1000),
    });
    files.set('description', `${description.replaceAll(/\s+/g, ' ')}\n`);
    files.set(notesName, JSON.stringify({ marker, templateId: template.id, collaborators: [] } satisfies Notes));
    const made = await publishFolder(folderOf(name), draftOf(name, marker), (gitdir) => writeFiles(gitdir, files));
    if (made) return repositoryNamed(name);
    const madeMeanwhile = await findRepository(name, marker);
    if (madeMeanwhile === null) throw taken(name);
    return madeMeanwhile;
  };

  const inviteCollaborator = async (repositoryId: string, username: string): Promise<void> => {
    if (!/^[\w.@+-]{1,254}$/.test(username)) throw permanentFault(`"${username}" is not a username`);
    const notes = await notesOf(repositoryId);
    const known = notes.collaborators.some((other) => other.toLowerCase() === username.toLowerCase());
    if (known) return;
    const collaborators = [...notes.collaborators, username];
    await replaceFile(notesFile(repositoryId), JSON.stringify({ ...notes, collaborators } satisfies Notes));
  };

  const deleteRepository: SourceHost['deleteRepository'] = async ({ name, marker }) => {
    if ((await readNotes(name))?.marker !== marker) return false;
    await withdrawFolder(folderOf(name), draftOf(name, marker));
    return true;
  };

  return {
    provider: embedded,
    defaultTemplateId: 'business',
    findRepository: ({ name, marker }) => withDiskFaults(findRepository(name, marker)),
    createRepository: (request) => withDiskFaults(mutex.run(request.name, () => createRepository(request))),
    inviteCollaborator: (id, username) => withDiskFaults(mutex.run(id, () => inviteCollaborator(id, username))),
    listCollaborators: async (repositoryId) => (await withDiskFaults(notesOf(repositoryId))).collaborators,
    listCommits: async (repositoryId, limit, skip = 0) => {
      await withDiskFaults(notesOf(repositoryId));
      return (await withDiskFaults(commitsOf(folderOf(repositoryId), skip + limit))).slice(skip);
    },
    deleteRepository: (request) => withDiskFaults(mutex.run(request.name, () => deleteRepository(request))),
    listTemplates: () => withDiskFaults(listTemplates(templatesFolder)),
  };
};

const draftOf = (name: string, marker: string): string =>
  `${name}.${createHash('sha256').update(marker).digest('hex').slice(0, 16)}`;

const commitsOf = async (gitdir: string, limit: number): Promise<readonly Commit[]> => {
  const { default: git } = await import('isomorphic-git');
  const entries = await git.log({ fs, gitdir, ref: defaultBranch, depth: limit });
  return entries.map(({ oid: id, commit: { message, author, committer } }) => ({
    id,
    message: message.trimEnd(),
    author: author.name,
    committedAt: isoTime(committer.timestamp * 1_000),
  }));
};

const readTemplate = async (templatesFolder: string, id: string): Promise<Template> => {
  const text = isPlainName(id) ? await unlessMissing(readFile(join(templatesFolder, id, 'template.json'), 'utf8')) : null;
  if (text === null) throw permanentFault(`There is no template "${id}"`);
  const { name, description } = JSON.parse(text) as Partial<Template>;
  if (typeof name !== 'string' || typeof description !== 'string')
    throw permanentFault(`The template "${id}" has no name or no description in its template.json`);
  return { id, name, description };
};

const listTemplates = async (templatesFolder: string): Promise<readonly Template[]> => {
  const entries = (await unlessMissing(readdir(templatesFolder, { withFileTypes: true }))) ?? [];
  const ids = entries.filter((entry) => entry.isDirectory() && isPlainName(entry.name)).map((entry) => entry.name);
  return Promise.all(ids.sort().map((id) => readTemplate(templatesFolder, id)));
};

/**
 * The files of a bare repository with one commit on the default branch, which holds everything in `source`. All objects are in
 * one pack: a handful of files to put on the disk instead of dozens.
 */
const repositoryFrom = async (
  source: string,
  commit: { message: string; seconds: number },
): Promise<Map<string, Uint8Array | string>> => {
  const { default: git } = await import('isomorphic-git');
  const { fs: memory, files } = createMemoryFiles();
  const gitdir = '/repository';
  const oids = new Set<string>();
  const kept = (oid: string): string => {
    oids.add(oid);
    return oid;
  };

  const writeTree = async (folder: string): Promise<string> => {
    const entries = await readdir(folder, { withFileTypes: true });
    const tree = await Promise.all(
      entries.map(async (entry) => {
        const path = join(folder, entry.name);
        if (entry.isDirectory()) return { mode: '040000', type: 'tree' as const, path: entry.name, oid: await writeTree(path) };
        if (!entry.isFile()) throw permanentFault(`The template holds "${entry.name}", which is neither a file nor a folder`);
        const oid = kept(await git.writeBlob({ fs: memory, gitdir, blob: await readFile(path) }));
        return { mode: '100644', type: 'blob' as const, path: entry.name, oid };
      }),
    );
    return kept(await git.writeTree({ fs: memory, gitdir, tree }));
  };

  const person = { name: 'Doorstep', email: 'doorstep@localhost', timestamp: commit.seconds, timezoneOffset: 0 };
  const content = { message: commit.message, tree: await writeTree(source), parent: [], author: person, committer: person };
  const head = kept(await git.writeCommit({ fs: memory, gitdir, commit: content }));
  const { filename } = await git.packObjects({ fs: memory, gitdir, oids: [...oids], write: true });
  await git.indexPack({ fs: memory, dir: gitdir, gitdir, filepath: `objects/pack/${filename}` });

  const packs = [...files].filter(([path]) => path.startsWith(`${gitdir}/objects/pack/`));
  return new Map<string, Uint8Array | string>([
    ...packs.map(([path, bytes]) => [path.slice(gitdir.length + 1), bytes] as const),
    ['HEAD', `ref: refs/heads/${defaultBranch}\n`],
    [`refs/heads/${defaultBranch}`, `${head}\n`],
    // Whoever pushes cannot bring in objects that git itself would not make.
    ['config', '[core]\n\trepositoryformatversion = 0\n\tbare = true\n[receive]\n\tfsckObjects = true\n'],
  ]);
};
