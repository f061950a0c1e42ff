/** Writes the OpenAPI document with the built code and lints it, without the network. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { prepareOrExit, root, run } from './prepare.mjs';

await prepareOrExit();
const folder = mkdtempSync(join(tmpdir(), 'doorstep-openapi-'));
try {
  const document = join(folder, 'openapi.json');
  writeFileSync(document, execFileSync(process.execPath, [join(root, 'dist', 'operations', 'printOpenApi.js')]));
  const redocly = fileURLToPath(import.meta.resolve('@redocly/cli/bin/cli.js'));
  process.exitCode = await run(process.execPath, [redocly, 'lint', '--config', join(root, 'redocly.yaml'), document], {
    env: { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' },
  });
} finally {
  rmSync(folder, { recursive: true });
}
