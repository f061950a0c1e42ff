import type { CopyTarget, EventStore } from '../../src/events/store/eventStore.js';

/**
 * How the contract suite creates an adapter. Tests may share a store, because each uses streams of
 * its own.
 */
export interface EventStoreHarness {
  create(): Promise<EventStoreUnderTest>;
  readonly faults: EventStoreFaults;
}

export interface EventStoreUnderTest {
  readonly store: CopyTarget;
  /** Opens the same log once more, as a restarted process would. */
  reopen(): Promise<EventStore>;
}

/** Why an adapter cannot produce a fault. The suite then skips the case and names this reason. */
export interface CannotShow {
  readonly because: string;
}

/** Faults that are caused from outside. A lasting fault returns the function that ends it. */
export interface EventStoreFaults {
  /** Runs `eventStoreProcess.ts` on the same log. */
  readonly process: CannotShow | ((under: EventStoreUnderTest, task: ProcessTask) => Promise<RunningProcess>);
  /** Sets the wall clock that the store reads. */
  readonly setClock: CannotShow | ((under: EventStoreUnderTest, epochMs: number) => void);
  /** Leaves no room to write. */
  readonly fillDisk: CannotShow | ((under: EventStoreUnderTest) => Promise<() => Promise<void>>);
  /** Makes the store refuse or not answer. */
  readonly takeDown: CannotShow | ((under: EventStoreUnderTest) => Promise<() => Promise<void>>);
  /** Loses the answers to appends after they were written. */
  readonly loseAnswers: CannotShow | ((under: EventStoreUnderTest) => Promise<() => Promise<void>>);
  /**
   * Lets writers append to `category`, as `writeForever` of eventStoreProcess.ts does, until the
   * process is killed.
   */
  readonly crash: CannotShow | ((under: EventStoreUnderTest, category: string) => Promise<CrashingWriter>);
}

export interface CrashingWriter {
  /** Resolves when so many appends were acknowledged. */
  acknowledged(count: number): Promise<void>;
  /** Kills without warning, and returns the id of the first event of each acknowledged append. */
  kill(): Promise<readonly string[]>;
}

export type ProcessTask =
  /** Makes `count` concurrent appends at revision 0 of `stream`; answers `{ won: number }`. */
  | { readonly kind: 'race'; readonly stream: string; readonly count: number }
  /** Appends `count` events, one after the other, to streams of `category`; answers `{}`. */
  | { readonly kind: 'write'; readonly category: string; readonly count: number }
  /**
   * Appends three events at a time from eight writers, and prints the first id of each acknowledged
   * append.
   */
  | { readonly kind: 'writeForever'; readonly category: string };

/** A process that has opened the log and waits for `go`. */
export interface RunningProcess {
  go(): void;
  /** The task's answer, or `{ failed }` with the name of its error. */
  readonly answer: Promise<unknown>;
  /** Resolves when the process has ended, by itself or killed. */
  readonly ended: Promise<unknown>;
  /** Calls `take` for each line that the task prints before its answer. */
  onLine(take: (line: string) => void): void;
  kill(): Promise<void>;
}

/** Events in one append of `writeForever`. */
export const EVENTS_PER_APPEND = 3;
