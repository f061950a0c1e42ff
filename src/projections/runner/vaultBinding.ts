import { logStream } from '../../events/log/log.stream.js';
import { EventStoreUnavailable, START, type EventStore } from '../../events/store/eventStore.js';
import type { VaultRecords } from '../../platform/vault/records.js';
import { isNewVault } from '../../platform/vault/roots.js';

/** The vault cannot have the keys of what this log holds. Nothing is read from the log. */
export class NotTheVault extends EventStoreUnavailable {
  /** Otherwise it is the vault of another log. */
  readonly isEmpty: boolean;

  constructor(isEmpty: boolean) {
    super(isEmpty ? 'the vault is empty, and the log is not' : 'the vault belongs to another log');
    this.isEmpty = isEmpty;
  }
}

/** One entry for each log that the vault belongs to, by its identity. */
const collection = 'vaultLogs';
/** The state before the first binding: only an empty vault has this entry. */
const beganEmpty = 'began empty';
/** Tells a vault that was bound to some log from one of a version before bindings. */
const bound = 'bound';

/**
 * Notes durably that a vault is empty, which nothing shows any more once it is opened.
 * Call it before.
 */
export const noteEmptyVault = async (vault: VaultRecords): Promise<void> => {
  const isThere = !(await isNewVault(vault)) || (await vault.get(collection, bound)) !== null;
  if (!isThere) await vault.insert(collection, beganEmpty, {});
};

/**
 * Binds the vault to a log when it is first used with it. Personal data and secrets of a log can be
 * read with its own vault alone: with an empty one everybody would come back as erased, without a
 * word. A vault from before bindings is taken for that of the log.
 * @param log the identity of the log
 * @param acceptLoss whether to go on with a vault that has nothing of this log
 * @throws NotTheVault; faults of the two stores
 */
export const bindVault = async (
  parts: { readonly vault: VaultRecords; readonly eventStore: EventStore; readonly acceptLoss: boolean },
  log: string,
): Promise<void> => {
  const { vault, eventStore, acceptLoss } = parts;
  const isBound = (): Promise<boolean> => isGiven(vault, log);
  if (await isBound()) return;
  const wasEmpty = (await vault.get(collection, beganEmpty)) !== null;
  const isOthers = (await vault.get(collection, bound)) !== null;
  if ((wasEmpty || isOthers) && !acceptLoss && !(await isNewLog(eventStore))) {
    // Another process may have bound it, and written to the log, since this one asked.
    if (await isBound()) return;
    throw new NotTheVault(!isOthers);
  }
  await giveVault(vault, log);
};

/** Collections of the vault that a copy of it does not take over: to which log it belongs is decided anew. */
export const isVaultBinding = (entry: { readonly collection: string }): boolean => entry.collection === collection;

/** From now on the vault belongs to no log: no process starts with it until `giveVault`. */
export const withholdVault = async (vault: VaultRecords): Promise<void> => {
  await vault.insert(collection, bound, {});
};

/** Whether the vault is bound to that log. */
export const isGiven = async (vault: VaultRecords, log: string): Promise<boolean> => (await vault.get(collection, log)) !== null;

/** Binds the vault to a log without asking what either of them holds. */
export const giveVault = async (vault: VaultRecords, log: string): Promise<void> => {
  await vault.insert(collection, log, {});
  await vault.insert(collection, bound, {});
};

/** Whether the log has nothing but its name. */
export const isNewLog = async (eventStore: Pick<EventStore, 'readAll'>): Promise<boolean> => {
  const { events } = await eventStore.readAll({ after: START, max: 2 });
  return events.every(({ stream }) => stream === logStream.name({}));
};
