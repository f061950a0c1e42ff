import stringWidth from 'string-width';
import { clean, type Column, type Style } from './output.js';

const gap = 2;
/** A column is not cut below this, unless its texts are shorter. */
const narrowest = 6;

/** Widths that fit into the terminal: the widest column gives way first, those that are never cut not at all. */
const fit = (natural: readonly number[], isWhole: (at: number) => boolean, width: number): number[] => {
  const widths = [...natural];
  const room = width - gap * (widths.length - 1);
  for (let over = widths.reduce((sum, one) => sum + one, 0) - room; over > 0; over -= 1) {
    const yielding = widths.map((one, at) => (isWhole(at) ? 0 : one));
    const widest = yielding.indexOf(Math.max(...yielding));
    if ((yielding[widest] ?? 0) <= narrowest) break;
    widths[widest] = (widths[widest] ?? 0) - 1;
  }
  return widths;
};

const graphemes = new Intl.Segmenter();

/** Cuts a text to columns of the terminal: wide characters take two of them. */
export const cut = (text: string, width: number): string => {
  if (stringWidth(text) <= width) return text;
  let kept = '';
  let taken = 0;
  for (const { segment } of graphemes.segment(text)) {
    taken += stringWidth(segment);
    if (taken > width - 1) break;
    kept += segment;
  }
  return `${kept}…`;
};

/** A text filled up with blanks to columns of the terminal. */
export const pad = (text: string, width: number, right = false): string => {
  const blanks = ' '.repeat(Math.max(0, width - stringWidth(text)));
  return right ? blanks + text : text + blanks;
};

const textIn = <Row>({ value, shown }: Column<Row>, row: Row): string => clean(shown?.(row) ?? String(value(row) ?? ''));

const naturalWidth = <Row>(column: Column<Row>, rows: readonly Row[]): number =>
  Math.max(stringWidth(column.heading), ...rows.map((row) => stringWidth(textIn(column, row))));

/** Without the last spare columns, as long as not all have room: cut to a few characters they say nothing. */
const roomy = <Row>(rows: readonly Row[], columns: readonly Column<Row>[], width: number): readonly Column<Row>[] => {
  const kept = [...columns];
  const taken = (): number => kept.reduce((sum, column) => sum + naturalWidth(column, rows) + gap, -gap);
  while (taken() > width) {
    const last = kept.findLastIndex(({ spare }) => spare === true);
    if (last === -1) break;
    kept.splice(last, 1);
  }
  return kept;
};

/** A table for a terminal: headings, then a line a row, cut to the width. */
export const table = <Row>(rows: readonly Row[], all: readonly Column<Row>[], width: number, style: Style): string[] => {
  const columns = roomy(rows, all, width);
  const texts = rows.map((row) => columns.map((column) => textIn(column, row)));
  const natural = columns.map((column) => naturalWidth(column, rows));
  const widths = fit(natural, (at) => columns[at]?.whole === true, width);
  const line = (cells: readonly string[], styled: (text: string, at: number) => string): string =>
    cells
      .map((text, at) => {
        const size = widths[at] ?? 0;
        const last = at === cells.length - 1 && columns[at]?.right !== true;
        const short = cut(text, size);
        return styled(last ? short : pad(short, size, columns[at]?.right), at);
      })
      .join(' '.repeat(gap))
      .trimEnd();
  return [
    line(
      columns.map(({ heading }) => heading.toUpperCase()),
      (text) => style.bold(text),
    ),
    ...rows.map((row, index) => line(texts[index] ?? [], (text, at) => columns[at]?.style?.(text, style, row) ?? text)),
  ];
};
