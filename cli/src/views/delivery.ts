import type { DeliveryBlock } from '@doorstep/sdk';
import { clean } from '../output.js';
import { pad } from '../table.js';
import { widest, wrapped, type Drawing } from './drawing.js';
import { dayClock, daysUntil, fromNow, longDay, shortDay, spaced } from './words.js';

type Checkpoint = DeliveryBlock['checkpoints'][number];

const marks: Record<Checkpoint['status'], string> = { done: '✓', in_progress: '◐', pending: '○' };

/** The mark of a status, or in a pipe its word: a column of one width. */
const markOf = (status: Checkpoint['status'], drawing: Drawing): string => {
  if (!drawing.marks) return pad(spaced(status), 'in progress'.length);
  if (status === 'done') return drawing.style.green(marks.done);
  return status === 'in_progress' ? drawing.style.yellow(marks.in_progress) : drawing.style.dim(marks.pending);
};

/** Once its day is over: the hour of a day says nothing. */
const isLate = ({ status, dueAt }: Checkpoint, drawing: Drawing): boolean =>
  status !== 'done' && dueAt !== undefined && daysUntil(dueAt, dayClock(drawing)) < 0;

const timeOf = (checkpoint: Checkpoint, drawing: Drawing): string => {
  if (checkpoint.completedAt !== undefined) return shortDay(checkpoint.completedAt, drawing).replace(/^(?=\d )/, ' ');
  if (checkpoint.dueAt === undefined) return '';
  return `due ${shortDay(checkpoint.dueAt, dayClock(drawing))}${isLate(checkpoint, drawing) ? ' (late)' : ''}`;
};

/** `Corner Bakery: ready by 22 December (in 30 days). 3 of 6 done; now: Content loaded.` */
const deliveryHeadline = (name: string, block: DeliveryBlock, drawing: Drawing): string => {
  const { checkpoints, estimatedCompletionAt: eta } = block;
  const done = checkpoints.filter(({ status }) => status === 'done').length;
  const current = checkpoints.filter(({ status }) => status === 'in_progress').map(({ label }) => clean(label));
  const next = checkpoints.find(({ status }) => status === 'pending');
  const stands = current.length > 0 ? `; now: ${current.join(', ')}` : done > 0 && next ? `; next: ${clean(next.label)}` : '';
  const progress = checkpoints.length === 0 ? 'No checkpoints.' : `${done} of ${checkpoints.length} done${stands}.`;
  const days = dayClock(drawing);
  return `${clean(name)}: ready by ${longDay(eta, days)} (${fromNow(eta, days)}). ${progress}`;
};

/** Where the delivery of a website stands: a sentence, and a line for each checkpoint. */
export const deliveryLines = (name: string, block: DeliveryBlock, drawing: Drawing): string[] => {
  const rows = block.checkpoints.map((checkpoint) => ({
    checkpoint,
    label: clean(checkpoint.label),
    time: timeOf(checkpoint, drawing),
    needed: checkpoint.neededFromClient === undefined ? '' : `needed: ${clean(checkpoint.neededFromClient)}`,
  }));
  const labels = widest(rows.map(({ label }) => label)) + 3;
  const times = widest(rows.map(({ time }) => time)) + 4;

  const lineOf = ({ checkpoint, label, time, needed }: (typeof rows)[number]): string[] => {
    const mark = markOf(checkpoint.status, drawing);
    const before = 2 + (drawing.marks ? 2 : 'in progress  '.length);
    const gap = drawing.marks ? ' ' : '  ';
    const paint = isLate(checkpoint, drawing) ? drawing.style.red : drawing.style.dim;
    const head = `  ${mark}${gap}${time === '' && needed === '' ? label : pad(label, labels)}`;
    if (needed === '') return [head + paint(time)];
    // What clients have to send is never cut: on a narrow terminal it comes beneath.
    if (before + labels + times + needed.length > drawing.width)
      return [head + paint(time), ...wrapped(needed, drawing.width, ' '.repeat(before)).map(drawing.style.yellow)];
    return [head + paint(pad(time, times)) + drawing.style.yellow(needed)];
  };

  return [...wrapped(deliveryHeadline(name, block, drawing), drawing.width), ...rows.flatMap(lineOf)].map((line) =>
    line.trimEnd(),
  );
};
