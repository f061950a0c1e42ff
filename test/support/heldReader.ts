import type { RequestHandler, Response } from 'express';
import { eventually } from './eventually.js';

/** Stands for a reader who takes nothing more, at the server's end, where it can be told exactly. */
export interface HeldReader {
  /** To be mounted at `/`: it notes the response to the latest request. */
  readonly mount: RequestHandler;
  /** From now on nothing of the response leaves this process. */
  readonly hold: () => Promise<void>;
  readonly letGo: () => void;
  /** Whether a write was answered with "wait for drain", and there was none since. */
  readonly isFull: () => boolean;
  /** Resolves once it is held and full, which it then stays. */
  readonly full: () => Promise<true>;
}

export const createHeldReader = (): HeldReader => {
  let latest: Response | undefined;
  let isHeld = false;
  const isFull = (): boolean => latest?.writableNeedDrain === true;
  return {
    mount: (_request, response, next) => {
      latest = response;
      isHeld = false;
      next();
    },
    hold: async () => {
      await eventually('empty buffers', () => (latest?.headersSent === true && latest.writableLength === 0 ? true : undefined));
      latest?.socket?.cork();
      isHeld = true;
    },
    letGo: () => {
      latest?.socket?.uncork();
    },
    isFull,
    full: () => eventually('full buffers', () => (isHeld && isFull()) || undefined),
  };
};
