import { basename } from 'node:path';
import type { Context } from './context.js';
import { cut } from './table.js';
import { clean, columnsOf } from './output.js';
import { size } from './views/words.js';

interface Sent {
  readonly sent: number;
  readonly total?: number | undefined;
}

/** `contract.pdf  ███████░░░░░  58%  1.2 MB of 2.0 MB`, at most so many columns. */
export const progressLine = (name: string, { sent, total }: Sent, columns: number): string => {
  if (total === undefined || total === 0) return cut(`${name}  ${size(sent)}`, columns);
  const share = Math.min(1, sent / total);
  const percent = `${String(Math.floor(share * 100)).padStart(3)}%`;
  const sizes = `${size(sent)} of ${size(total)}`;
  const room = columns - percent.length - sizes.length - 6;
  const label = cut(name, Math.max(8, Math.min(24, room - 10)));
  const bar = Math.min(30, room - label.length);
  if (bar < 6) return cut(`${label} ${percent}`, columns);
  const full = Math.round(share * bar);
  return `${label}  ${'█'.repeat(full)}${'░'.repeat(bar - full)}  ${percent}  ${sizes}`;
};

interface Progress {
  /** For the upload: nothing where there is nobody to see it. */
  readonly options: { readonly onProgress?: (progress: Sent) => void };
  /** Takes the line away. */
  end(): void;
}

/** How an upload goes, on one line of the terminal at standard error. */
export const showProgress = ({ globals }: Context, file: string): Progress => {
  const { stderr } = process;
  if (!stderr.isTTY || globals.dryRun) return { options: {}, end: () => undefined };
  const name = clean(basename(file));
  let shown = false;
  return {
    options: {
      onProgress: (progress) => {
        shown = true;
        // The last column stays free: a line that fills it would wrap.
        stderr.write(`\r${progressLine(name, progress, columnsOf(stderr) - 1)}\u001b[K`);
      },
    },
    end: () => {
      if (shown) stderr.write('\r\u001b[K');
      shown = false;
    },
  };
};
