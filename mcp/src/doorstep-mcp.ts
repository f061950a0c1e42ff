#!/usr/bin/env node
import { parseArgs } from 'node:util';
import { Doorstep } from '@doorstep/sdk';
import { parseToolsets } from './options.js';
import { serveStdio } from './stdio.js';
import { toolsets } from './tool.js';
import { version } from './version.js';

const help = `Tools for assistants at a Doorstep service, on standard input and output.

  DOORSTEP_URL=https://doorstep.example.com DOORSTEP_TOKEN=svc_pat_… doorstep-mcp [options]

  --read-only        Only tools that read.
  --toolsets <list>  Only these, with commas between: ${toolsets.join(', ')}.
  --version
  --help
`;

const run = async (): Promise<void> => {
  const { values } = parseArgs({
    options: {
      'read-only': { type: 'boolean', default: false },
      toolsets: { type: 'string' },
      version: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) return void process.stdout.write(help);
  if (values.version) return void process.stdout.write(`${version}\n`);
  const { DOORSTEP_URL: baseUrl = 'http://127.0.0.1:3000', DOORSTEP_TOKEN: token } = process.env;
  if (token === undefined || token === '')
    throw new Error('DOORSTEP_TOKEN is not set: make a token in the portal, under Settings, API keys.');
  await serveStdio({
    doorstep: new Doorstep({ baseUrl, token, userAgent: `doorstep-mcp/${version}` }),
    readOnly: values['read-only'],
    toolsets: parseToolsets(values.toolsets),
  });
};

run().catch((error: unknown) => {
  process.stderr.write(`doorstep-mcp: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
});
