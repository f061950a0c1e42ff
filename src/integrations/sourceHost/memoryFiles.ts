import type { PromiseFsClient } from 'isomorphic-git';

/**
 * An in-memory file system, with what isomorphic-git needs to create a repository, so that its
 * dozens of small files are not written to disk. `files` holds the written contents by path.
 */
export const createMemoryFiles = (): { fs: PromiseFsClient; files: ReadonlyMap<string, Uint8Array> } => {
  const files = new Map<string, Buffer>();
  const missing = (path: string): Error => Object.assign(new Error(`${path} is missing`), { code: 'ENOENT' });

  const readFile = (path: string, options?: string | { encoding?: BufferEncoding }): Promise<Buffer | string> => {
    const content = files.get(path);
    if (content === undefined) return Promise.reject(missing(path));
    const encoding = typeof options === 'string' ? options : options?.encoding;
    return Promise.resolve(encoding === undefined ? content : content.toString(encoding as BufferEncoding));
  };
  const stat = (path: string): Promise<object> => {
    const isFile = files.has(path);
    const isFolder = [...files.keys()].some((other) => other.startsWith(`${path}/`));
    if (!isFile && !isFolder) return Promise.reject(missing(path));
    return Promise.resolve({ isFile: () => isFile, isDirectory: () => isFolder, isSymbolicLink: () => false });
  };
  const promises = {
    readFile,
    writeFile: (path: string, content: string | Uint8Array): Promise<void> => {
      files.set(path, Buffer.from(content));
      return Promise.resolve();
    },
    readdir: (path: string): Promise<string[]> => {
      const inside = [...files.keys()].filter((other) => other.startsWith(`${path}/`));
      return Promise.resolve([...new Set(inside.map((other) => other.slice(path.length + 1).split('/')[0] ?? ''))]);
    },
    unlink: (path: string): Promise<void> => {
      files.delete(path);
      return Promise.resolve();
    },
    stat,
    lstat: stat,
    // Folders exist implicitly.
    mkdir: () => Promise.resolve(),
    rmdir: () => Promise.resolve(),
    // Required by isomorphic-git but never called: a bare repository has no links.
    readlink: (path: string) => Promise.reject(missing(path)),
    symlink: (_target: string, path: string) => Promise.reject(missing(path)),
  };
  return { fs: { promises }, files };
};
