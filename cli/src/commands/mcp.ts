import { command, flag, text, type Command } from '../command.js';

/** Serves assistants, with the token that this program has. */
export const mcpCommands: readonly Command[] = [
  command({
    name: 'mcp',
    summary: 'Serve an assistant on standard input and output (Model Context Protocol)',
    description: 'The assistant starts this command itself, and may do what your token may do.',
    examples: [
      ['In the settings of an assistant', 'mcp'],
      ['Only reading, and only deliveries', 'mcp --read-only --toolsets delivery'],
    ],
    operations: [],
    options: {
      readOnly: flag('Offer no tool that changes something'),
      toolsets: text('Only these groups of tools, with commas', { placeholder: 'names' }),
    },
    plain: true,
    run: async (context, _args, { readOnly, toolsets }) => {
      const [{ parseToolsets, serveStdio }, { createClient }] = await Promise.all([
        import('@doorstep/mcp'),
        import('../client.js'),
      ]);
      const { url, token } = await context.connection();
      await serveStdio({
        // By this name the service knows that an assistant makes the changes.
        doorstep: createClient(url, token, { program: 'doorstep-mcp' }),
        readOnly,
        ...(toolsets !== undefined && { toolsets: parseToolsets(toolsets) }),
      });
    },
  }),
];
