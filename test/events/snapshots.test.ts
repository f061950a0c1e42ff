import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from '@jest/globals';
import { buildSync } from 'esbuild';
import { subjectKeysFold } from '../../src/events/apiKey/apiKey.state.js';
import { contentFold } from '../../src/events/content/content.state.js';
import { keptBlocksFold } from '../../src/events/delivery/delivery.keptBlocks.js';
import { deliveryFold } from '../../src/events/delivery/delivery.state.js';
import { earlierReceiptFold } from '../../src/events/receipt/receipt.state.js';
import { websiteFold } from '../../src/events/website/website.state.js';
import { deploymentLeaseFold } from '../../src/workers/deployment/deploymentLease.process.js';

/** Every fold that keeps snapshots, and where its `evolve` is. */
const folds: readonly (readonly [{ readonly name: string; readonly snapshotVersion?: number }, file: string])[] = [
  [subjectKeysFold, 'events/apiKey/apiKey.state.ts'],
  [contentFold, 'events/content/content.state.ts'],
  [deliveryFold, 'events/delivery/delivery.state.ts'],
  [keptBlocksFold, 'events/delivery/delivery.keptBlocks.ts'],
  [earlierReceiptFold, 'events/receipt/receipt.state.ts'],
  [websiteFold, 'events/website/website.state.ts'],
  [deploymentLeaseFold, 'workers/deployment/deploymentLease.process.ts'],
];

/**
 * The version of each, and a digest of the code that makes its states. When the digest changes, raise
 * `snapshotVersion` of the fold, unless every state stays what it was.
 */
const known = {
  content: '1 2b9ed1017fc11c3a',
  delivery: '2 fffa7defdd718b73',
  'delivery-blocks': '2 1b766e815a250f48',
  'deployment-lease': '2 659f2055c8c6ddbf',
  'earlier-receipts': '1 2fab67c441b72c53',
  'subject-keys': '1 1828be381265278e',
  website: '2 f319dcc1fa3e030f',
};

/** What a file does, with what it imports; comments, types and forms of writing left out. */
const bundleOf = (file: string): string => {
  const { outputFiles } = buildSync({
    entryPoints: [file],
    bundle: true,
    write: false,
    format: 'esm',
    packages: 'external',
    external: ['*.stream.js', '*.events.js', '*/store/eventStore.js'],
    minifyWhitespace: true,
    legalComments: 'none',
  });
  return outputFiles[0]?.text ?? '';
};

/** Of what a fold does, and of what its area makes of older events: both decide what states are. */
const digestOf = (file: string): string => {
  const fold = fileURLToPath(new URL(`../../src/${file}`, import.meta.url));
  const area = basename(dirname(fold));
  const upcasters = fileURLToPath(new URL(`../../src/events/${area}/${area}.upcasters.ts`, import.meta.url));
  const hash = createHash('sha256').update(bundleOf(fold));
  if (existsSync(upcasters)) hash.update(bundleOf(upcasters));
  return hash.digest('hex').slice(0, 16);
};

test('a version of snapshots belongs to the code that makes them', () => {
  const found = folds.map(([{ name, snapshotVersion }, file]) => [name, `${String(snapshotVersion)} ${digestOf(file)}`]);
  expect(Object.fromEntries(found)).toEqual(known);
});

test('every fold with snapshots is known here', () => {
  const root = fileURLToPath(new URL('../../src/', import.meta.url));
  const files = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'));
  const versioned = files.filter((file) => /^ {2}snapshotVersion: \d+,$/m.test(readFileSync(root + file, 'utf8')));
  expect(versioned.toSorted()).toEqual(folds.map(([, file]) => file).toSorted());
});
