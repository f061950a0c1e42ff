import { writeSync } from 'node:fs';
import { repositoriesIn } from '../../src/integrations/shardedFolder.js';

/** A separate process that moves a folder of repositories over until it is killed; prints `moving` first. */
const [, , folder = ''] = process.argv;
writeSync(1, 'moving\n');
await repositoriesIn(folder).moveOver(new AbortController().signal);
