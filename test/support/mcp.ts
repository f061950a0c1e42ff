import {
  Client,
  StreamableHTTPClientTransport,
  type CallToolResult,
  type VersionNegotiationMode,
} from '@modelcontextprotocol/client';
import { afterAll } from '@jest/globals';

/** The protocol of 2026-07-28, and no other. */
export const modern: VersionNegotiationMode = { pin: '2026-07-28' };

const open = new Set<Client>();

afterAll(async () => {
  for (const client of open) await client.close();
});

/**
 * Connects an assistant's program to a server over streamable HTTP; it is closed after the test file
 * at the latest.
 * @param token sent as `Authorization`
 */
export const connectOverHttp = async (
  url: string,
  token: string,
  {
    mode = modern,
    headers = {},
  }: { readonly mode?: VersionNegotiationMode; readonly headers?: Readonly<Record<string, string>> } = {},
): Promise<Client> => {
  const client = new Client({ name: 'test', version: '1.0.0' }, { versionNegotiation: { mode } });
  await client.connect(
    new StreamableHTTPClientTransport(new URL(url), {
      requestInit: { headers: { authorization: `Bearer ${token}`, ...headers } },
    }),
  );
  open.add(client);
  return client;
};

/** The text of a tool's answer. */
export const textOf = ({ content }: CallToolResult): string =>
  content.map((part) => (part.type === 'text' ? part.text : `(${part.type})`)).join('\n');
