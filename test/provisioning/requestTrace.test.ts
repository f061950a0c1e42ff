import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from '@jest/globals';

const fileAt = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

/** In a process of its own, since Jest hooks promises itself. */
const program = `
  import { executionAsyncId } from 'node:async_hooks';
  const { noteRequest, traceRequests } = await import('${new URL('../../src/integrations/requestTrace.ts', import.meta.url).href}');
  // Each promise has an id of its own only while a hook is called for each of them.
  const areHooked = async () => new Set(await Promise.all([1, 2].map(() => Promise.resolve().then(executionAsyncId)))).size > 1;
  const hooked = [await areHooked()];
  const [one, other] = [[], []];
  let end;
  const held = new Promise((resolve) => (end = resolve));
  const longer = traceRequests(one, async () => {
    noteRequest('1');
    await held;
    noteRequest('2');
    hooked.push(await areHooked());
  });
  await traceRequests(other, async () => noteRequest('3'));
  end();
  await longer;
  await traceRequests([], () => Promise.reject(new Error('no answer'))).catch(() => undefined);
  hooked.push(await areHooked());
  console.log(JSON.stringify({ one, other, hooked }));
`;

test('a trace goes on while others begin and end, and afterwards promises cost what they did before', async () => {
  const typescript = ['--import', fileAt('../support/eventStoreTypescript.mjs')];
  const { stdout } = await promisify(execFile)(process.execPath, [...typescript, '--input-type=module', '--eval', program]);

  expect(JSON.parse(stdout)).toEqual({ one: ['1', '2'], other: ['3'], hooked: [false, true, false] });
});
