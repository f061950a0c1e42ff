// Lets a child process of a test run TypeScript as it stands: `node --import <this file> child.ts`.
import { readFile } from 'node:fs/promises';
import { register } from 'node:module';
import { isMainThread } from 'node:worker_threads';
import { fileURLToPath } from 'node:url';
import { transform } from '@swc/core';

// Node runs the two hooks below in a thread of their own, which imports this file once more.
if (isMainThread) register(import.meta.url);

/** @param {string | undefined} url */
const isOurs = (url) => url?.startsWith('file:') === true && !url.includes('/node_modules/');

/** @type {import('node:module').ResolveHook} */
export const resolve = async (specifier, context, next) =>
  next(isOurs(context.parentURL) && /^\.\.?\//.test(specifier) ? specifier.replace(/\.js$/, '.ts') : specifier, context);

/** @type {import('node:module').LoadHook} */
export const load = async (url, context, next) => {
  if (!isOurs(url) || !url.endsWith('.ts')) return next(url, context);
  const { code } = await transform(await readFile(fileURLToPath(url), 'utf8'), {
    filename: fileURLToPath(url),
    swcrc: false,
    sourceMaps: 'inline',
    jsc: { target: 'es2023', parser: { syntax: 'typescript' } },
    module: { type: 'es6' },
  });
  return { format: 'module', source: code, shortCircuit: true };
};
