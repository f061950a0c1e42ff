/** The connection string as the client library takes it, and what was left out of it. */
export interface Address {
  readonly text: string;
  /** `host:port` of each node, for errors: never the password. */
  readonly nodes: string;
  readonly warnings: readonly Warning[];
}

/** Why an option of the address has no effect. Nothing but the option's name is told of the address. */
interface Warning {
  readonly option: string;
  readonly message: string;
}

/**
 * How a lost server is noticed: the library's defaults take 20 s for a connection and 5 s for each node that it asks for the leader.
 * Milliseconds, but for the gossip timeout, which the library takes in seconds.
 */
const defaults: readonly [name: string, value: number][] = [
  ['keepAliveInterval', 10_000],
  ['keepAliveTimeout', 5_000],
  ['gossipTimeout', 2],
];

/** Without `_` and `-`, in lower case, as the library compares them. */
const known: ReadonlySet<string> = new Set([
  ...defaults.map(([name]) => name.toLowerCase()),
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
 * Reads an address such as `esdb://user:password@host:2113?tls=true`. Options that the library does not know, or knows to have no effect, are
 * left out here: the library would print the whole address, with the password, to say so.
 * @throws Error when what stands behind the `?` are no options, as when a password was not percent-encoded
 */
export const readAddress = (url: string): Address => {
  const address = url.trim().replace(/^kurrentdb(?=[+:])/, 'esdb');
  // A password may hold a question mark.
  const credentials = /^[^:]+:\/\/(?:[^:]+:[^@]+@)?/.exec(address)?.[0] ?? '';
  const [hosts = '', ...query] = address.slice(credentials.length).split('?');
  const given = query
    .join('?')
    .split('&')
    .filter((option) => option !== '');
  if (!given.every(isOption)) throw notAnAddress();
  const options = given.filter((option) => known.has(flat(option)));
  const missing = defaults.filter(([name]) => !options.some((option) => flat(option) === name.toLowerCase()));
  const all = [...options, ...missing.map(([name, value]) => `${name}=${String(value)}`)];
  return {
    text: `${credentials}${hosts.replace(/\/+$/, '')}?${all.join('&')}`,
    nodes: hosts.replace(/\/+$/, ''),
    warnings: given.filter((option) => !options.includes(option)).flatMap(warningOf),
  };
};

/** What is said of an address that cannot be used; it may hold a password. */
export const notAnAddress = (cause?: unknown): Error =>
  new Error('the address of the event store is not a connection string such as esdb://host:2113', { cause });

/** Values of options that are not known are never used: an `@` in one is the end of a password. */
const isOption = (given: string): boolean => /^[\w-]+=/.test(given.trim()) && (known.has(flat(given)) || !given.includes('@'));

const nameOf = (option: string): string => option.split('=', 1)[0] ?? '';

const flat = (option: string): string => nameOf(option).trim().toLowerCase().replaceAll(/[_-]/g, '');

const warningOf = (given: string): Warning[] => {
  const option = nameOf(given);
  if (flat(given) !== 'tlsverifycert') return [{ option, message: "an option of the event store's address is not known" }];
  if (given.endsWith('=true')) return [];
  return [
    { option, message: "the event store's certificate is verified all the same: name the file of its authority as tlsCaFile" },
  ];
};
