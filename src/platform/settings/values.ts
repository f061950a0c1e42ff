/** Parsers that several sections share: each answers with the value, or with what is wrong with it. */
import { canonicalAddress } from '../emailAddress.js';

/** What is wrong with a value. The message follows the variable's name: `must be …`. */
export class Problem {
  readonly message: string;

  constructor(message: string) {
    this.message = message;
  }
}

export const anyText = (text: string): string => text;

export const oneOf =
  <Choice extends string>(choices: readonly Choice[]) =>
  (text: string): Choice | Problem =>
    choices.find((choice) => choice === text) ?? new Problem(`must be one of ${choices.join(', ')}`);

/** Entries separated by commas; duplicates are dropped. */
export const listOf =
  <Item>(parse: (text: string) => Item | Problem) =>
  (text: string): readonly Item[] | Problem => {
    const items = new Set<Item>();
    for (const entry of text.split(',')) {
      const item = parse(entry.trim());
      if (item instanceof Problem) return new Problem(`each entry ${item.message}`);
      items.add(item);
    }
    return [...items];
  };

/** A whole number from 1. */
export const numberUpTo =
  (max: number) =>
  (text: string): number | Problem =>
    /^[1-9]\d{0,8}$/.test(text) && Number(text) <= max
      ? Number(text)
      : new Problem(`must be a whole number from 1 to ${String(max)}`);

/** A value that is put into a header unchanged. */
export const credential = (text: string): string | Problem =>
  /^[\x21-\x7e]+$/.test(text) ? text : new Problem('must be printable characters without spaces');

export const isEmail = (text: string): boolean => text.length <= 254 && /^[^\s@<>",;:()[\]\\]+@[^\s@<>",;:()[\]\\]+$/.test(text);

export const emailAddress = (text: string): string | Problem =>
  isEmail(text) ? canonicalAddress(text) : new Problem('must be an e-mail address');

export const keyOf32Bytes = (text: string): Buffer | Problem => {
  const key = Buffer.from(text, 'base64');
  return key.length === 32 && key.toString('base64') === text ? key : new Problem('must be 32 bytes in base64 (44 characters)');
};
