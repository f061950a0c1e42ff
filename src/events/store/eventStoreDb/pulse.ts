/**
 * What a connection shows of the server behind it. A server that is slow still answers others, or
 * was never asked so much at once: it was just started. One that hangs is silent.
 */
export interface Pulse {
  /** Counts a call that was sent, until `end`. */
  begin(): SentCall;
  /** Something came from the server, in answer to any call. */
  heard(): void;
}

export interface SentCall {
  /**
   * Whether the server is slow rather than hanging, asked at a deadline of the call: whether
   * anything was heard since the call was sent, or since the last time that this was asked.
   */
  isServerSlow(): boolean;
  /** Whether nothing was heard since the call was sent. */
  isServerSilent(): boolean;
  end(isAnswered: boolean): void;
}

/** Calls at once that a server is trusted to answer in time from its start. */
const COLD_CALLS = 8;

export const createPulse = (): Pulse => {
  let heard = 0;
  let underWay = 0;
  /** The most calls that were under way when one of them was answered. */
  let proven = COLD_CALLS;

  return {
    heard: () => {
      heard += 1;
    },
    begin: () => {
      const before = heard;
      let asked = heard;
      underWay += 1;
      return {
        isServerSlow: () => {
          const isAlive = heard > asked;
          asked = heard;
          return isAlive || underWay > proven;
        },
        isServerSilent: () => heard === before,
        end: (isAnswered) => {
          if (isAnswered) proven = Math.max(proven, underWay);
          underWay -= 1;
        },
      };
    },
  };
};
