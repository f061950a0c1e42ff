import { join } from 'node:path';
import { createShardedFolder, repositoriesIn, type ShardedFolder } from '../../src/integrations/shardedFolder.js';

const projectsIn = (dataDir: string): ShardedFolder => createShardedFolder({ folder: join(dataDir, 'sites') });

/** Where the embedded source host has a repository in the data folder. */
export const repositoryIn = (dataDir: string, name: string): string => repositoriesIn(join(dataDir, 'repositories')).pathOf(name);

/** Where the embedded hosting has a project in the data folder. */
export const projectIn = (dataDir: string, name: string): string => projectsIn(dataDir).pathOf(name);

const namesOf = async (folder: ShardedFolder): Promise<string[]> =>
  (await Promise.all(folder.shards.map((shard) => folder.namesIn(shard)))).flat().sort();

/** Sorted. */
export const repositoryNames = (dataDir: string): Promise<string[]> => namesOf(repositoriesIn(join(dataDir, 'repositories')));

/** Sorted. */
export const projectNames = (dataDir: string): Promise<string[]> => namesOf(projectsIn(dataDir));
