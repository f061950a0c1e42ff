/**
 * @typedef {{ atLeast: number } | { atMost: number }} Aim
 * @typedef {{ name: string, value: number, unit: string, aim?: Aim, about?: string }} Figure
 *   `about`: what stands beside it, as in the other side of a ratio.
 * @typedef {(name: string, measure: () => Promise<Figure[]>) => Promise<Figure[]>} Attempt - of a measure that may fail
 */

/** @param {readonly number[]} values */
export const median = (values) => quantile(values, 0.5);

/**
 * @param {readonly number[]} values
 * @param {number} share - 0.95: the value that 95 % are not above
 */
export const quantile = (values, share) => {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
};

/** @param {Figure} figure */
export const meetsAim = ({ value, aim }) => {
  if (aim === undefined) return undefined;
  return 'atLeast' in aim ? value >= aim.atLeast : value <= aim.atMost;
};

/** @param {number} value */
export const rounded = (value) => {
  const digits = Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 2;
  return value.toLocaleString('en', { minimumFractionDigits: digits, maximumFractionDigits: digits });
};

/**
 * @param {readonly Figure[]} figures
 * @param {readonly (number | undefined)[]} baseline - what each of them was before
 */
export const tableOf = (figures, baseline) => {
  const rows = figures.map((figure, index) => {
    const before = baseline[index];
    const { name, value, unit, aim, about } = figure;
    const meets = meetsAim(figure);
    return [
      name,
      `${rounded(value)} ${unit}`.trim(),
      aim === undefined ? '' : 'atLeast' in aim ? `≥ ${rounded(aim.atLeast)}` : `≤ ${rounded(aim.atMost)}`,
      meets === undefined ? '' : meets ? 'pass' : 'SHORT',
      before === undefined ? '' : `${rounded(before)} ${unit}`.trim(),
      about ?? '',
    ];
  });
  return markdown([['Figure', 'Measured', 'Aim', '', 'Baseline', 'Beside it'], ...rows]);
};

/** @param {readonly (readonly string[])[]} rows */
const markdown = ([heads = [], ...rows]) => {
  const widths = heads.map((head, column) => Math.max(head.length, ...rows.map((row) => row[column]?.length ?? 0)));
  const line = (/** @type {readonly string[]} */ cells) =>
    `| ${widths.map((width, column) => (cells[column] ?? '').padEnd(width)).join(' | ')} |`;
  return [line(heads), line(widths.map((width) => '-'.repeat(width))), ...rows.map(line)].join('\n');
};
