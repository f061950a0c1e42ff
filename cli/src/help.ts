/**
 * Help pages, from the same values that are parsed: for a terminal here, for `man` by
 * `manPages.ts`.
 */
import { kebab, type Argument, type Command, type Option } from './command.js';
import type { Style } from './output.js';

/** A line of help about an option: how it is written, and what it does. */
export type Entry = readonly [written: string, summary: string];

const jsonOption: Entry = ['--json [fields]', 'Print the resource as JSON: all of it, or the fields named, with commas'];
const jqOption: Entry = ['--jq <expression>', 'Filter the JSON with a jq expression'];

export const globalOptions: readonly Entry[] = [
  ['--profile <name>', 'Use another profile than the current one'],
  ['--url <address>', 'Call the service at this address'],
  ['-h, --help', 'Show this help'],
];

const writeOptions: readonly Entry[] = [
  ['--dry-run', 'Print what would happen, and change nothing'],
  ['--idempotency-key <key>', 'Repeat under the same key without a second effect'],
];

const yesOption: Entry = ['-y, --yes', 'Do not ask'];

/** `<website>`, `[slug]`, `<file...>`. */
export const argumentAsWritten = (name: string, { kind, placeholder, choices }: Argument): string => {
  const word = placeholder ?? choices?.join('|') ?? kebab(name);
  if (kind === 'optional') return `[${word}]`;
  return kind === 'rest' ? `<${word}...>` : `<${word}>`;
};

/** `-l, --limit <number>`. */
export const optionAsWritten = (name: string, { kind, short, placeholder, choices }: Option): string => {
  const long = `--${kebab(name)}`;
  const value = kind === 'flag' ? '' : ` <${placeholder ?? choices?.join('|') ?? 'text'}>`;
  return `${short === undefined ? '' : `-${short}, `}${long}${value}`;
};

/** The options that commands of a kind have in common. */
export const commonOptions = ({ write, destructive, plain }: Command): Entry[] => [
  ...(plain === true ? [] : [jsonOption, jqOption]),
  ...(write === true ? writeOptions : []),
  ...(destructive === true ? [yesOption] : []),
];

/** A command's own options; a required one says so. */
export const ownOptions = ({ options = {} }: Command): Entry[] =>
  Object.entries(options).map(([name, option]) => [
    optionAsWritten(name, option),
    option.required === true ? `${option.summary} (required)` : option.summary,
  ]);

/** `doorstep websites get <website> [options]`. */
export const usage = (command: Command): string =>
  [
    'doorstep',
    command.name,
    ...Object.entries(command.arguments ?? {}).map(([name, argument]) => argumentAsWritten(name, argument)),
    ...Object.entries(command.options ?? {}).flatMap(([name, option]) =>
      option.required === true ? [optionAsWritten(name, option)] : [],
    ),
    '[options]',
  ].join(' ');

/** Breaks a text into lines that fit. */
const wrap = (text: string, width: number): string[] => text.split('\n').flatMap((paragraph) => wrapParagraph(paragraph, width));

const wrapParagraph = (text: string, width: number): string[] => {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    if (line !== '' && line.length + 1 + word.length > width) {
      lines.push(line);
      line = word;
    } else line = line === '' ? word : `${line} ${word}`;
  }
  return [...lines, line];
};

const longestOf = (entries: readonly Entry[]): number => Math.min(Math.max(...entries.map(([left]) => left.length)), 34);

/** Two columns; where the terminal is narrow, or the first is long, the second goes on its own line. */
const columns = (entries: readonly Entry[], width: number, longest = longestOf(entries)): string[] => {
  const room = width - longest - 4;
  if (room < 24)
    return entries.flatMap(([left, right]) => [
      `  ${left}`,
      ...wrap(right, Math.max(width - 6, 20)).map((line) => `      ${line}`),
    ]);
  return entries.flatMap(([left, right]) => {
    const [first = '', ...others] = wrap(right, room);
    const indent = ' '.repeat(longest + 4);
    const rest = others.map((line) => indent + line);
    return left.length > longest ? [`  ${left}`, indent + first, ...rest] : [`  ${left.padEnd(longest)}  ${first}`, ...rest];
  });
};

const section = (heading: string, lines: readonly string[], style: Style): string[] =>
  lines.length === 0 ? [] : ['', style.bold(heading), ...lines];

