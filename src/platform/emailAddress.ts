import { domainToASCII, domainToUnicode } from 'node:url';

/** Local part and domain; null for text without both. */
const partsOf = (address: string): { readonly local: string; readonly domain: string } | null => {
  const at = address.lastIndexOf('@');
  return at < 1 || at === address.length - 1 ? null : { local: address.slice(0, at), domain: address.slice(at + 1) };
};

const isInternational = (domain: string): boolean => /[^\0-\x7f]|xn--/i.test(domain);

const withDomain = (address: string, convert: (domain: string) => string): string => {
  const parts = partsOf(address);
  if (parts === null || !isInternational(parts.domain)) return address;
  const domain = convert(parts.domain);
  return domain === '' ? address : `${parts.local}@${domain}`;
};

/**
 * The form in which addresses are kept and compared: in lower case, an international domain as
 * people write it (`anna@müller.example`), whether it came so or in Punycode (RFC 5891, 4.4).
 */
export const canonicalAddress = (address: string): string =>
  withDomain(address.toLowerCase(), (domain) => domainToUnicode(domainToASCII(domain)));

/** The form in which an address travels in mails: an international domain in Punycode. */
export const asciiAddress = (address: string): string => withDomain(address, domainToASCII);
