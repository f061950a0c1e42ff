/** A parsed connection string. */
export interface Address {
  /** The connection string for the client library, without options that it would warn about. */
  readonly text: string;
  /** `host:port` of each node, for error messages, without credentials. */
  readonly nodes: string;
  readonly warnings: readonly Warning[];
}

/**
 * Why an option of the address has no effect. It holds only the option's name, since the address
 * may hold a password.
 */
interface Warning {
  readonly option: string;
  readonly message: string;
}

/**
 * Options that notice a lost server sooner than the library's defaults, which take 20 s for a
 * connection and 5 s for each node that it asks for the leader. In milliseconds, except the gossip
 * timeout, which is in seconds.
 */
const defaultOptions: readonly [name: string, value: number][] = [
  ['keepAliveInterval', 10_000],
  ['keepAliveTimeout', 5_000],
  ['gossipTimeout', 2],
];

/** Names of options in lower case without `_` and `-`, as the library compares them. */
const knownOptions: ReadonlySet<string> = new Set([
  ...defaultOptions.map(([name]) => name.toLowerCase()),
  'connectionname',
  'defaultdeadline',
  'dnsdiscover',
  'discoveryinterval',
  'maxdiscoverattempts',
  'nodepreference',
  'throwonappendfailure',
  'tls',
  'tlscafile',
  'usercertfile',
  'userkeyfile',
]);

/**
 * Parses an address such as `esdb://user:password@host:2113?tls=true`. Options that are unknown or
 * have no effect are left out, because the library would warn about them by printing the whole
 * address with its password.
 * @throws Error when the text after the `?` is not a list of options, for example because a
 * password is not percent-encoded
 */
export const parseAddress = (url: string): Address => {
  const address = url.trim().replace(/^kurrentdb(?=[+:])/, 'esdb');
  // A password may hold a question mark.
  const credentials = /^[^:]+:\/\/(?:[^:]+:[^@]+@)?/.exec(address)?.[0] ?? '';
  const [hosts = '', ...query] = address.slice(credentials.length).split('?');
  const given = query
    .join('?')
    .split('&')
    .filter((option) => option !== '');
  if (!given.every(isOption)) throw invalidAddress();
  const options = given.filter((option) => knownOptions.has(normalizedName(option)));
  const missing = defaultOptions.filter(([name]) => !options.some((option) => normalizedName(option) === name.toLowerCase()));
  const all = [...options, ...missing.map(([name, value]) => `${name}=${String(value)}`)];
  return {
    text: `${credentials}${hosts.replace(/\/+$/, '')}?${all.join('&')}`,
    nodes: hosts.replace(/\/+$/, ''),
    warnings: given.filter((option) => !options.includes(option)).flatMap(warningOf),
  };
};

/** The error for an invalid address. It does not quote the address, which may hold a password. */
export const invalidAddress = (cause?: unknown): Error =>
  new Error('the address of the event store is not a connection string such as esdb://host:2113', { cause });

/**
 * Whether `given` is an option. An unknown option whose value holds an `@` is rather the end of a
 * password.
 */
const isOption = (given: string): boolean =>
  /^[\w-]+=/.test(given.trim()) && (knownOptions.has(normalizedName(given)) || !given.includes('@'));

const nameOf = (option: string): string => option.split('=', 1)[0] ?? '';

const normalizedName = (option: string): string => nameOf(option).trim().toLowerCase().replaceAll(/[_-]/g, '');

const warningOf = (given: string): Warning[] => {
  const option = nameOf(given);
  if (normalizedName(given) !== 'tlsverifycert')
    return [{ option, message: "an option of the event store's address is not known and has no effect; check its name" }];
  if (given.endsWith('=true')) return [];
  return [
    { option, message: "the event store's certificate is verified nevertheless; name the file of its authority as tlsCaFile" },
  ];
};
