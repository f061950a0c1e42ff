import type { IncomingMessage } from 'node:http';

/** A host and perhaps a port, without a name before it (RFC 9110, 4.2.4; RFC 3986, 3.2). Empty: there is none. */
const authority = /^(?:\[[\da-f:.]+\]|[\w.~%!$&'()*+,;=-]*)(?::\d*)?$/i;

/** Where in `rawHeaders` the values of `Host` are. */
const hostsIn = (rawHeaders: readonly string[]): readonly number[] => {
  const found: number[] = [];
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index];
    if (name?.length === 4 && name.toLowerCase() === 'host') found.push(index + 1);
  }
  return found;
};

/** Whether the head names one host, as it has to (RFC 9112, 3.2). */
export const namesHost = ({ rawHeaders, headers: { host }, httpVersion }: IncomingMessage): boolean => {
  const { length } = hostsIn(rawHeaders);
  if (host === undefined) return httpVersion !== '1.1';
  return length === 1 && authority.test(host);
};

/**
 * Makes of a target that is a whole address, as proxies get it, the path that every other request
 * has; its host counts instead of the header's (RFC 9112, 3.2.2). Called before anything else reads
 * the request.
 */
export const toOriginForm = (request: IncomingMessage): void => {
  const { url = '', rawHeaders, headers } = request;
  if (url.startsWith('/')) return;
  const [, host, rest = ''] = /^https?:\/\/([^/?]+)(.*)$/i.exec(url) ?? [];
  if (host === undefined) return;
  request.url = rest.startsWith('/') ? rest : `/${rest}`;
  for (const index of hostsIn(rawHeaders)) rawHeaders[index] = host;
  if (headers.host !== undefined) headers.host = host;
};
