/**
 * What `text` is as an absolute address, or as one relative to `base`; undefined when it is none. `URL.canParse` is not to be asked: in
 * Node 20 and 22, once V8 has optimised it (some thousand calls), it says no to every address with a letter such as ü.
 */
export const parseUrl = (text: string, base?: string): URL | undefined => {
  try {
    return new URL(text, base);
  } catch {
    return undefined; // How the parser says that it is none.
  }
};
