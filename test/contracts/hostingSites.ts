import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { deflateSync } from 'node:zlib';
import express, { type RequestHandler } from 'express';
import { afterAll } from '@jest/globals';
import type { Repository } from '../../src/integrations/sourceHost/port.js';
import { temporaryFolder } from '../support/temporary.js';

/** Content by path; `{ link }` is a symbolic link. */
type Contents = Readonly<Record<string, string | Uint8Array | { readonly link: string }>>;

/** Runs git in `folder` without the machine's configuration; returns its output. */
export const git = (folder: string, args: readonly string[], input: Uint8Array = new Uint8Array()): string => {
  const env = { PATH: process.env['PATH'], GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_NOSYSTEM: '1' };
  return execFileSync('git', ['-C', folder, ...args], { env, input, stdio: ['pipe', 'pipe', 'ignore'] })
    .toString()
    .trim();
};

/** A bare repository created by git, with one commit that contains `files`. */
export const repositoryOf = (files: Contents): Repository => {
  const folder = join(temporaryFolder(), 'site.git');
  git('/', ['init', '--quiet', '--bare', '--initial-branch=main', folder]);
  const repository = { id: 'site', name: 'site', defaultBranch: 'main', cloneUrl: `file://${folder}` };
  commitTo(repository, files);
  return repository;
};

/** Adds a commit with `files`; returns its id. */
export const commitTo = (repository: Repository, files: Contents): string => {
  const gitdir = fileURLToPath(repository.cloneUrl);
  const branch = join(gitdir, 'refs/heads/main');
  const data = (content: string | Uint8Array): Buffer[] => [
    Buffer.from(`data ${String(Buffer.byteLength(content))}\n`),
    Buffer.from(content),
    Buffer.from('\n'),
  ];
  const changes = Object.entries(files).flatMap(([path, content]) => {
    const [mode, bytes] = typeof content === 'object' && 'link' in content ? ['120000', content.link] : ['100644', content];
    return [Buffer.from(`M ${mode} inline ${path}\n`), ...data(bytes)];
  });
  const start = 'commit refs/heads/main\ncommitter Ada <ada@example.com> 1767225600 +0000\n';
  const parent = existsSync(branch) ? 'from refs/heads/main^0\n' : '';
  const stream = Buffer.concat([Buffer.from(start), ...data('Change the site'), Buffer.from(parent), ...changes]);
  git(gitdir, ['fast-import', '--quiet', '--force'], stream);
  return readFileSync(branch, 'utf8').trim();
};

/** Writes an object into a bare repository, also one that git would not make; returns its id. */
export const writeObject = (gitdir: string, kind: 'commit' | 'tree' | 'blob', content: Uint8Array | string): string => {
  const object = Buffer.concat([Buffer.from(`${kind} ${String(Buffer.byteLength(content))}\0`), Buffer.from(content)]);
  const id = createHash('sha1').update(object).digest('hex');
  mkdirSync(join(gitdir, 'objects', id.slice(0, 2)), { recursive: true });
  writeFileSync(join(gitdir, 'objects', id.slice(0, 2), id.slice(2)), deflateSync(object, { level: 1 }));
  return id;
};

/** An entry of a folder, as `writeObject` takes them. */
export const treeEntry = (mode: '40000' | '100644', name: string, id: string): Buffer =>
  Buffer.concat([Buffer.from(`${mode} ${name}\0`), Buffer.from(id, 'hex')]);

export const writeCommit = (gitdir: string, tree: string): string => {
  const who = 'Ada <ada@example.com> 1767225600 +0000';
  return writeObject(gitdir, 'commit', `tree ${tree}\nauthor ${who}\ncommitter ${who}\n\nSly\n`);
};

const closing: (() => void)[] = [];
afterAll(() => {
  for (const close of closing.splice(0)) close();
});

/**
 * Serves `handler` at `/sites`, and `robots` at `/robots.txt`, on a free loopback port until the test
 * file ends; returns the base address.
 */
export const serveSites = async (handler: () => RequestHandler, robots?: () => RequestHandler): Promise<string> => {
  const app = express();
  if (robots !== undefined) app.use('/robots.txt', (request, response, next) => robots()(request, response, next));
  app.use('/sites', (request, response, next) => handler()(request, response, next));
  const server = createServer(app);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closing.push(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`;
};
