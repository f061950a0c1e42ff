import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from '@jest/globals';
import { createGitBackend } from '../../src/integrations/sourceHost/gitBackend.js';
import { systemClock } from '../../src/platform/clock.js';
import { collectLogs } from '../support/logs.js';
import { temporaryFolder } from '../support/temporary.js';
import { repositoryOf } from './hostingSites.js';

const backendOf = (program?: string) =>
  createGitBackend({ clock: systemClock, logger: collectLogs().logger, ...(program !== undefined && { program }) });

test('a git that was killed before it answered is looked for again', async () => {
  const program = join(temporaryFolder(), 'git');
  writeFileSync(program, '#!/bin/sh\n[ -e "$0.asked" ] || { touch "$0.asked"; kill -9 $$; }\nexec git "$@"\n');
  chmodSync(program, 0o755);
  const backend = backendOf(program);
  await expect(backend.isInstalled()).rejects.toMatchObject({ name: 'ProviderFault', transient: true });
  expect(await backend.isInstalled()).toBe(true);
});

test('git is not installed where there is no such program', async () => {
  expect(await backendOf('/nowhere/git').isInstalled()).toBe(false);
});

test('processes that cannot be started take no turn from those that can', async () => {
  const backend = backendOf();
  const gitdir = fileURLToPath(repositoryOf({ 'index.html': '' }).cloneUrl);
  const push = (user: string) =>
    backend.serve(gitdir, { repositoryId: 'shop', service: 'git-receive-pack', user }, new AbortController().signal);
  // No environment holds it, so that the system is not even asked.
  for (let count = 0; count < 4; count += 1) await expect(push('a\0b')).rejects.toThrow();
  const { status, content, ended } = await push('me');
  expect(status).toBe(200);
  for await (const piece of content) expect(piece.length).toBeGreaterThan(0);
  expect(await ended).toBe(true);
});
