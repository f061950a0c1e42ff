import type { EventFilter } from '../events/store/eventStore.js';

/** A part of the service that acts on its own: woken by events, by due times or by the calendar. */
export interface Worker {
  readonly name: string;
  /** The events that it reacts to; absent for the calendar. */
  readonly reactsTo?: EventFilter;
  /** Starts it and resolves at once; it waits for stores that are not available yet. */
  start(): Promise<void>;
  /**
   * Finishes work under way, for a few seconds at most, and begins nothing new; another worker does
   * the rest.
   */
  stop(): Promise<void>;
}
