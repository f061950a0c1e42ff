/** How long a request waits for what a worker does, in milliseconds: less than callers and proxies wait for an answer. */
export const awaitMs = 15_000;

/** Whether a task is tried again only after `deadline`, in milliseconds since the epoch. */
export const isPausedBeyond = ({ pause }: { readonly pause?: { readonly until: string } }, deadline: number): boolean =>
  pause !== undefined && Date.parse(pause.until) > deadline;
