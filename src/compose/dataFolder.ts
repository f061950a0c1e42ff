import { readdir } from 'node:fs/promises';
import { encryptionKeyFile } from '../platform/masterKeys.js';
import type { Settings } from '../platform/settings/settings.js';

/**
 * In this order they are copied, because the copied positions of workers and read models must not be ahead of the
 * copied log, and the vault must have the key of everything in the log.
 */
const storeDatabases = [
  { name: 'records.db', isUsed: ({ stores }: Settings) => stores.readModelUrl === undefined },
  { name: 'read-models.db', isUsed: ({ stores }: Settings) => stores.readModelUrl === undefined },
  { name: 'events.db', isUsed: ({ stores }: Settings) => stores.eventStoreUrl === undefined },
  { name: 'vault.db', isUsed: ({ stores }: Settings) => stores.readModelUrl === undefined },
] as const;

/** What the embedded integrations keep in the data folder, each made when it is first used. */
export const integrationFolders = ['repositories', 'sites', 'files', 'outbox'] as const;
export const integrationDatabases = ['ledger.db', 'analytics.db'] as const;
export type IntegrationData = (typeof integrationFolders | typeof integrationDatabases)[number];

/** The databases of the stores that these settings select, in the order in which they are copied. */
export const storesOf = (settings: Settings): readonly string[] =>
  storeDatabases.filter(({ isUsed }) => isUsed(settings)).map(({ name }) => name);

/** Which of these names are in the folder, in this order. */
export const presentIn = async <Name extends string>(folder: string, names: readonly Name[]): Promise<readonly Name[]> => {
  const present = new Set(await readdir(folder));
  return names.filter((name) => present.has(name));
};

/** The files of the stores, with what SQLite and the service keep beside them, and those of the key. */
export const filesOfStores = async (folder: string): Promise<readonly string[]> => {
  const prefixes = [...storeDatabases.map(({ name }) => name), encryptionKeyFile];
  return (await readdir(folder)).filter((name) => prefixes.some((prefix) => name.startsWith(prefix))).sort();
};
