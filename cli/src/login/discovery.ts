import { Refusal } from '../command.js';

/** Where tokens for a service are issued, as the service says itself. */
export interface SignInPlace {
  /** The service's own address. */
  readonly url: string;
  readonly issuer: string;
  /** What an issuer elsewhere is asked for; absent where the service itself issues the tokens. */
  readonly audience?: string;
}

const timeoutMs = 20_000;
const wellKnown = '/.well-known/oauth-protected-resource';

/**
 * Asks a service who issues tokens for it (RFC 9728).
 * @throws Refusal when it cannot be reached, is no Doorstep, or lets nobody sign in
 */
export const discover = async (address: string): Promise<SignInPlace> => {
  const metadata = await readMetadata(address);
  const { resource, authorization_servers: issuers, audience } = metadata;
  if (typeof resource !== 'string') throw notDoorstep(address);
  const url = resource.replace(/\/+$/, '');
  // Section 3.3: otherwise one service could have people sign in for another one.
  if (url !== address && !areSameLoopback(url, address)) {
    throw new Refusal(`${address} calls itself ${url}. Sign in to that address: doorstep login --url ${url}`);
  }
  const issuer: unknown = Array.isArray(issuers) ? issuers[0] : undefined;
  if (typeof issuer !== 'string') {
    throw new Refusal(`Nobody can sign in at ${url}. Ask an admin for a token, and use it with --with-token.`);
  }
  return { url, issuer, ...(typeof audience === 'string' && { audience }) };
};

/** `localhost` and `127.0.0.1` are one machine. */
const areSameLoopback = (one: string, other: string): boolean => {
  const [first, second] = [new URL(one), new URL(other)];
  const names = new Set(['localhost', '127.0.0.1', '[::1]']);
  return (
    names.has(first.hostname) && names.has(second.hostname) && first.port === second.port && first.pathname === second.pathname
  );
};

/** Where section 3.1 has it, else where a service below a path serves it itself. */
const readMetadata = async (address: string): Promise<Readonly<Record<string, unknown>>> => {
  const { origin, pathname } = new URL(address);
  const path = pathname.replace(/\/$/, '');
  const places = [...new Set([origin + wellKnown + path, address + wellKnown])];
  for (const place of places) {
    const answer = await ask(address, place);
    if (answer.ok) {
      const body: unknown = await answer.json().catch(() => null);
      if (typeof body === 'object' && body !== null) return body as Record<string, unknown>;
    }
  }
  throw notDoorstep(address);
};

const ask = async (address: string, place: string): Promise<Response> => {
  try {
    return await fetch(place, { headers: { accept: 'application/json' }, signal: AbortSignal.timeout(timeoutMs) });
  } catch (error) {
    throw new Refusal(`${address} cannot be reached: ${reasonOf(error)}`);
  }
};

/** What went wrong on the way: `fetch` says only that it failed, and its cause says why. */
export const reasonOf = (error: unknown): string => {
  const { message, cause } = error as Error;
  if (!(cause instanceof Error)) return message;
  const { code } = cause as NodeJS.ErrnoException;
  return cause.message === '' ? (code ?? message) : cause.message;
};

const notDoorstep = (address: string): Refusal =>
  new Refusal(`There is no Doorstep at ${address}. Give the address of its portal, without /app/.`);
