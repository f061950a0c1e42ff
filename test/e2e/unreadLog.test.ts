import { spawnSync } from 'node:child_process';
import { closeSync, constants, openSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { eventually } from '../support/eventually.js';
import { launchServer } from '../support/server.js';
import { temporaryFolder } from '../support/temporary.js';

/** A pipe of the operating system, with the end that this process reads from when it wants to. */
const openPipe = (): { readonly writer: number; readonly reader: number; readonly read: () => string } => {
  const path = join(temporaryFolder(), 'pipe');
  expect(spawnSync('mkfifo', [path]).status).toBe(0);
  const reader = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  const writer = openSync(path, constants.O_WRONLY);
  const chunk = Buffer.alloc(100_000);
  const read = (): string => {
    try {
      return chunk.toString('utf8', 0, readSync(reader, chunk));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EAGAIN') return '';
      throw error;
    }
  };
  return { writer, reader, read };
};

const valueOf = (metrics: string, name: string): number => Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(metrics)?.[1]);

test.each(['goes on', 'is closed'])('a log whose reader stops, and %s, holds up no request and not the end', async (fate) => {
  const pipe = openPipe();
  const server = launchServer(temporaryFolder(), { LOG_LEVEL: 'info', PROCESS_ROLES: 'api' }, undefined, pipe.writer);
  closeSync(pipe.writer);
  let greeting = '';
  const address = await eventually('the greeting', () => {
    greeting += pipe.read();
    return /^Doorstep is open at (http\S+)$/m.exec(greeting)?.[1];
  });
  if (fate === 'is closed') closeSync(pipe.reader);

  // Each of them makes a line of 14 kB: 2.8 MB in all, of which a pipe holds 64 kB.
  const path = `${address}/${'x'.repeat(14_000)}`;
  const times: number[] = [];
  const metrics = async (): Promise<string> => (await fetch(`${address}/metrics`)).text();
  const before = valueOf(await metrics(), 'process_resident_memory_bytes');
  for (let count = 0; count < 200; count += 1) {
    const startedAt = performance.now();
    expect((await fetch(path)).status).toBe(404);
    times.push(performance.now() - startedAt);
  }
  expect(times.sort((a, b) => a - b).at(-3)).toBeLessThan(250);
  const after = await metrics();
  expect(valueOf(after, 'log_lines_dropped_total')).toBeGreaterThan(fate === 'is closed' ? 190 : 80);
  expect(valueOf(after, 'process_resident_memory_bytes') - before).toBeLessThan(100_000_000);

  if (fate === 'goes on') {
    let text = '';
    await eventually('the report of what is missing', () => {
      text += pipe.read();
      return text.includes('log lines were dropped') ? true : undefined;
    });
    for (let count = 0; count < 10; count += 1) await fetch(path);
  }
  const startedAt = performance.now();
  expect(await server.kill('SIGTERM')).toBe(0);
  expect(performance.now() - startedAt).toBeLessThan(10_000);
  if (fate === 'goes on') closeSync(pipe.reader);
});
