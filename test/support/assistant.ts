import { fileURLToPath } from 'node:url';
import { afterAll } from '@jest/globals';
import { Client, type CallToolResult, type ElicitResult, type Progress } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';

/** `doorstep-mcp` as it is built here. */
export const mcpProgram = fileURLToPath(new URL('../../mcp/dist/doorstep-mcp.js', import.meta.url));

const running = new Set<AssistantProcess>();

afterAll(async () => {
  for (const assistant of [...running]) await assistant.close();
});

/** What a tool answered. */
export interface ToolAnswer {
  readonly isError: boolean;
  readonly text: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** An assistant's end of an MCP server. */
export interface Assistant {
  readonly client: Client;
  toolNames(): Promise<readonly string[]>;
  /** Also of tools that are not listed. */
  call(name: string, args: Readonly<Record<string, unknown>>, onProgress?: (progress: Progress) => void): Promise<ToolAnswer>;
}

/** Whose server is `doorstep-mcp` as a process. */
export interface AssistantProcess extends Assistant {
  /** What the process wrote to standard error so far. */
  errors(): string;
  close(): Promise<void>;
}

/** What tests ask of a client that is connected. */
export const assistantOf = (client: Client): Assistant => ({
  client,
  toolNames: async () => (await client.listTools()).tools.map(({ name }) => name),
  call: async (name, callArguments, onProgress) => {
    const answer: CallToolResult = await client.callTool(
      { name, arguments: callArguments },
      { timeout: 60_000, ...(onProgress !== undefined && { onprogress: onProgress }) },
    );
    return {
      isError: answer.isError === true,
      text: answer.content.map((part) => (part.type === 'text' ? part.text : '')).join('\n'),
      data: (answer.structuredContent ?? {}) as Readonly<Record<string, unknown>>,
    };
  },
});

export interface AssistantOptions {
  readonly url: string;
  readonly token: string;
  readonly args?: readonly string[];
  /** The revision of the protocol. Default: that of 2026. */
  readonly era?: '2025' | '2026';
  /** Answers the forms that the server shows the person. Without it the client shows none. */
  readonly person?: (message: string) => ElicitResult;
  /** Instead of `doorstep-mcp` as it is built here. */
  readonly command?: readonly [string, ...string[]];
}

export const startAssistant = async (options: AssistantOptions): Promise<AssistantProcess> => {
  const { url, token, args = [], era = '2026', person, command = [process.execPath, mcpProgram] } = options;
  const client = new Client(
    { name: 'test', version: '1.0.0' },
    {
      capabilities: person === undefined ? {} : { elicitation: { form: {} } },
      versionNegotiation: { mode: era === '2025' ? 'legacy' : { pin: '2026-07-28' } },
    },
  );
  if (person !== undefined) client.setRequestHandler('elicitation/create', ({ params }) => person(params.message));
  const [file, ...first] = command;
  const transport = new StdioClientTransport({
    command: file,
    args: [...first, ...args],
    env: { PATH: process.env.PATH ?? '', DOORSTEP_URL: url, DOORSTEP_TOKEN: token },
    stderr: 'pipe',
  });
  let errors = '';
  transport.stderr?.on('data', (chunk: Buffer) => (errors += chunk.toString()));
  try {
    await client.connect(transport);
  } catch (error) {
    throw new Error(`doorstep-mcp did not start: ${errors}`, { cause: error });
  }
  const assistant: AssistantProcess = {
    ...assistantOf(client),
    errors: () => errors,
    close: async () => {
      running.delete(assistant);
      await client.close();
    },
  };
  running.add(assistant);
  return assistant;
};
