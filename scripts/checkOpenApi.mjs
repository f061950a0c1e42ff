/** Lints the OpenAPI document that the build wrote, without the network. */
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { prepareOrExit } from './prepare.mjs';
import { root, run } from './processes.mjs';
import { openApiDocument } from './tasks.mjs';

await prepareOrExit('openapi');
const redocly = fileURLToPath(import.meta.resolve('@redocly/cli/bin/cli.js'));
const spectral = fileURLToPath(import.meta.resolve('@stoplight/spectral-cli/dist/index.js'));
const linters = [
  [redocly, 'lint', '--config', join(root, 'redocly.yaml'), openApiDocument],
  [spectral, 'lint', '--ruleset', join(root, 'spectral.yaml'), '--fail-severity', 'warn', openApiDocument],
];
for (const linter of linters) {
  const status = await run(process.execPath, linter, {
    env: { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' },
  });
  if (status !== 0) process.exitCode = status;
}
