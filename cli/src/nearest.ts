/** The one of several words that a mistyped one may have been meant as; undefined where none is like it. */
export const nearest = (typed: string, words: readonly string[]): string | undefined => {
  const maxDistance = Math.max(1, Math.min(3, Math.floor(typed.length / 3)));
  const byDistance = words.map((word) => ({ word, distance: distance(typed, word) }));
  byDistance.sort((one, other) => one.distance - other.distance);
  const [first] = byDistance;
  return first !== undefined && first.distance <= maxDistance ? first.word : undefined;
};

/** How many characters are to be added, left out, changed or swapped with the next (Damerau and Levenshtein). */
const distance = (one: string, other: string): number => {
  const table = [Array.from({ length: other.length + 1 }, (_, at) => at)];
  const entry = (row: number, column: number): number => table[row]?.[column] ?? Infinity;
  for (let row = 1; row <= one.length; row += 1) {
    const entries = [row];
    table.push(entries);
    for (let column = 1; column <= other.length; column += 1) {
      const isSame = one[row - 1] === other[column - 1];
      const isSwapped = one[row - 1] === other[column - 2] && one[row - 2] === other[column - 1];
      entries.push(
        Math.min(
          entry(row - 1, column) + 1,
          entry(row, column - 1) + 1,
          entry(row - 1, column - 1) + (isSame ? 0 : 1),
          isSwapped ? entry(row - 2, column - 2) + 1 : Infinity,
        ),
      );
    }
  }
  return entry(one.length, other.length);
};
