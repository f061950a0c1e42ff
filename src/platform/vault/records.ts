export type Entry = Readonly<Record<string, string | number | boolean>>;

/** Where entries are kept: durable before a call resolves, and the same for every process. */
export interface VaultRecords {
  get(collection: string, key: string): Promise<Readonly<Record<string, unknown>> | null>;
  /** Returns whether there was no entry before. */
  insert(collection: string, key: string, value: Entry, expiresAt?: number): Promise<boolean>;
  put(collection: string, key: string, value: Entry): Promise<void>;
  /** When it resolves, the entry is in no file of the store any more. */
  delete(collection: string, key: string): Promise<void>;
  /**
   * Another value after each write of another process that was acknowledged before the call. Absent
   * where asking for it costs as much as `get`.
   */
  revision?(): Promise<bigint>;
  /** Removes what has expired, and resolves with its number. */
  purgeExpired(): Promise<number>;
}
