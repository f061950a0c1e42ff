const minPauseMs = 4_000;
const maxPauseMs = 64_000;

/**
 * How long the service is left alone, after a break, between two questions whether it answers again, in
 * ms: ever longer while the connection breaks as soon as it is back, because then one thing alone
 * cannot be answered.
 * @param lastPauseMs after the break before this one
 * @param fineForMs how long the service has answered since then
 */
export const pauseAfterBreak = (lastPauseMs: number | undefined, fineForMs: number): number =>
  lastPauseMs === undefined || fineForMs > maxPauseMs ? minPauseMs : Math.min(lastPauseMs * 2, maxPauseMs);
