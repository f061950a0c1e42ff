import type { ChangeEvent } from '@doorstep/sdk';
import type { Context } from './context.js';
import { clean } from './output.js';
import { sentence, shortTime } from './views/words.js';

/** A line for each change, until the stream ends or Ctrl-C. */
export const followChanges = async ({ output }: Context, changes: AsyncIterable<ChangeEvent>): Promise<void> => {
  output.note('Following what changes. Ctrl-C ends it.');
  for await (const change of changes) {
    if (output.isJson) await output.json(change);
    else output.lines([changeLine(change, output.isTerminal)]);
  }
};

void clean, sentence, shortTime;
const changeLine = (change: ChangeEvent, terminal: boolean): string => String(terminal) + JSON.stringify(change);
