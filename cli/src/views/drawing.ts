import stringWidth from 'string-width';
import type { Output, Style } from '../output.js';
import type { Clock } from './words.js';

/** How a view is drawn. */
export interface Drawing extends Clock {
  readonly style: Style;
  /** Columns. Infinity in a pipe. */
  readonly width: number;
  /** ✓ ◐ ○ ✗ on a terminal; in a pipe words, or nothing. */
  readonly marks: boolean;
}

/** For standard output, now. */
export const drawingFor = (output: Output): Drawing => ({
  style: output.style,
  width: output.width,
  marks: output.isTerminal,
  now: Date.now(),
});

/** Breaks between words, so that no line has more columns than there are. */
export const wrapped = (text: string, width: number, indent = ''): string[] => {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    const longer = line === '' ? indent + word : `${line} ${word}`;
    if (line !== '' && stringWidth(longer) > width) {
      lines.push(line);
      line = indent + word;
    } else {
      line = longer;
    }
  }
  return [...lines, line];
};

/** The columns that the widest of them takes. */
export const widest = (texts: readonly string[]): number => Math.max(0, ...texts.map((text) => stringWidth(text)));
