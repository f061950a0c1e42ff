import type { ChangeEvent } from '@doorstep/sdk';
import type { Context } from './context.js';
import { clean, type Output } from './output.js';
import { sentence, shortTime } from './views/words.js';

/** `3 Nov, 14:05  Delivery replaced  ops@example.com`; in a pipe the same as tab-separated values. */
const changeLine = ({ data }: ChangeEvent, { isTerminal, style }: Output): string => {
  if (data.type === undefined) return '';
  const { at, type, actor, websiteId = '', clientId = '' } = data;
  const who = clean(actor?.name ?? actor?.subject ?? '');
  if (!isTerminal) return [at, type, websiteId, clientId, who].join('\t');
  const clock = { now: Date.now() };
  return [style.dim(shortTime(at, clock)), sentence(type), who, style.dim(websiteId || clientId)]
    .filter((part) => part !== '')
    .join('  ');
};

/** A line for each change, until the stream ends or Ctrl-C. */
export const followChanges = async ({ output }: Context, changes: AsyncIterable<ChangeEvent>): Promise<void> => {
  for await (const change of changes) {
    // The stream is open: what changes from now on is shown.
    if (change.event === 'ready') output.note('Following what changes. Ctrl-C ends it.');
    else if (change.event === 'reset') output.note('More has changed than can be listed. What comes now is new.');
    else if (output.isJson) await output.json(change);
    else output.lines([changeLine(change, output)]);
  }
};
