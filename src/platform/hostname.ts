import { isIP } from 'node:net';
import { domainToASCII } from 'node:url';

/** A name may have 253 characters, and a label is put before it in DNS. */
const maxLength = 240;

const label = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;

/**
 * A hostname in its canonical form: lower case, A-labels (RFC 5891), no dot at the end.
 * @returns null when it is none that a website could have on the Internet: an address, a single label,
 *   or anything with a scheme, a port, a path or a wildcard
 */
export const canonicalHostname = (text: string): string | null => {
  // What follows one of these is dropped by the conversion.
  if (/[/?#\\@:]/.test(text)) return null;
  const name = domainToASCII(text.trim()).replace(/\.$/, '');
  const labels = name.split('.');
  const isName = name.length <= maxLength && labels.length > 1 && labels.every((one) => label.test(one));
  // The last label of a name is never a number (RFC 3696, 2), and that of an address is.
  return isName && isIP(name) === 0 && !/^\d+$/.test(labels.at(-1) ?? '') ? name : null;
};

/** The canonical hostname that a `Host` header names; null when it names none. */
export const hostnameIn = (header: string): string | null => canonicalHostname(header.replace(/:\d*$/, ''));
