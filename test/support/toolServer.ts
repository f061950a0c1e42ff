import { afterAll } from '@jest/globals';
import { createMcpServer, type McpServerOptions } from '@doorstep/mcp';
import { Client } from '@modelcontextprotocol/client';
import { InMemoryTransport } from '@modelcontextprotocol/server';
import { assistantOf, type Assistant } from './assistant.js';

const clients: Client[] = [];

afterAll(async () => {
  for (const client of clients.splice(0)) await client.close();
});

/** A key for confirmations, of tests. */
const testKey = new Uint8Array(32).fill(7);

/** An assistant's end of a server in this process, for what cannot be set from outside: the caller, and the time. */
export const connectTools = async (
  options: Omit<McpServerOptions, 'confirmationKey'> & Partial<McpServerOptions>,
): Promise<Assistant> => {
  const server = createMcpServer({ confirmationKey: testKey, ...options });
  const [ours, theirs] = InMemoryTransport.createLinkedPair();
  await server.connect(ours);
  const client = new Client({ name: 'test', version: '1.0.0' });
  await client.connect(theirs);
  clients.push(client);
  return assistantOf(client);
};