const exampleLines = (examples: Command['examples'], style: Style): string[] =>
  examples.flatMap(([does, line]) => [`  ${style.dim(`# ${does}`)}`, `  $ doorstep ${line}`]);

const widest = 100;

/** The help page of a command, which begins with its examples. */
export const commandHelp = (command: Command, all: readonly Command[], width: number, style: Style): string => {
  const room = Math.min(width, widest);
  const below = childrenOf(command.name, all);
  const args = Object.entries(command.arguments ?? {}).map(([name, argument]): Entry => [
    argumentAsWritten(name, argument),
    argument.summary,
  ]);
  return [
    style.bold('Examples'),
    ...exampleLines(command.examples, style),
    '',
    ...wrap(`${command.summary}.${command.description === undefined ? '' : ` ${command.description}`}`, room),
    ...section('Usage', [`  ${usage(command)}`], style),
    ...section('Arguments', args.length === 0 ? [] : columns(args, room), style),
    ...section('Options', columns([...ownOptions(command), ...commonOptions(command), ...globalOptions], room), style),
    ...section('More commands', below.length === 0 ? [] : columns(below, room), style),
    '',
  ].join('\n');
};

/** The commands and groups directly below a group, with a summary each. */
export const childrenOf = (group: string, all: readonly Command[]): Entry[] => {
  const prefix = group === '' ? '' : `${group} `;
  const children = new Map<string, string>();
  for (const { name, summary, hidden } of all) {
    if (hidden === true || !name.startsWith(prefix) || name === group) continue;
    const [word = '', ...deeper] = name.slice(prefix.length).split(' ');
    const full = `${prefix}${word}`;
    if (deeper.length === 0) children.set(full, summary);
    else if (!children.has(full)) children.set(full, groupSummaries[full] ?? '');
  }
  return [...children];
};

/** What groups are about that are no commands themselves. */
export const groupSummaries: Readonly<Record<string, string>> = {
  websites: 'Create, find and change websites',
  clients: 'People, and who may see which website',
  invitations: 'Invitations to a website',
  transfers: 'Hand a website and its bill over to a client',
  provisioning: 'How the building of a website goes',
  documents: 'Files that clients see',
  media: 'Images and videos of a website',
  content: 'What a website says',
  marketing: 'Marketing content of a website',
  domains: 'Domains of a website',
  bookings: 'Bookings of a website',
  services: 'Services attached to a website',
  billing: 'What a website costs, and who pays',
  invoices: 'Invoices of a website',
  audit: 'Who did what',
  access: 'Who may do what, and why',
  keys: 'Personal access tokens',
  profiles: 'Services that you are signed in to',
};

export const rootExamples: Command['examples'] = [
  ['Sign in', 'login'],
  ['Create a website, and watch it being built', 'websites create "Corner Bakery" --slug corner-bakery --watch'],
  ['Where does it stand?', 'delivery corner-bakery'],
];

/** The first page by topic; what no topic names comes last. */
const topics: readonly (readonly [heading: string, words: readonly string[]])[] = [
  [
    'Websites',
    ['websites', 'delivery', 'provisioning', 'deployments', 'commits', 'domains', 'blueprint', 'templates', 'features'],
  ],
  ['People', ['clients', 'access', 'invitations', 'transfers']],
  ['Content', ['content', 'marketing', 'documents', 'media', 'analytics', 'seo']],
  ['Services and bills', ['services', 'products', 'bookings', 'billing', 'invoices']],
  ['What happens', ['search', 'events', 'audit', 'outbox', 'status']],
  ['Signing in', ['login', 'logout', 'whoami', 'profiles', 'keys']],
];

const rootCommands = (all: readonly Command[], width: number, style: Style): string[] => {
  const children = childrenOf('', all);
  const named = topics.flatMap(([, words]) => words);
  return [...topics, ['More', children.map(([word]) => word).filter((word) => !named.includes(word))] as const].flatMap(
    ([heading, words]) => {
      const entries = words.flatMap((word) => children.filter(([name]) => name === word));
      return entries.length === 0 ? [] : section(heading, columns(entries, width, longestOf(children)), style);
    },
  );
};

/** The first page of help, or that of a group that is no command itself. */
export const groupHelp = (group: string, all: readonly Command[], width: number, style: Style): string => {
  const room = Math.min(width, widest);
  const page = (about: string, examples: Command['examples'], sections: readonly string[]): string =>
    [style.bold('Examples'), ...exampleLines(examples, style), '', ...wrap(about, room), ...sections, ''].join('\n');
  if (group !== '') {
    const inside = all.filter(({ name, hidden }) => hidden !== true && name.startsWith(`${group} `));
    return page(
      `${groupSummaries[group] ?? group}.`,
      inside.slice(0, 3).flatMap(({ examples }) => examples.slice(0, 1)),
      [
        ...section('Usage', [`  doorstep ${group} <command> [options]`], style),
        ...section('Commands', columns(childrenOf(group, all), room), style),
        ...section('Options', columns(globalOptions, room), style),
      ],
    );
  }
  return page('Create client websites, give clients access, and show them where their website stands.', rootExamples, [
    ...section('Usage', ['  doorstep <command> [options]', '  doorstep help <command>'], style),
    ...rootCommands(all, room, style),
    ...section('Options', columns([...globalOptions, ['--version', 'Print the version']], room), style),
    ...section('Environment', columns(environment, room), style),
    ...section(
      'Exit code',
      wrap(
        '0; 1 when something failed, a mistake in the command line too, with the message on standard error; 130 after Ctrl-C.',
        room - 2,
      ).map((line) => `  ${line}`),
      style,
    ),
  ]);
};

export const environment: readonly Entry[] = [
  [
    'DOORSTEP_TOKEN',
    'A personal access token, instead of that of the profile; it is sent to DOORSTEP_URL, else to the address of the profile',
  ],
  ['DOORSTEP_URL', 'The address of the service; without it that of the profile, else http://127.0.0.1:3000'],
  ['DOORSTEP_PROFILE', 'The profile to use'],
  ['DOORSTEP_PAGER, PAGER', 'The program that shows long lists; empty for none'],
  ['NO_COLOR, FORCE_COLOR', 'Never, or always, print colours'],
  ['DOORSTEP_DEBUG', 'Set to 1, print where an unexpected error came from'],
];
