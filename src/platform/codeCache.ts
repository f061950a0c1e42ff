import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename } from 'node:path';
import { Script } from 'node:vm';

/** What the build wraps a program in; it has no global names of a module. */
type Program = (require: NodeJS.Require, file: string, importPackage: (name: string) => Promise<unknown>) => void;

/**
 * Runs a program of the build, with the code cache that the build put beside it (docs/adr/0044-code-cache.md). V8
 * compiles the text instead when there is none, and when it was made by another version of Node or with other flags.
 * @param file `….cjs`
 * @returns the script, of which a cache can be made; absent when stack traces are to name the sources, which Node does
 *   for modules alone
 */
export const runProgram = (file: string): Script | undefined => {
  const require = createRequire(file);
  if (process.sourceMapsEnabled) {
    require(file);
    return undefined;
  }
  // Latin-1: V8 then keeps it as it was read. Stack traces have the name from the cache, which is made in another folder.
  const script = new Script(readFileSync(file, 'latin1'), {
    filename: basename(file),
    cachedData: readCache(`${file}.cache`),
  });
  // A dynamic import within a script from the cache has no module to resolve from.
  (script.runInThisContext() as Program)(require, file, (name) => import(name));
  return script;
};

const readCache = (file: string): Buffer | undefined => {
  try {
    return readFileSync(file);
  } catch {
    return undefined;
  }
};
