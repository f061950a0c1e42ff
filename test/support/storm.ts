/**
 * How long tests go on that become surer the longer they take: `DOORSTEP_STORM` is unset in
 * `npm test`, `gate` in the files whose names end with `.gate.ts`, and `long` on request.
 */
export const inStorm = (numbers: { readonly short: number; readonly gate: number; readonly long: number }): number => {
  const length = process.env['DOORSTEP_STORM'];
  return length === 'long' || length === 'gate' ? numbers[length] : numbers.short;
};
