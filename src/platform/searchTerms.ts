import { foldText } from './foldText.js';

/** How many characters a term for parts of texts has. */
const length = 3;

/**
 * What a text is found by in an index: every part of three characters, and the beginnings of its
 * words, of one to three. Without case and diacritics. A text that contains another one has all
 * terms of the other's parts, but may have them elsewhere: who finds it compares the texts.
 */
export const termsOf = (texts: readonly string[]): readonly string[] => {
  const terms = new Set<string>();
  for (const text of texts) {
    const folded = foldText(text);
    for (const part of partsOf(folded)) terms.add(part);
    for (const [word] of folded.matchAll(/[\p{L}\p{N}]+/gu)) {
      const characters = Array.from(word);
      for (let count = 1; count <= Math.min(length, characters.length); count += 1)
        terms.add(beginning(characters.slice(0, count).join('')));
    }
  }
  return [...terms];
};

/** Terms of a query that are asked for: more of them find no less, and cost more. */
const maxAsked = 24;
/** A shorter query asks for all of its terms. */
const allAsked = 6;

/**
 * The terms that every text has which contains what is searched; `[]` when it is shorter than a
 * part, and the index cannot know. Parts overlap, so that of a longer text every second one is
 * enough, from the end, in which names differ most; and those across two words, which are rare.
 */
export const termsWithin = (searched: string): readonly string[] => {
  const parts = [...new Set(partsOf(foldText(searched)))].reverse();
  if (parts.length <= allAsked) return parts.reverse();
  return parts
    .filter((part, index) => index % 2 === 0 || /^.[^\p{L}\p{N}].$/su.test(part))
    .slice(0, maxAsked)
    .reverse();
};

/**
 * The terms that every text has in which a word begins as what is searched does, and which contains
 * it.
 */
export const termsOfBeginning = (searched: string): readonly string[] => {
  const [word = ''] = /^[\p{L}\p{N}]+/u.exec(foldText(searched)) ?? [];
  const begun = Array.from(word).slice(0, length).join('');
  return begun === '' ? [] : [beginning(begun), ...termsWithin(searched)];
};

const beginning = (start: string): string => `^${start}`;

const partsOf = (folded: string): readonly string[] => {
  const characters = Array.from(folded);
  return characters.slice(length - 1).map((_, index) => characters.slice(index, index + length).join(''));
};
