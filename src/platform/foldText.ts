/** Letters that Unicode does not take apart, as people write them without their marks. */
const plainLetters: Readonly<Record<string, string>> = {
  ß: 'ss',
  æ: 'ae',
  œ: 'oe',
  ø: 'o',
  ł: 'l',
  đ: 'd',
  ð: 'd',
  þ: 'th',
  ħ: 'h',
  ı: 'i',
};

/**
 * The text without case and diacritics, so that what people type finds what they mean: `muller` is
 * in `Müller`, `strasse` in `Straße`.
 */
export const foldText = (text: string): string => {
  const small = text.toLowerCase();
  if (!/[^\0-\x7f]/.test(small)) return small;
  return (
    small
      .normalize('NFKD')
      .replace(/\p{Mn}+/gu, '')
      // Again: taking characters apart may give capital letters (`℡`).
      .toLowerCase()
      .replace(/[ßæœøłđðþħı]/g, (letter) => plainLetters[letter] ?? letter)
  );
};

const maxSortKeyLength = 300;

/**
 * What stands for the text where texts are sorted: compared as bytes, keys give the order that
 * people expect, without case and diacritics. A key is of `!` to `~`, so that every store compares
 * it alike, and ends after 300 characters: longer texts that begin alike are equal.
 */
export const sortKeyOf = (text: string): string =>
  foldText(text)
    .slice(0, maxSortKeyLength)
    .replace(/ /g, '!')
    .replace(/[^!-}]+/gu, (run) => [...Buffer.from(run)].map((byte) => `~${byte.toString(16).padStart(2, '0')}`).join(''))
    .slice(0, maxSortKeyLength);
