/**
 * Parses `text` as an absolute address, or as one relative to `base`; undefined when it is not an
 * address. Do not use `URL.canParse`: in Node 20 and 22, once V8 has optimised it (after some
 * thousand calls), it returns false for every address with a letter such as ü.
 */
export const parseUrl = (text: string, base?: string): URL | undefined => {
  try {
    return new URL(text, base);
  } catch {
    return undefined; // Not an address.
  }
};
