/** Prints rows with their columns below each other. */
export const printTable = (rows: readonly (readonly string[])[]): void => {
  const widths = rows[0]?.map((_, index) => Math.max(...rows.map((row) => row[index]?.length ?? 0))) ?? [];
  for (const row of rows) {
    const line = row.map((cell, index) => cell.padEnd(widths[index] ?? 0)).join('  ');
    process.stdout.write(`${line.trimEnd()}\n`);
  }
};

/** As JSON, positions as text. */
export const printJson = (value: unknown): void => {
  const plain = (_key: string, part: unknown): unknown => (typeof part === 'bigint' ? String(part) : part);
  process.stdout.write(`${JSON.stringify(value, plain, 2)}\n`);
};
