/** Writes the OpenAPI document with the built code and lints it, without the network. */
import { closeSync, mkdtempSync, openSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { prepareOrExit, root, run } from './prepare.mjs';

await prepareOrExit();
const folder = mkdtempSync(join(tmpdir(), 'doorstep-openapi-'));
try {
  process.exitCode = await check(join(folder, 'openapi.json'));
} finally {
  rmSync(folder, { recursive: true });
}

/** @param {string} document - where to write it */
async function check(document) {
  const output = openSync(document, 'w');
  const print = [join(root, 'dist', 'operations', 'printOpenApi.js')];
  const printed = await run(process.execPath, print, { stdio: ['ignore', output, 'inherit'] });
  closeSync(output);
  if (printed !== 0) return printed;
  const redocly = fileURLToPath(import.meta.resolve('@redocly/cli/bin/cli.js'));
  return run(process.execPath, [redocly, 'lint', '--config', join(root, 'redocly.yaml'), document], {
    env: { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' },
  });
}
