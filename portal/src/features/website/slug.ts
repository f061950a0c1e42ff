/** What German writes with a letter more; every other diacritic is left off. */
const letters: Readonly<Record<string, string>> = { ä: 'ae', ö: 'oe', ü: 'ue', ß: 'ss', æ: 'ae', ø: 'o', ł: 'l', đ: 'd' };

const maxLength = 63;

/** A slug that a name suggests: "Bäckerei Nord" → "baeckerei-nord". Empty where nothing of it can stand in one. */
export const suggestedSlug = (name: string): string =>
  name
    .toLowerCase()
    .normalize('NFC')
    .replaceAll(/[äöüßæøłđ]/g, (letter) => letters[letter] ?? letter)
    .normalize('NFKD')
    .replaceAll(/[\u0300-\u036f'’]/g, '')
    .replaceAll(/[^a-z0-9]+/g, '-')
    .slice(0, maxLength)
    .replaceAll(/^-+|-+$/g, '');

/** Whether it is a DNS label of lower-case letters, digits and hyphens. */
export const isSlug = (text: string): boolean => /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/.test(text);
