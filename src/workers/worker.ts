/** A part of the service that acts on its own: woken by events, by due times or by the calendar. */
export interface Worker {
  readonly name: string;
  /** Sets it going and resolves at once; what it needs and cannot reach yet, it waits for. */
  start(): Promise<void>;
  /**
   * Finishes what is under way, for a few seconds at most, and begins nothing new; the rest is left
   * to the next worker.
   */
  stop(): Promise<void>;
}
