import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { CrashingWriter, ProcessTask, RunningProcess } from './eventStoreHarness.js';

const beside = (file: string): string => fileURLToPath(new URL(file, import.meta.url));

/**
 * Starts eventStoreProcess.ts on the log at `address`, opened by the module at `opener` (a file
 * URL), and waits until it is ready.
 */
export const startProcess = async (opener: string, address: string, task: ProcessTask): Promise<RunningProcess> => {
  const child = spawn(
    process.execPath,
    ['--import', beside('./eventStoreTypescript.mjs'), beside('./eventStoreProcess.ts'), opener, address, JSON.stringify(task)],
    { stdio: ['pipe', 'pipe', 'inherit'] },
  );
  // 'close' comes after the last line of output, 'exit' may come before.
  const exited = once(child, 'close');
  const takers: ((line: string) => void)[] = [];
  let ready = (): void => undefined;
  const isReady = new Promise<void>((resolve) => (ready = resolve));
  const answer = new Promise<unknown>((resolve, reject) => {
    takers.push((line) => {
      if (line.startsWith('answer ')) resolve(JSON.parse(line.slice('answer '.length)));
    });
    void exited.then(([code]) => {
      reject(new Error(`the process ended with ${String(code)} and without an answer`));
    });
  });
  // The answer of a killed process rejects, and no test awaits it.
  answer.catch(() => undefined);

  createInterface({ input: child.stdout }).on('line', (line) => {
    if (line === 'ready') ready();
    else for (const take of takers) take(line);
  });
  await Promise.race([isReady, answer]);

  return {
    go: () => {
      child.stdin.write('go\n');
    },
    answer,
    ended: exited,
    onLine: (take) => {
      takers.push(take);
    },
    kill: async () => {
      child.kill('SIGKILL');
      await exited;
    },
  };
};

/** The `crash` fault of an adapter in process: the writer process itself is killed. */
export const startCrashingWriter = async (opener: string, address: string, category: string): Promise<CrashingWriter> => {
  const process = await startProcess(opener, address, { kind: 'writeForever', category });
  const lines: string[] = [];
  let waiting = { count: Infinity, resolve: (): void => undefined };
  process.onLine((line) => {
    lines.push(line);
    if (lines.length >= waiting.count) waiting.resolve();
  });
  process.go();
  return {
    acknowledged: (count) =>
      new Promise((resolve) => {
        waiting = { count, resolve };
        if (lines.length >= count) resolve();
      }),
    kill: async () => {
      await process.kill();
      return lines;
    },
  };
};
