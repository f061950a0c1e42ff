import type { Installation } from '../../compose/installation.js';
import { START } from '../../events/store/eventStore.js';
import type { Clock } from '../../platform/clock.js';
import { readLogIdentity } from '../../projections/runner/logIdentity.js';
import { giveVault, isGiven, isVaultBinding, withholdVault } from '../../projections/runner/vaultBinding.js';
import { modelCollections, type RecordEntry, type RecordStore } from '../../projections/store/readModelStore.js';
import { workerPositions } from '../../workers/workerPositions.js';
import { copyFiles } from '../copyFiles.js';
import { UsageError } from '../script.js';
import { compareFiles } from './moveFiles.js';
import { compareLogs, copyLog } from './moveLog.js';
import { compareRecords, copyRecords, type RecordMove } from './moveRecords.js';
import { NotEmpty, NotEqual } from './problems.js';

/** How much was moved, and the SHA-256 of what both sides have. */
export interface Moved {
  readonly events: Part;
  readonly records: Part;
  readonly vault: Part;
  /** Absent: the files stay where they are. */
  readonly files?: Part;
}

interface Part {
  readonly count: number;
  readonly digest: string;
}

export interface MoveParts {
  readonly from: Installation;
  /** `files`: only when they are moved. */
  readonly to: Omit<Installation, 'files'> & { readonly files?: Installation['files'] };
  readonly clock: Clock;
  /** Called as it goes on, with what was done since the last call. */
  readonly onProgress: (step: 'copied' | 'compared', events: number) => void;
}

/** How far a move came, in the records of the new installation: a later run goes on from there. */
interface Journal {
  /** The identity of the log that is moved. */
  readonly log: string;
  /** Everything up to this position of the old log is in the new one. */
  readonly copied: string;
}

const journalRecord = { collection: 'move', key: 'journal' } as const;

/**
 * Not moved: what belongs to read models and folds, which are made anew, to the server
 * (`projections/store/mongodb/serverProbe.ts`), and to a move.
 */
const leftBehind: ReadonlySet<string> = new Set([...modelCollections, 'mongodb', journalRecord.collection]);

/** What expires within this time of the comparison may expire during it. */
const expiringMs = 3_600_000;

/**
 * Takes an installation over into other stores: the log, the records, the vault and, where `to` has
 * a place for them, the files. Nothing of the old one is changed. It may be interrupted anywhere and
 * repeated; the new one cannot be started before it is complete, because its vault belongs to no log
 * until then.
 *
 * @throws UsageError for what the operator has to do; faults of the stores
 */
export const moveInstallation = async ({ from, to, clock, onProgress }: MoveParts): Promise<Moved> => {
  const log = await requireLog(from);
  const journal = (await findJournal(log, to)) ?? { log, copied: String(START) };
  await withholdVault(to.vault);
  await writeJournal(to.records, journal);

  await copyLog(from.log, to.log, BigInt(journal.copied), async (position, events) => {
    await writeJournal(to.records, { log, copied: String(position) });
    onProgress('copied', events);
  });
  if (to.files !== undefined) await copyFiles(from.files, to.files);

  const events = await compareLogs(from.log, to.log, await positionsIn(from.records), (count) => {
    onProgress('compared', count);
  });
  const recordMove: RecordMove = {
    takes: (collection) => !leftBehind.has(collection),
    toNew: (entry) => (entry.collection === workerPositions ? translated(entry, events.positions) : entry),
  };
  const vaultMove: RecordMove = { takes: (collection) => !isVaultBinding({ collection }), toNew: (entry) => entry };
  await copyRecords(from.records, to.records, recordMove);
  await copyRecords(from.vault, to.vault, vaultMove);

  const until = clock.now() + expiringMs;
  const records = await compareRecords('records', from.records, to.records, recordMove, until);
  const vault = await compareRecords('entries of the vault', from.vault, to.vault, vaultMove, until);
  const files = to.files === undefined ? null : await compareFiles(from.files, to.files);

  // The last step, and the only one that is seen: from now on it can be started, and is moved.
  await giveVault(to.vault, log);
  const partOf = (digest: { count(): number; hex(): string }): Part => ({ count: digest.count(), digest: digest.hex() });
  return {
    events: { count: events.events, digest: events.digest },
    records: partOf(records),
    vault: partOf(vault),
    ...(files !== null && { files: partOf(files) }),
  };
};

/** @throws UsageError when the old installation has none */
const requireLog = async ({ log }: Installation): Promise<string> => {
  const identity = await readLogIdentity(log);
  if (identity === null) throw new UsageError('There is nothing to move: the event store of the settings is empty');
  return identity;
};

/** @throws AlreadyMoved; UsageError when the installation cannot be moved there */
export const requireRoom = async (from: Installation, to: MoveParts['to']): Promise<void> => {
  await findJournal(await requireLog(from), to);
};

/**
 * The journal of an interrupted move; `null` when nothing is there yet.
 * @throws AlreadyMoved; NotEmpty when something else is there
 */
const findJournal = async (log: string, to: MoveParts['to']): Promise<Journal | null> => {
  const journal = (await to.records.get(journalRecord.collection, journalRecord.key)) as Journal | null;
  if (journal === null) {
    await requireEmpty(to);
    return null;
  }
  if (journal.log !== log) throw new NotEmpty('another installation is moved there');
  if (await isGiven(to.vault, log)) throw new AlreadyMoved();
  return journal;
};

/** The move is complete: the new installation may be in use. */
export class AlreadyMoved extends Error {
  override readonly name = 'AlreadyMoved';
}

const requireEmpty = async ({ log, records, vault }: MoveParts['to']): Promise<void> => {
  if ((await log.readAll({ after: START, max: 1 })).events.length > 0) throw new NotEmpty('the new event store has events');
  for await (const { collection } of records.entries())
    if (!leftBehind.has(collection)) throw new NotEmpty('the new read models have been used');
  for await (const { collection } of vault.entries())
    if (!isVaultBinding({ collection })) throw new NotEmpty('the new vault has keys');
};

const writeJournal = async (records: RecordStore, { log, copied }: Journal): Promise<void> => {
  await records.put(journalRecord.collection, journalRecord.key, { log, copied });
};

/** Of a worker: with the old position, or none, it would react again to what it has done. */
const positionIn = ({ value }: RecordEntry): bigint => BigInt(value['position'] as string);

const positionsIn = async (records: RecordStore): Promise<readonly bigint[]> => {
  const positions: bigint[] = [];
  for await (const entry of records.entries()) if (entry.collection === workerPositions) positions.push(positionIn(entry));
  return positions;
};

const translated = (entry: RecordEntry, positions: ReadonlyMap<bigint, bigint>): RecordEntry => {
  const position = positions.get(positionIn(entry));
  // A worker that runs on the old installation moved it.
  if (position === undefined) throw new NotEqual('the position of a worker has changed');
  return { ...entry, value: { ...entry.value, position: String(position) } };
};
