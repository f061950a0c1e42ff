import { damaged } from './source.js';

/**
 * Puts an object together from its base and the difference.
 * @param charge is called with the size before memory is taken for it
 */
export const applyDifference = (base: Buffer, difference: Buffer, charge: (bytes: number) => void): Buffer => {
  let at = 0;
  const next = (): number => {
    const byte = difference[at];
    if (byte === undefined) throw damaged('A difference');
    at += 1;
    return byte;
  };
  const size = (): number => {
    let value = 0;
    for (let factor = 1; ; factor *= 128) {
      const byte = next();
      value += (byte & 0x7f) * factor;
      if (byte < 0x80) return value;
    }
  };
  /** A number whose bytes are present where `instruction` has a bit from `first` on. */
  const sparse = (instruction: number, first: number, bytes: number): number => {
    let value = 0;
    for (let index = 0; index < bytes; index += 1) if ((instruction & (first << index)) !== 0) value += next() * 256 ** index;
    return value;
  };

  if (size() !== base.length) throw damaged('A difference');
  const length = size();
  charge(length);
  const content = Buffer.alloc(length);
  let written = 0;
  while (at < difference.length) {
    const instruction = next();
    const isCopy = instruction >= 0x80;
    const from = isCopy ? sparse(instruction, 1, 4) : at;
    const count = isCopy ? sparse(instruction, 16, 3) || 0x10000 : instruction;
    const source = isCopy ? base : difference;
    if (count === 0 || from + count > source.length || written + count > length) throw damaged('A difference');
    source.copy(content, written, from, from + count);
    written += count;
    if (!isCopy) at += count;
  }
  if (written !== length) throw damaged('A difference');
  return content;
};
