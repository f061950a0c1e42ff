import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
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
  content: '1 fe73068ecb93e0e7',
  delivery: '2 3f9b2ae6eb7ab3e0',
  'delivery-blocks': '2 aeb9622176cfab10',
  'deployment-lease': '2 77412559b2072d85',
  'earlier-receipts': '1 2fab67c441b72c53',
  'subject-keys': '1 ca1058108a0df6d3',
  website: '2 a5f5dd6177b3da0e',
};

/** Of what a file does, with what it imports; comments, types and forms of writing left out. */
const digestOf = (file: string): string => {
  const { outputFiles } = buildSync({
    entryPoints: [fileURLToPath(new URL(`../../src/${file}`, import.meta.url))],
    bundle: true,
    write: false,
    format: 'esm',
    packages: 'external',
    external: ['*.stream.js', '*.events.js', '*/store/eventStore.js'],
    minifyWhitespace: true,
    legalComments: 'none',
  });
  return createHash('sha256')
    .update(outputFiles[0]?.text ?? '')
    .digest('hex')
    .slice(0, 16);
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
