/** Lints the OpenAPI document that the build wrote, without the network. */
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { prepareOrExit } from './prepare.mjs';
import { root, run } from './processes.mjs';
import { openApiDocument } from './tasks.mjs';

await prepareOrExit('openapi');
const redocly = fileURLToPath(import.meta.resolve('@redocly/cli/bin/cli.js'));
process.exitCode = await run(process.execPath, [redocly, 'lint', '--config', join(root, 'redocly.yaml'), openApiDocument], {
  env: { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' },
});
