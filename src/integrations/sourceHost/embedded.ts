import { createHash } from 'node:crypto';
import { readdirSync, statSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { isoTime, type Clock } from '../../platform/clock.js';
import { createKeyedMutex } from '../../platform/keyedMutex.js';
import {
  embedded,
  isPlainName,
  makeFolder,
  nullIfMissing,
  parseFile,
  permanentFault,
  publishFolder,
  replaceFile,
  withDiskFaults,
  withdrawFolder,
  writeFiles,
} from '../embeddedFiles.js';
import { openObjects, type GitObjects } from '../git/objects.js';
import { branchHead, templateRef } from '../git/refs.js';
import { UnreadableRepository } from '../git/source.js';
import { repositoriesIn } from '../shardedFolder.js';
import { commitFiles, filesOfCommit, namesInFolder } from './gitCommits.js';
import { createMemoryFiles } from './memoryFiles.js';
import { editableFile, parseEditable } from './editable.js';
import type { Commit, EditableSchema, Repository, RepositoryFiles, SourceHost } from './port.js';

/** Stored in the repository's folder as `doorstep.json`, which git ignores. */
interface RepositoryMetadata {
  readonly marker: string;
  readonly templateId: string;
  readonly collaborators: readonly string[];
}

interface Template {
  readonly id: string;
  readonly name: string;
  readonly description: string;
}

export const defaultBranch = 'main';

const metadataName = 'doorstep.json';

/**
 * A source host in one folder: each repository is a bare git repository `<name>.git` in it (`repositoriesIn`),
 * created from `<templatesFolder>/<templateId>/`, which git can clone and push to on this machine.
 * Creation is atomic and durable: a kill at any moment leaves the whole repository or none. Disk
 * errors are transient ProviderFaults, all others permanent.
 */
export const createEmbeddedSourceHost = (options: { folder: string; templatesFolder: string; clock: Clock }): SourceHost => {
  const repositories = repositoriesIn(resolve(options.folder));
  const { templatesFolder, clock } = options;
  const mutex = createKeyedMutex();
  const packOfTemplate = createTemplatePacks(templatesFolder);

  const folderOf = (name: string): Promise<string> => {
    if (!isPlainName(name))
      throw permanentFault(`A repository cannot be named "${name}": use lower-case letters, digits and dashes`);
    return repositories.locate(name);
  };
  const repositoryNamed = (name: string): Repository => ({
    id: name,
    name,
    defaultBranch,
    cloneUrl: pathToFileURL(repositories.pathOf(name)).href,
  });
  const readMetadata = async (name: string): Promise<RepositoryMetadata | null> => readRepositoryMetadata(await folderOf(name));
  const requireMetadata = async (repositoryId: string): Promise<RepositoryMetadata> => {
    const metadata = await readMetadata(repositoryId);
    if (metadata === null) throw permanentFault(`Repository ${repositoryId} does not exist`);
    return metadata;
  };

  const findRepository = async (name: string, marker: string): Promise<Repository | null> => {
    const metadata = await readMetadata(name);
    return metadata?.marker === marker ? repositoryNamed(name) : null;
  };
  const nameTaken = (name: string) => permanentFault(`The repository name ${name} is already taken`);

  const createRepository: SourceHost['createRepository'] = async ({ name, templateId, marker, description }) => {
    const existing = await readMetadata(name);
    if (existing !== null && existing.marker !== marker) throw nameTaken(name);
    if (existing !== null) return repositoryNamed(name);
    const template = await readTemplate(templatesFolder, templateId);
    const files = await repositoryFrom(await packOfTemplate(template.id), {
      message: `Start ${name} from the ${template.id} template\n`,
      seconds: Math.floor(clock.now() / 1000),
    });
    files.set('description', `${description.replaceAll(/\s+/g, ' ')}\n`);
    files.set(metadataName, JSON.stringify({ marker, templateId: template.id, collaborators: [] } satisfies RepositoryMetadata));
    const path = await folderOf(name);
    await makeFolder(dirname(path));
    const created = await publishFolder(path, draftOf(name, marker), (draft) => writeFiles(draft, files));
    if (created) return repositoryNamed(name);
    const concurrent = await findRepository(name, marker);
    if (concurrent === null) throw nameTaken(name);
    return concurrent;
  };

  const inviteCollaborator = async (repositoryId: string, username: string): Promise<void> => {
    if (!/^[\w.@+-]{1,254}$/.test(username)) throw permanentFault(`"${username}" is not a username`);
    const metadata = await requireMetadata(repositoryId);
    const known = metadata.collaborators.some((other) => other.toLowerCase() === username.toLowerCase());
    if (known) return;
    const collaborators = [...metadata.collaborators, username];
    const file = join(await folderOf(repositoryId), metadataName);
    await replaceFile(file, JSON.stringify({ ...metadata, collaborators } satisfies RepositoryMetadata));
  };

  const deleteRepository = async (name: string, marker: string): Promise<boolean> => {
    if ((await readMetadata(name))?.marker !== marker) return false;
    await withdrawFolder(await folderOf(name), draftOf(name, marker));
    return true;
  };

  return {
    provider: embedded,
    defaultTemplateId: 'business',
    findRepository: ({ name, marker }) => withDiskFaults(findRepository(name, marker)),
    createRepository: (request) => withDiskFaults(mutex.run(request.name, () => createRepository(request))),
    inviteCollaborator: (id, username) => withDiskFaults(mutex.run(id, () => inviteCollaborator(id, username))),
    listCollaborators: async (repositoryId) => (await withDiskFaults(requireMetadata(repositoryId))).collaborators,
    listCommits: async (repositoryId, limit, from) => {
      await withDiskFaults(requireMetadata(repositoryId));
      return withDiskFaults(commitsOf(await folderOf(repositoryId), limit, from));
    },
    readFiles: async (repositoryId, paths) => {
      await withDiskFaults(requireMetadata(repositoryId));
      return withDiskFaults(readable(async () => readFiles(await folderOf(repositoryId), paths)));
    },
    listFolder: async (repositoryId, commit, path) => {
      await withDiskFaults(requireMetadata(repositoryId));
      return withDiskFaults(readable(async () => namesInFolder(await folderOf(repositoryId), commit, path)));
    },
    commitFiles: async (repositoryId, change) => {
      await withDiskFaults(requireMetadata(repositoryId));
      const commit = async () => commitFiles(await folderOf(repositoryId), defaultBranch, change, clock.now());
      return withDiskFaults(mutex.run(repositoryId, () => readable(commit)));
    },
    // Names never change here; an id is one.
    deleteRepository: async ({ name, marker, id = name }) => {
      const remove = (at: string) => withDiskFaults(mutex.run(at, () => deleteRepository(at, marker)));
      return (await remove(name)) || (id !== name && (await remove(id)));
    },
    listTemplates: () => withDiskFaults(listTemplates(templatesFolder)),
    readEditable: (id) => withDiskFaults(readEditable(templatesFolder, id)),
    readPicture: (id) =>
      isPlainName(id) ? withDiskFaults(nullIfMissing(readFile(join(templatesFolder, `${id}.webp`)))) : Promise.resolve(null),
  };
};

const readFiles = async (gitdir: string, paths: readonly string[]): Promise<RepositoryFiles> => {
  const head = await branchHead(gitdir, defaultBranch);
  if (head === null) throw permanentFault('The repository has no commit');
  return { head, files: await filesOfCommit(gitdir, head, paths) };
};

/** @throws ProviderFault (permanent) for a repository that is damaged, or too large */
const readable = async <Result>(read: () => Promise<Result>): Promise<Result> => {
  try {
    return await read();
  } catch (error) {
    if (!(error instanceof UnreadableRepository)) throw error;
    throw permanentFault(`The repository cannot be read: ${error.message}`);
  }
};

/** What the repository in `gitdir` was created for; null when there is none. */
export const readRepositoryMetadata = async (gitdir: string): Promise<RepositoryMetadata | null> => {
  const path = join(gitdir, metadataName);
  const text = await nullIfMissing(readFile(path, 'utf8'));
  return text === null ? null : (parseFile(path, text) as RepositoryMetadata);
};

const draftOf = (name: string, marker: string): string =>
  `${name}.${createHash('sha256').update(marker).digest('hex').slice(0, 16)}`;

/** A commit is some hundred bytes long. Deep pages of long histories read many. */
const commitLimits = { maxObjectBytes: 256 * 1024, maxBytesInAll: 64 * 1024 * 1024 };

/** By the time of the commit, as `SourceHost.listCommits`. */
const commitsOf = async (
  gitdir: string,
  limit: number,
  from: { readonly head: string; readonly skip: number } | undefined,
): Promise<readonly Commit[] | null> => {
  try {
    const { head, skip } = from ?? { head: await branchHead(gitdir, defaultBranch), skip: 0 };
    if (head === null) return [];
    const objects = await openObjects(gitdir, commitLimits);
    try {
      if (from !== undefined && !(await objects.has(head, 'commit'))) return null;
      return (await walk(objects, head, skip + limit)).slice(skip);
    } finally {
      await objects.close();
    }
  } catch (error) {
    if (!(error instanceof UnreadableRepository)) throw error;
    throw permanentFault(`The commits cannot be read: ${error.message}`);
  }
};

interface ReadCommit {
  readonly id: string;
  readonly parents: readonly string[];
  readonly message: string;
  readonly author: string;
  /** Seconds since the epoch. */
  readonly committedAt: number;
}

const walk = async (objects: GitObjects, head: string, limit: number): Promise<readonly Commit[]> => {
  const read = async (id: string): Promise<ReadCommit> => parseCommit(id, (await objects.read(id, 'commit')).toString('utf8'));
  const found: Commit[] = [];
  const seen = new Set([head]);
  const waiting = [await read(head)];
  while (found.length < limit) {
    waiting.sort((one, other) => one.committedAt - other.committedAt);
    const next = waiting.pop();
    if (next === undefined) break;
    const { id, message, author, committedAt } = next;
    found.push({ id, message, author, committedAt: isoTime(committedAt * 1_000) });
    for (const parent of next.parents) {
      if (seen.has(parent)) continue;
      seen.add(parent);
      waiting.push(await read(parent));
    }
  }
  return found;
};

/** Headers, an empty line, the message (https://git-scm.com/docs/git-commit-tree). */
const parseCommit = (id: string, text: string): ReadCommit => {
  const end = text.indexOf('\n\n');
  const headers = (end < 0 ? text : text.slice(0, end)).split('\n');
  const values = (name: string): string[] =>
    headers.filter((header) => header.startsWith(`${name} `)).map((header) => header.slice(name.length + 1));
  const [author = ''] = values('author');
  const [, seconds = '0'] = />\s*(\d{1,12})\b/.exec(values('committer')[0] ?? '') ?? [];
  return {
    id,
    parents: values('parent'),
    message: end < 0 ? '' : text.slice(end + 2).trimEnd(),
    author: author.slice(0, Math.max(0, author.indexOf('<'))).trim(),
    committedAt: Number(seconds),
  };
};

const readTemplate = async (templatesFolder: string, id: string): Promise<Template> => {
  const text = isPlainName(id) ? await nullIfMissing(readFile(join(templatesFolder, id, 'template.json'), 'utf8')) : null;
  if (text === null) throw permanentFault(`There is no template "${id}"`);
  const { name, description } = JSON.parse(text) as Partial<Template>;
  if (typeof name !== 'string' || typeof description !== 'string')
    throw permanentFault(`The template "${id}" has no name or no description in its template.json`);
  return { id, name, description };
};

const readEditable = async (templatesFolder: string, id: string): Promise<EditableSchema | null> => {
  if (!isPlainName(id)) return null;
  const text = await nullIfMissing(readFile(join(templatesFolder, id, editableFile), 'utf8'));
  if (text === null) return null;
  const schema = parseEditable(embedded, `the template "${id}"`, text);
  const properties = await Promise.all(
    Object.entries(schema.properties).map(async ([documentId, document]) => {
      const shown = isPlainName(documentId)
        ? await nullIfMissing(readFile(join(templatesFolder, id, `_data/${documentId}.json`), 'utf8'))
        : null;
      if (shown === null || typeof document !== 'object' || document === null) return [documentId, document] as const;
      return [documentId, { ...document, default: JSON.parse(shown) as unknown }] as const;
    }),
  );
  return { ...schema, properties: Object.fromEntries(properties) };
};

const listTemplates = async (templatesFolder: string): Promise<readonly Template[]> => {
  const entries = (await nullIfMissing(readdir(templatesFolder, { withFileTypes: true }))) ?? [];
  const ids = entries.filter((entry) => entry.isDirectory() && isPlainName(entry.name)).map((entry) => entry.name);
  return Promise.all(ids.sort().map((id) => readTemplate(templatesFolder, id)));
};

/** What all repositories of a template have in common. */
interface TemplatePack {
  /** The id of its root. */
  readonly tree: string;
  /** A pack of all its objects, and the index of that, by their paths in a repository. */
  readonly files: ReadonlyMap<string, Uint8Array>;
}

const gitdir = '/repository';

/**
 * Packs the files of a folder. Few files are written to disk for a repository then, instead of dozens.
 */
const packOf = async (folder: string): Promise<TemplatePack> => {
  const { default: git } = await import('isomorphic-git');
  const { fs: memory, files } = createMemoryFiles();
  const oids = new Set<string>();
  const remember = (oid: string): string => {
    oids.add(oid);
    return oid;
  };

  const writeTree = async (path: string): Promise<string> => {
    const entries = await readdir(path, { withFileTypes: true });
    const tree = await Promise.all(
      entries.map(async (entry) => {
        const inside = join(path, entry.name);
        if (entry.isDirectory()) return { mode: '040000', type: 'tree' as const, path: entry.name, oid: await writeTree(inside) };
        if (!entry.isFile()) throw permanentFault(`The template holds "${entry.name}", which is neither a file nor a folder`);
        const oid = remember(await git.writeBlob({ fs: memory, gitdir, blob: await readFile(inside) }));
        return { mode: '100644', type: 'blob' as const, path: entry.name, oid };
      }),
    );
    return remember(await git.writeTree({ fs: memory, gitdir, tree }));
  };

  const tree = await writeTree(folder);
  const { filename } = await git.packObjects({ fs: memory, gitdir, oids: [...oids], write: true });
  await git.indexPack({ fs: memory, dir: gitdir, gitdir, filepath: `objects/pack/${filename}` });
  const packs = [...files].filter(([path]) => path.startsWith(`${gitdir}/objects/pack/`));
  return { tree, files: new Map(packs.map(([path, bytes]) => [path.slice(gitdir.length + 1), bytes])) };
};

/**
 * Changes with the files in the folder. Synchronous, because handing some dozens of calls to other threads takes
 * twenty times as long as they do.
 */
const stateOf = (folder: string): string => {
  const paths = readdirSync(folder, { encoding: 'utf8', recursive: true }).sort();
  const found = paths.map((path) => statSync(join(folder, path), { throwIfNoEntry: false }));
  return JSON.stringify(found.map((each, index) => [paths[index], each?.ino, each?.size, each?.mtimeMs]));
};

/**
 * Packs each template once, until it changes: that takes longer than all else that a new repository needs, and
 * every other request waits for it.
 */
const createTemplatePacks = (templatesFolder: string): ((id: string) => Promise<TemplatePack>) => {
  const packs = new Map<string, { readonly state: string; readonly pack: Promise<TemplatePack> }>();
  return async (id) => {
    const folder = join(templatesFolder, id);
    const state = stateOf(folder);
    const known = packs.get(id);
    if (known?.state === state) return known.pack;
    const pack = packOf(folder);
    packs.set(id, { state, pack });
    try {
      return await pack;
    } catch (error) {
      packs.delete(id);
      throw error;
    }
  };
};

/** The files of a bare repository with one commit on the default branch, of all that the template holds. */
const repositoryFrom = async (
  { tree, files: packed }: TemplatePack,
  { message, seconds }: { message: string; seconds: number },
): Promise<Map<string, Uint8Array | string>> => {
  const { default: git } = await import('isomorphic-git');
  const { fs: memory, files } = createMemoryFiles();
  const person = { name: 'Doorstep', email: 'doorstep@localhost', timestamp: seconds, timezoneOffset: 0 };
  const commit = { message, tree, parent: [], author: person, committer: person };
  const head = await git.writeCommit({ fs: memory, gitdir, commit });
  return new Map<string, Uint8Array | string>([
    ...packed,
    ...[...files].map(([path, content]) => [path.slice(gitdir.length + 1), content] as const),
    ['HEAD', `ref: refs/heads/${defaultBranch}\n`],
    [`refs/heads/${defaultBranch}`, `${head}\n`],
    [templateRef, `${head}\n`],
    // Refuses pushed objects that git itself would not create.
    ['config', '[core]\n\trepositoryformatversion = 0\n\tbare = true\n[receive]\n\tfsckObjects = true\n'],
  ]);
};
