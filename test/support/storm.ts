/**
 * How long tests go on that become surer the longer they take: `DOORSTEP_STORM` is unset in
 * `npm test`, `gate` in the files whose names end with `.gate.ts`, and `long` on request.
 */
export const inStorm = (numbers: { readonly short: number; readonly gate: number; readonly long: number }): number => {
  const length = process.env['DOORSTEP_STORM'];
  return length === 'long' || length === 'gate' ? numbers[length] : numbers.short;
};

/**
 * Of what is tried at each of many places, a third in `npm test`, another at each place; all of it in
 * the gate.
 */
export const inTurn = <Each>(all: readonly Each[], place: number): readonly Each[] =>
  all.filter((_, index) => inStorm({ short: 3, gate: 1, long: 1 }) === 1 || index % 3 === place % 3);

/** Of the screens on which pages are looked at, one in `npm test`; all of them in the gate. */
export const screens = <Each>(all: readonly Each[], short: number): readonly Each[] =>
  all.filter((_, index) => inStorm({ short: 1, gate: 2, long: 2 }) > 1 || index === short);
