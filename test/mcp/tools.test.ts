import { readFileSync } from 'node:fs';
import { beforeAll, expect, test } from '@jest/globals';
import { toolsets, tools } from '@doorstep/mcp';
import { Doorstep } from '@doorstep/sdk';
import { getEncoding } from 'js-tiktoken';
import { connectTools } from '../support/toolServer.js';

const read = (path: string): unknown => JSON.parse(readFileSync(new URL(path, import.meta.url), 'utf8'));

type Listed = Awaited<ReturnType<Awaited<ReturnType<typeof connectTools>>['client']['listTools']>>['tools'];

const listAs = async (role: 'admin' | 'client'): Promise<Listed> => {
  const doorstep = new Doorstep({ baseUrl: 'http://127.0.0.1:1', token: 'svc_pat_none' });
  const { client } = await connectTools({ doorstep, caller: { subject: 'somebody', role, scope: 'write' } });
  return (await client.listTools()).tools;
};

let listed: Listed;

beforeAll(async () => {
  listed = await listAs('admin');
});

test('at most 20 tools, 10,000 tokens in all and 800 a tool (o200k_base)', () => {
  const encoding = getEncoding('o200k_base');
  const count = (value: unknown): number => encoding.encode(JSON.stringify(value)).length;
  const counts = listed.map((tool) => [count(tool), tool.name] as const);
  const all = count(listed);
  const [most = 0, largest] = [...counts].sort(([one], [other]) => other - one)[0] ?? [];
  process.stderr.write(
    `MCP: ${String(listed.length)} tools, ${String(all)} tokens; the largest is ${String(largest)} with ${String(most)}\n`,
  );

  expect(listed.length).toBeLessThanOrEqual(20);
  expect(all).toBeLessThanOrEqual(10_000);
  expect(counts.filter(([tokens]) => tokens > 800)).toEqual([]);
});

test('what assistants are told changes only on purpose (tools.golden.json)', () => {
  expect(JSON.parse(JSON.stringify(listed))).toEqual(read('tools.golden.json'));
});

test('clients are told the same of the tools that they have', async () => {
  const names = new Set(tools.filter(({ callers }) => callers.includes('client')).map(({ name }) => name));

  expect(await listAs('client')).toEqual(listed.filter(({ name }) => names.has(name)));
});

test('each tool has title, description, both schemas and all four hints', () => {
  for (const { name, title, description, inputSchema, outputSchema, annotations } of listed) {
    expect(name).toMatch(/^[a-z]+(_[a-z]+)+$/);
    expect([name, title, description, inputSchema.type, outputSchema?.type]).toEqual([
      name,
      expect.any(String),
      expect.any(String),
      'object',
      'object',
    ]);
    expect([name, annotations]).toEqual([
      name,
      {
        readOnlyHint: expect.any(Boolean),
        destructiveHint: expect.any(Boolean),
        idempotentHint: expect.any(Boolean),
        openWorldHint: expect.any(Boolean),
      },
    ]);
    // Whatever destroys something takes a confirmation, and nothing else does.
    expect([name, 'confirmation' in (inputSchema.properties ?? {})]).toEqual([name, annotations?.destructiveHint]);
  }
  expect(new Set(tools.map(({ toolset }) => toolset))).toEqual(new Set(['always', ...toolsets]));
});

test('the README lists each tool as it is', () => {
  const readme = readFileSync(new URL('../../mcp/README.md', import.meta.url), 'utf8');
  const rows = readme
    .split('\n')
    .filter((line) => line.startsWith('| `') && line.split('|').length === 7)
    .map((line) =>
      line
        .split('|')
        .map((cell) => cell.trim())
        .slice(1, -1),
    );
  const effects = { reads: 'reads', adds: 'adds', changes: 'changes', destroys: 'to be confirmed' };

  expect(rows).toEqual(
    tools.map(({ name, title, toolset, callers, effect }) => [
      `\`${name}\``,
      title,
      toolset,
      callers.includes('client') ? 'admins, clients' : 'admins',
      effects[effect],
    ]),
  );
});

test('each operation of the API has a tool, or a reason for none', () => {
  const { paths } = read('../../build/openapi/openapi.json') as {
    paths: Record<string, Record<string, { operationId?: string }>>;
  };
  const operations = Object.values(paths)
    .flatMap((path) => Object.values(path))
    .flatMap(({ operationId }) => operationId ?? []);
  const called = new Set(tools.flatMap(({ operations: of }) => of));
  const without = read('../../mcp/without.json') as Record<string, string>;

  expect([...called, ...Object.keys(without)].filter((operation) => !operations.includes(operation))).toEqual([]);
  expect(operations.filter((operation) => !called.has(operation) && without[operation] === undefined)).toEqual([]);
  expect(Object.keys(without).filter((operation) => called.has(operation))).toEqual([]);
});
