import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { getPriority } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, test } from '@jest/globals';
import { createProjectorThread } from '../../src/compose/projectorThread.js';
import { eventually } from '../support/eventually.js';
import { startServer } from '../support/server.js';
import { temporaryFolder } from '../support/temporary.js';

const program = (source: string): string => {
  const file = join(temporaryFolder(), 'program.mjs');
  writeFileSync(file, `import { parentPort, workerData } from 'node:worker_threads';\n${source}`);
  return file;
};

/** The thread, with the lines of its log. */
const threadOf = (source: string) => {
  const lines: string[] = [];
  const log = { write: (line: string) => void lines.push(line) };
  return { lines, thread: createProjectorThread(program(source), { environment: { DATA_DIR: '/as/given' }, log }) };
};

test('its lines go to the log of the process, and stopping waits until it has ended', async () => {
  const { lines, thread } = threadOf(`
    parentPort.postMessage({ line: 'one' });
    parentPort.postMessage({ isStarted: true });
    parentPort.once('message', () => {
      setImmediate(() => {
        parentPort.postMessage({ line: 'last' });
        parentPort.close();
      });
    });`);
  await thread.start();
  expect(lines).toEqual(['one']);
  await thread.stop();
  expect(lines).toEqual(['one', 'last']);
});

test('stopping a thread that comes up still waits until it has stopped', async () => {
  const { lines, thread } = threadOf(`
    parentPort.once('message', () => {
      parentPort.postMessage({ line: 'stopped' });
      parentPort.close();
    });`);
  void thread.start();
  await thread.stop();
  expect(lines).toEqual(['stopped']);
});

test('it has the settings of the process, whatever the environment of the process is by now', async () => {
  const { lines, thread } = threadOf(`
    parentPort.postMessage({ line: workerData.DATA_DIR });
    parentPort.once('message', () => parentPort.close());`);
  void thread.start();
  await thread.stop();
  expect(lines).toEqual(['/as/given']);
});

test('one that was not started needs no stopping', async () => {
  await threadOf('').thread.stop();
});

test('a fault of the thread ends the process', async () => {
  const compiled = new URL('../../dist/compose/projectorThread.js', import.meta.url).href;
  const faulty = program(`setImmediate(() => { throw new Error('the thread cannot go on'); });`);
  const service = program(`
    import { createProjectorThread } from ${JSON.stringify(compiled)};
    createProjectorThread(${JSON.stringify(faulty)}, { environment: {}, log: process.stdout }).start();
    setInterval(() => {}, 1_000);`);
  const child = spawn(process.execPath, [service], { stdio: ['ignore', 'ignore', 'pipe'] });
  const [written, [code]] = await Promise.all([text(child.stderr), once(child, 'exit')]);
  expect(written).toContain('the thread cannot go on');
  expect(code).toBe(1);
});

/** Where this process gives way itself, so does all that it starts. */
const onLinux = process.platform === 'linux' && getPriority() < 5 ? test : test.skip;

onLinux('it gives way to all other threads of the service', async () => {
  const server = await startServer(temporaryFolder());
  const threads = `/proc/${String(server.pid)}/task`;
  /** As `nice` has it (proc(5), field 19); the name in brackets may hold spaces. */
  const priorities = () =>
    readdirSync(threads).map((id) =>
      Number(
        readFileSync(join(threads, id, 'stat'), 'utf8')
          .split(') ')[1]
          ?.split(' ')[16],
      ),
    );
  const own = getPriority();
  const found = await eventually('a thread that gives way', () => {
    const all = priorities();
    return Promise.resolve(all.some((priority) => priority > own) ? all : undefined);
  });
  expect(found.filter((priority) => priority > own)).toEqual([5]);
  await server.kill('SIGTERM');
});
