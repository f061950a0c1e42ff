import type { Clock } from '../../../platform/clock.js';
import { PAGE_BYTES } from '../eventStore.js';
import { AnswerTooSlow } from './calls.js';
import type { WireRecord } from './records.js';
import type { StreamRequest } from './readRequests.js';
import type { StreamReply } from './wire.js';

/** A page that came in less than this may be larger the next time. */
const FAST_MS = 300;

/**
 * Reads a stream in pages as large as they come in time: a page that was still arriving at its
 * deadline is asked for again at a quarter of its size.
 */
export const createStreamPages = (
  read: (request: StreamRequest) => Promise<StreamReply>,
  clock: Clock,
): ((request: StreamRequest) => Promise<StreamReply>) => {
  /** `Infinity`: no page was ever too slow. */
  let pageSize = Infinity;

  const readPage = async (request: StreamRequest): Promise<StreamReply & { readonly isLast: boolean }> => {
    for (;;) {
      const max = Math.min(pageSize, request.max);
      const begunAt = clock.now();
      try {
        const reply = await read({ ...request, max });
        if (reply.records.length === max && clock.now() - begunAt < FAST_MS) pageSize *= 2;
        return { ...reply, isLast: reply.records.length < max };
      } catch (fault) {
        if (!(fault instanceof AnswerTooSlow) || max === 1) throw fault;
        pageSize = Math.ceil(max / 4);
      }
    }
  };

  return async (request) => {
    const records: WireRecord[] = [];
    let bytes = 0;
    for (let from = request.from; ;) {
      const page = await readPage({ ...request, from, max: request.max - records.length });
      records.push(...page.records);
      bytes += page.bytes;
      const last = records.at(-1)?.revision;
      const end = request.backwards ? 0n : page.head;
      const isWhole = page.isLast || last === undefined || last === end || records.length >= request.max;
      if (isWhole || bytes >= PAGE_BYTES) return { records, head: page.head, bytes };
      from = request.backwards ? last - 1n : last + 1n;
    }
  };
};
