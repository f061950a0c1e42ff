/**
 * An event as the fake stores it. Commit and prepare position are the same, as in EventStoreDB
 * since version 20.
 */
export interface FakeEvent {
  readonly id: string;
  readonly type: string;
  readonly contentType: string;
  readonly data: Uint8Array;
  readonly metadata: Uint8Array;
  readonly stream: string;
  readonly revision: bigint;
  readonly position: bigint;
  readonly createdMs: number;
}

export type NewFakeEvent = Pick<FakeEvent, 'id' | 'type' | 'contentType' | 'data' | 'metadata'>;

export type FakeExpectation = bigint | 'none' | 'any' | 'exists';

/**
 * The outcome of a write. A partly repeated one is a wrong version. `position` is `null` where the
 * real server does not know it.
 */
export type Written =
  | { readonly written: true; readonly revision: bigint; readonly position: bigint | null }
  | { readonly written: false; readonly actual: bigint };

const EPOCHS = '$epoch-information';

export const isHidden = ({ stream }: Pick<FakeEvent, 'stream'>): boolean => stream === EPOCHS;

/**
 * The log of the fake EventStoreDB. Appends follow the rules of the real one
 * (`IndexWriter.CheckCommit`): with an expected revision, ids are compared with those of the events
 * after it; otherwise with a cache of recent events, which a restart empties.
 */
export class FakeLog {
  readonly events: FakeEvent[] = [];
  readonly #streams = new Map<string, FakeEvent[]>();
  readonly #recent = new Map<string, FakeEvent>();
  readonly #listeners = new Set<(event: FakeEvent) => void>();
  /**
   * Starts beyond the exact range of a number, so that a test fails when a position becomes one.
   */
  #end = 2n ** 53n + 1n;

  stream(name: string): readonly FakeEvent[] {
    return this.#streams.get(name) ?? [];
  }

  /** The first revision that is not truncated, by the stream's metadata. */
  firstOf(name: string): bigint {
    const metadata = this.stream(`$$${name}`).at(-1);
    const { $tb = 0 } = metadata === undefined ? {} : (JSON.parse(Buffer.from(metadata.data).toString()) as { $tb?: number });
    return BigInt($tb);
  }

  /**
   * Calls `listener` for each event that is committed, in order, until the returned function is
   * called.
   */
  listen(listener: (event: FakeEvent) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Empties the cache of recent events, as a restart does. */
  forgetRecent(): void {
    this.#recent.clear();
  }

  /** Removes the server's own events, as the real server does when they are old. */
  scavenge(): void {
    const kept = this.events.filter(({ stream }) => !stream.startsWith('$'));
    this.events.splice(0, this.events.length, ...kept);
  }

  /** Writes one of the server's own events. */
  writeSystemEvent(): void {
    this.#writeSystem('$stats-0.0.0.0:2113', '$statsCollected');
  }

  /** Writes the first event of a new leader, which neither reads nor subscriptions show. */
  writeEpoch(): void {
    this.#writeSystem(EPOCHS, '$epoch-information');
  }

  #writeSystem(stream: string, type: string): void {
    this.#add(stream, [
      {
        id: crypto.randomUUID(),
        type,
        contentType: 'application/json',
        data: Buffer.from('{}'),
        metadata: new Uint8Array(),
      },
    ]);
  }

  append(stream: string, events: readonly NewFakeEvent[], expected: FakeExpectation): Written {
    const current = this.stream(stream);
    const head = BigInt(current.length) - 1n;
    const wrong: Written = { written: false, actual: head };
    // An empty append succeeds.
    if (events.length === 0) return { written: true, revision: 0n, position: null };
    if (expected === 'exists' && head < 0n) return wrong;
    if (expected === 'any' || expected === 'exists') {
      const known = events.map(({ id }) => {
        const event = this.#recent.get(id);
        return event?.stream === stream ? event : undefined;
      });
      if (known[0] === undefined) return this.#add(stream, events);
      const last = known.at(-1);
      if (known.includes(undefined) || last === undefined) return wrong;
      return { written: true, revision: last.revision, position: last.position };
    }
    const at = expected === 'none' ? -1n : expected;
    if (at > head) return wrong;
    if (at === head) return this.#add(stream, events);
    const following = events.map((_, index) => current[Number(at) + 1 + index]);
    if (!events.every(({ id }, index) => following[index]?.id === id)) return wrong;
    const end = following.at(-1);
    return { written: true, revision: end?.revision ?? -1n, position: end?.position ?? null };
  }

  #add(stream: string, events: readonly NewFakeEvent[]): Written {
    const inStream = this.#streams.get(stream) ?? [];
    this.#streams.set(stream, inStream);
    const added = events.map((event) => {
      const stored = { ...event, stream, revision: BigInt(inStream.length), position: this.#end, createdMs: Date.now() };
      this.#end += BigInt(100 + event.data.length + event.metadata.length);
      inStream.push(stored);
      this.events.push(stored);
      this.#recent.set(event.id, stored);
      return stored;
    });
    for (const event of added) for (const listener of this.#listeners) listener(event);
    const last = added.at(-1);
    return { written: true, revision: last?.revision ?? -1n, position: last?.position ?? null };
  }

  /** The position of the next event. */
  get end(): bigint {
    return this.#end;
  }

  /** The index of the first event at `position` or later. */
  indexOf(position: bigint): number {
    let [low, high] = [0, this.events.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.events[middle]?.position ?? 0n) >= position) high = middle;
      else low = middle + 1;
    }
    return low;
  }
}
