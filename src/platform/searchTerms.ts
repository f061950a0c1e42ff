import { foldText } from './foldText.js';

/** How many characters a term has at most. */
const length = 3;

/**
 * What a text is found by in an index: its part of three characters from every character on, shorter
 * at the end, and the beginnings of its words, each behind a `^`. Without case and diacritics. So a
 * text that contains another one has all terms of the other's parts, or one that begins with it, but
 * may have them elsewhere: who finds it compares the texts.
 */
export const termsOf = (texts: readonly string[]): readonly string[] => {
  const terms = new Set<string>();
  for (const text of texts) {
    const folded = foldText(text);
    const characters = Array.from(folded);
    for (const index of characters.keys()) terms.add(characters.slice(index, index + length).join(''));
    for (const [word] of folded.matchAll(words)) terms.add(beginningOf(word));
  }
  return [...terms];
};

const words = /[\p{L}\p{N}]+/gu;

const beginningOf = (word: string): string => `^${Array.from(word).slice(0, length).join('')}`;

/**
 * The terms and their beginnings, for an index that finds nothing but whole values: of encrypted
 * texts. Beginnings of one character are left out: they would tell which letters a text has.
 */
export const spelledOut = (terms: readonly string[]): readonly string[] => [
  ...new Set(
    terms.flatMap((term) => {
      const characters = Array.from(term);
      return characters.slice(1).map((_, index) => characters.slice(0, index + 2).join(''));
    }),
  ),
];

/** What an index of terms is asked for. */
export interface AskedTerms {
  /** Terms that must all be there. */
  readonly all: readonly string[];
  /** One that begins so must be there. */
  readonly beginning?: string;
}

/** Whether the terms of a text are those that are asked for. */
export const hasTerms = (terms: readonly string[], { all, beginning }: AskedTerms): boolean =>
  all.every((term) => terms.includes(term)) && (beginning === undefined || terms.some((term) => term.startsWith(beginning)));

/** What an index with `spelledOut` terms is asked for; `[]` when it cannot know. */
export const spelledTerms = ({ all, beginning = '' }: AskedTerms): readonly string[] => [
  ...all,
  ...(Array.from(beginning).length > 1 ? [beginning] : []),
];

/** Terms of a query that are asked for: more of them find no less, and cost more. */
const maxAsked = 24;
/** A shorter query asks for all of its terms. */
const allAsked = 6;

/**
 * What every text has that contains what is searched. Parts overlap, so that of a longer text every
 * second one is enough, from the end, in which names differ most; and those across two words, which
 * are rare.
 */
export const termsWithin = (searched: string): AskedTerms => {
  const folded = foldText(searched);
  const characters = Array.from(folded);
  if (characters.length < length) return { all: [], ...(folded !== '' && { beginning: folded }) };
  const parts = [
    ...new Set(characters.slice(length - 1).map((_, index) => characters.slice(index, index + length).join(''))),
  ].reverse();
  if (parts.length <= allAsked) return { all: parts.reverse() };
  const asked = parts.filter((part, index) => index % 2 === 0 || /^.[^\p{L}\p{N}].$/su.test(part));
  return { all: asked.slice(0, maxAsked).reverse() };
};

/**
 * What every text has in which a word begins as what is searched does, and which contains it; `null`
 * when no word can begin so.
 */
export const termsOfBeginning = (searched: string): AskedTerms | null => {
  const [word] = /^[\p{L}\p{N}]+/u.exec(foldText(searched)) ?? [];
  if (word === undefined) return null;
  const begun = beginningOf(word);
  const { all } = termsWithin(searched);
  return Array.from(begun).length > length ? { all: [begun, ...all] } : { all, beginning: begun };
};
