import type { EventStore } from '../../src/events/store/eventStore.js';

/** How the contract suite gets at an adapter. Stores may be shared between tests: each uses streams of its own. */
export interface EventStoreHarness {
  create(): Promise<EventStoreUnderTest>;
  readonly faults: EventStoreFaults;
}

export interface EventStoreUnderTest {
  readonly store: EventStore;
  /** The same log once more: what a restarted process sees. */
  reopen(): Promise<EventStore>;
}

/** Why an adapter cannot show a fault; the suite then names the case as skipped, with this reason. */
export interface CannotShow {
  readonly because: string;
}

/** Faults that are made from outside. Those that last return what ends them. */
export interface EventStoreFaults {
  /** Runs `eventStoreProcess.ts` on the same log. */
  readonly process: CannotShow | ((under: EventStoreUnderTest, task: ProcessTask) => Promise<RunningProcess>);
  /** Sets the wall clock that the store reads. */
  readonly setClock: CannotShow | ((under: EventStoreUnderTest, epochMs: number) => void);
  /** Takes all room to write. */
  readonly fillDisk: CannotShow | ((under: EventStoreUnderTest) => Promise<() => Promise<void>>);
  /** Makes the store refuse or not answer. */
  readonly takeDown: CannotShow | ((under: EventStoreUnderTest) => Promise<() => Promise<void>>);
  /** Makes the answers to appends get lost, after they were written. */
  readonly loseAnswers: CannotShow | ((under: EventStoreUnderTest) => Promise<() => Promise<void>>);
  /** Lets writers append to `category` as in `writeForever` of eventStoreProcess.ts until what must not lose an append is killed. */
  readonly crash: CannotShow | ((under: EventStoreUnderTest, category: string) => Promise<CrashingWriter>);
}

export interface CrashingWriter {
  /** Resolves when so many appends were acknowledged. */
  acknowledged(count: number): Promise<void>;
  /** Kills without warning, and gives the ids of the first events of all appends that were acknowledged. */
  kill(): Promise<readonly string[]>;
}

export type ProcessTask =
  /** Appends `count` times at once at revision 0 of `stream`; answers `{ won: number }`. */
  | { readonly kind: 'race'; readonly stream: string; readonly count: number }
  /** Appends `count` events, one after the other, to streams of `category`; answers `{}`. */
  | { readonly kind: 'write'; readonly category: string; readonly count: number }
  /** Appends three events at a time from eight writers, and prints the first id of each append that is acknowledged. */
  | { readonly kind: 'writeForever'; readonly category: string };

/** A process that has opened the log and waits for `go`. */
export interface RunningProcess {
  go(): void;
  /** What the task answers, or `{ failed }` with the name of its error. */
  readonly answer: Promise<unknown>;
  /** Resolves when it has ended, by itself or killed. */
  readonly ended: Promise<unknown>;
  /** Calls `take` for each line that the task prints before its answer. */
  onLine(take: (line: string) => void): void;
  kill(): Promise<void>;
}

/** Events that `writeForever` puts into one append. */
export const EVENTS_PER_APPEND = 3;
