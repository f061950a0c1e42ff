import { rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { filesOfStores, integrationDatabases, integrationFolders, presentIn, storesOf } from '../compose/dataFolder.js';
import { openInstallation, type Installation } from '../compose/installation.js';
import { unlock } from '../compose/stores.js';
import { EventStoreInUse } from '../events/store/eventStore.js';
import { systemClock } from '../platform/clock.js';
import { makeFolders } from '../platform/folders.js';
import { encryptionKeyFile, loadMasterKeys } from '../platform/masterKeys.js';
import { readEnvironment } from '../platform/settings/environment.js';
import { loadSettings, type Settings } from '../platform/settings/settings.js';
import { isNewVault } from '../platform/vault/roots.js';
import { ReadModelStoreInUse } from '../projections/store/readModelStore.js';
import { areNested, copyDatabase, copyFolder } from './copyFolder.js';
import { describeInstallation } from './moving/describe.js';
import { AlreadyMoved, moveInstallation, requireRoom, type Moved, type MoveParts } from './moving/moveInstallation.js';
import { requireStores, runPlainScript, UsageError } from './script.js';
import { usageOf } from './scriptHelp.js';

/** Where to, as the command says it. */
type Destination =
  | { readonly kind: 'servers'; readonly eventStore: string; readonly readModels: string; readonly files: URL | undefined }
  | { readonly kind: 'folder'; readonly folder: string };

const clock = systemClock;
const print = (...lines: readonly string[]): void => {
  process.stdout.write(`${lines.join('\n')}\n`);
};
const count = (value: number): string => value.toLocaleString('en-US');

/** @throws UsageError */
const readArguments = (): { readonly to: Destination; readonly dryRun: boolean } => {
  const text = { type: 'string' } as const;
  const options = {
    'to-event-store': text,
    'to-read-models': text,
    'to-files': text,
    'to-folder': text,
    'dry-run': { type: 'boolean' },
  } as const;
  let given;
  try {
    given = parseArgs({ args: process.argv.slice(2), options }).values;
  } catch (error) {
    throw new UsageError(`${(error as Error).message}. ${usageOf('move')}`);
  }
  const { 'to-event-store': eventStore, 'to-read-models': readModels, 'to-files': files, 'to-folder': folder } = given;
  const dryRun = given['dry-run'] === true;
  if (folder !== undefined && eventStore === undefined && readModels === undefined && files === undefined)
    return { to: { kind: 'folder', folder: resolve(folder) }, dryRun };
  if (folder !== undefined || eventStore === undefined || readModels === undefined) throw new UsageError(usageOf('move'));
  if (files !== undefined && !/^s3:\/\/[^/?]+\/?(?:\?|$)/.test(files))
    throw new UsageError(
      `--to-files: must be an address such as s3://bucket?endpoint=https://s3.example.com&region=eu-central-1`,
    );
  return { to: { kind: 'servers', eventStore, readModels, files: files === undefined ? undefined : new URL(files) }, dryRun };
};

const bucketSettings = ({ host, searchParams }: URL): Readonly<Record<string, string | undefined>> => ({
  S3_BUCKET: host,
  S3_ENDPOINT: searchParams.get('endpoint') ?? undefined,
  S3_REGION: searchParams.get('region') ?? undefined,
});
const noBucket = { S3_BUCKET: undefined, S3_ENDPOINT: undefined, S3_REGION: undefined };

/** The settings that the new installation runs with, as far as they concern its stores. @throws SettingsError */
const settingsOf = (to: Destination, [key]: readonly Buffer[]): Settings => {
  const now = readEnvironment();
  const embedded = { ...noBucket, EVENT_STORE_URL: undefined, READ_MODEL_URL: undefined };
  if (to.kind === 'folder') return loadSettings({ ...now, ...embedded, DATA_DIR: to.folder });
  return loadSettings({
    ...now,
    ...(to.files !== undefined && bucketSettings(to.files)),
    EVENT_STORE_URL: to.eventStore,
    READ_MODEL_URL: to.readModels,
    ENCRYPTION_KEY: key?.toString('base64'),
  });
};

/** @throws UsageError when another process uses the folder */
const openAlone = async (settings: Settings): Promise<Installation> => {
  try {
    return await openInstallation(settings, clock);
  } catch (error) {
    if (!(error instanceof EventStoreInUse || error instanceof ReadModelStoreInUse)) throw error;
    throw new UsageError(
      `DATA_DIR: another process has the files in ${settings.dataDir} open. Stop every process of the service, and wait for other scripts, then run this again`,
    );
  }
};

/** The folders and databases of the embedded integrations. */
const copyOthers = async (from: string, to: string): Promise<void> => {
  const databases = await presentIn(from, integrationDatabases);
  for (const name of databases) {
    await rm(join(to, name), { force: true });
    copyDatabase(join(from, name), join(to, name));
  }
  const folders = await presentIn(from, integrationFolders);
  // Documents and media are copied one by one, with a comparison.
  for (const name of folders) if (name !== 'files') await copyFolder(join(from, name), join(to, name));
  print(`${to} has a copy of what else is in ${from}: ${[...folders, ...databases].join(', ') || 'nothing'}`);
};

/** A line now and then. */
const createProgress = (): MoveParts['onProgress'] => {
  const everyMs = 5_000;
  let step: string | undefined;
  let [done, atLast, last, begun] = [0, 0, clock.now(), clock.now()];
  return (next, events) => {
    const now = clock.now();
    if (next !== step) [step, done, atLast, last, begun] = [next, 0, 0, now, now];
    done += events;
    if (now - last < everyMs) return;
    print(
      `${count(done)} events ${next}, ${count(Math.round(((done - atLast) * 1_000) / (now - last)))}/s, after ${count(Math.round((now - begun) / 1_000))} s`,
    );
    [atLast, last] = [done, now];
  };
};

const printMoved = ({ events, records, vault, files }: Moved): void => {
  const parts = [
    ['events', events],
    ['records', records],
    ['entries of the vault', vault],
    ['files', files],
  ] as const;
  print('Moved, read again on both sides, and equal (SHA-256):');
  for (const [name, part] of parts) if (part !== undefined) print(`  ${count(part.count)} ${name}  ${part.digest}`);
};

/** What the operator sets for a folder. */
const settingsOfFolder = ({ dataDir, encryptionKey }: Settings, folder: string): readonly string[] => [
  `DATA_DIR=${folder}`,
  'EVENT_STORE_URL and READ_MODEL_URL: not set; S3_BUCKET, S3_ENDPOINT and S3_REGION neither, documents and media are in the folder',
  encryptionKey === undefined
    ? `${encryptionKeyFile}: copy it from ${dataDir} into ${folder}`
    : 'ENCRYPTION_KEY, and PREVIOUS_ENCRYPTION_KEYS if it is set: as before',
];

/** What the operator sets for servers. No secret is printed: addresses hold passwords, and files the key. */
const settingsOfServers = async (
  { dataDir, encryptionKey }: Settings,
  files: URL | undefined,
  keys: number,
): Promise<readonly string[]> => {
  const keyFile = join(dataDir, encryptionKeyFile);
  const kept = [...integrationFolders, ...integrationDatabases].filter((name) => files === undefined || name !== 'files');
  const others = await presentIn(dataDir, kept);
  return [
    'EVENT_STORE_URL: the address given as --to-event-store',
    'READ_MODEL_URL: the address given as --to-read-models',
    ...(encryptionKey === undefined
      ? [`ENCRYPTION_KEY: the first line of ${keyFile}`]
      : ['ENCRYPTION_KEY, and PREVIOUS_ENCRYPTION_KEYS if it is set: as before']),
    ...(encryptionKey === undefined && keys > 1
      ? [`PREVIOUS_ENCRYPTION_KEYS: the other lines of ${keyFile}, with commas between them`]
      : []),
    ...Object.entries(files === undefined ? {} : bucketSettings(files)).flatMap(([name, value]) =>
      value === undefined ? [] : [`${name}=${value}`],
    ),
    `DATA_DIR=${dataDir}, or a new folder with a copy of what is used of: ${others.join(', ') || 'nothing'}`,
  ];
};

/** What is of the old installation, and nothing of the new one. */
const leftOf = async (to: Destination, settings: Settings): Promise<string> => {
  const { dataDir, stores, files } = settings;
  const hasMovedFiles = to.kind === 'folder' || to.files !== undefined;
  const servers = [
    ...(stores.eventStoreUrl === undefined ? [] : ['EVENT_STORE_URL']),
    ...(stores.readModelUrl === undefined ? [] : ['READ_MODEL_URL']),
    ...(hasMovedFiles && files.s3 !== undefined ? ['S3_BUCKET'] : []),
  ];
  const own = [...storesOf(settings), encryptionKeyFile];
  const copied = to.kind === 'folder' ? [...integrationFolders, ...integrationDatabases] : hasMovedFiles ? ['files'] : [];
  const names = [
    ...(await filesOfStores(dataDir)).filter((name) => own.some((prefix) => name.startsWith(prefix))),
    ...(await presentIn(dataDir, copied)),
  ];
  return [
    ...(servers.length > 0 ? [`what ${servers.join(', ')} name now`] : []),
    ...(names.length > 0 ? [`in ${dataDir} ${names.join(', ')}`] : []),
  ].join(', and ');
};

const printNextSteps = async (to: Destination, settings: Settings): Promise<void> => {
  const lines =
    to.kind === 'folder'
      ? settingsOfFolder(settings, to.folder)
      : await settingsOfServers(settings, to.files, (await loadMasterKeys(settings)).length);
  print(
    'Set these for every process, then start:',
    ...lines.map((line) => `  ${line}`),
    'Read models are made from the log at the first start; lists answer 503 until then.',
    'The old installation is as it was. Do not start it again: its workers would go on where they stopped.',
    `Once you are sure of the new one, delete ${await leftOf(to, settings)}: there, people who are erased from now on could still be read.`,
  );
};

/**
 * `npm run move`: takes an installation over into servers, or from servers into a data folder
 * (docs/servers.md).
 */
await runPlainScript(async (settings) => {
  const { to, dryRun } = readArguments();
  await requireStores(settings);
  const from = await openAlone(settings);
  let target: Installation | undefined;
  try {
    if (await isNewVault(from.vault)) throw new UsageError('There is nothing to move: the vault of the settings is empty');
    await unlock(settings, from.vault);
    const next = settingsOf(to, await loadMasterKeys(settings));
    const movesFiles = to.kind === 'folder' || to.files !== undefined;
    if (to.kind === 'folder' && (await areNested(to.folder, settings.dataDir)))
      throw new UsageError(`--to-folder: must be outside the data folder ${settings.dataDir}`);
    // A dry run makes no folder.
    if (to.kind === 'folder' && !dryRun) await makeFolders(to.folder);
    if (to.kind === 'servers' || !dryRun) target = await openAlone(next);
    if (dryRun) {
      if (target !== undefined) await requireRoom(from, target);
      print(...(await describeInstallation(from, movesFiles)), 'Nothing was moved.');
      return;
    }
    if (target === undefined) return;
    // Nothing is copied over what a folder of another installation holds, or one that is in use.
    if (to.kind === 'folder') {
      await requireRoom(from, target);
      await copyOthers(settings.dataDir, to.folder);
    }
    const { files, ...stores } = target;
    const parts = { from, to: { ...stores, ...(movesFiles && { files }) }, clock, onProgress: createProgress() };
    printMoved(await moveInstallation(parts));
  } catch (error) {
    if (!(error instanceof AlreadyMoved)) throw error;
    print('This installation is moved there already; nothing was changed.');
  } finally {
    await target?.close();
    await from.close();
  }
  await printNextSteps(to, settings);
});
