import { Command as Parser, CommanderError, Option as ParsedOption } from 'commander';
import { kebab, UsageError, type Command } from './command.js';
import type { Globals } from './context.js';
import { argumentAsWritten, childrenOf, optionAsWritten } from './help.js';
import { nearest } from './nearest.js';
import type { OutputOptions } from './output.js';

/** How a command was called. */
export interface Call {
  readonly command: Command;
  readonly args: Readonly<Record<string, unknown>>;
  readonly options: Readonly<Record<string, unknown>>;
  readonly globals: Globals;
  readonly output: OutputOptions;
}

/**
 * Reads the command line of a command.
 * @param called - the command, or the group, that the line begins with: only its parser, and those
 *   beside it, are made
 * @throws UsageError with a suggestion where a word is nearly one that exists
 */
export const parse = (argv: readonly string[], called: string, commands: readonly Command[]): Call => {
  let call: Call | undefined;
  const root = new Parser('doorstep').option('--profile <name>').option('--url <address>');
  const parsers = new Map<string, Parser>([['', root]]);

  /** The parser of a group or a command, below that of its group. */
  const parserFor = (name: string): Parser => {
    const known = parsers.get(name);
    if (known !== undefined) return known;
    const words = name.split(' ');
    const parser = new Parser(words.at(-1));
    parserFor(words.slice(0, -1).join(' ')).addCommand(parser);
    parsers.set(name, parser);
    return parser;
  };

  // After `--` no word is a command, also where it is the name of one: `delivery -- history`.
  const isEnded = argv.includes('--');
  for (const command of commands) {
    if (isEnded && command.name.startsWith(`${called} `)) continue;
    // The names beside those called are what is suggested.
    const words = command.name.split(' ');
    const isNear = words.every((_, at) => at === 0 || called.split(' ').slice(0, at).join(' ') === words.slice(0, at).join(' '));
    if (command.name !== called) {
      if (isNear) parserFor(command.name);
      else parserFor(words[0] ?? '');
    } else
      describe(parserFor(command.name), command).action((...given: unknown[]) => {
        call = readCall(command, given.at(-1) as Parser, argv);
      });
  }
  for (const parser of parsers.values())
    parser
      // In `delivery history --json` the option is that of the subcommand.
      .enablePositionalOptions()
      .helpCommand(false)
      .helpOption(false)
      .exitOverride()
      .configureOutput(silent);
  try {
    root.parse([...argv], { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    throw new UsageError(mistypedCommand(error, parsers.get(called)?.args[0], called, commands) ?? inOurWords(error.message));
  }
  if (call === undefined) throw new UsageError('Missing command');
  return call;
};

const silent = { writeOut: () => undefined, writeErr: () => undefined, outputError: () => undefined };

const describe = (parser: Parser, command: Command): Parser => {
  for (const [name, argument] of Object.entries(command.arguments ?? {})) {
    // `--json` may have taken a required one: whether one is missing is seen afterwards.
    const word = kebab(name);
    parser.argument(argument.kind === 'rest' ? `[${word}...]` : `[${word}]`);
  }
  parser.allowExcessArguments(false).option('--profile <name>').option('--url <address>');
  for (const [name, option] of Object.entries(command.options ?? {})) {
    const written = new ParsedOption(
      option.kind === 'flag' || option.placeholder !== undefined || option.choices === undefined
        ? optionAsWritten(name, option)
        : optionAsWritten(name, { ...option, placeholder: 'choice' }),
    );
    if (option.kind === 'list') written.argParser((text: string, before: unknown) => [...((before ?? []) as string[]), text]);
    parser.addOption(written);
  }
  if (command.plain !== true) parser.option('--json [fields]').option('--jq <expression>');
  if (command.write === true) parser.option('--dry-run').option('--idempotency-key <key>');
  // Where nothing is asked it says nothing: a script may give it with every write.
  if (command.write === true || command.destructive !== undefined) parser.option('-y, --yes');
  return parser;
};

/**
 * A group that is a command itself takes a mistyped command of it for its argument: what is then too
 * much, or unknown, belongs to the command that was meant.
 * @param word - the first one after the group
 */
const mistypedCommand = (
  { code, message }: CommanderError,
  word: string | undefined,
  called: string,
  commands: readonly Command[],
): string | undefined => {
  if (called === '' || word === undefined || message.includes('Did you mean')) return undefined;
  if (code !== 'commander.excessArguments' && code !== 'commander.unknownOption') return undefined;
  const typed = `${called} ${word}`;
  const meant = nearest(
    word,
    childrenOf(called, commands).map(([name]) => name.slice(called.length + 1)),
  );
  return meant === undefined ? undefined : `Unknown command "${typed}". Did you mean ${called} ${meant}?`;
};

/** commander's `error: unknown option '--jsn'\n(Did you mean --json?)` as one sentence. */
const inOurWords = (message: string): string =>
  message
    .replace(/^error: /, '')
    .replace(/^./, (first) => first.toUpperCase())
    .replaceAll("'", '"')
    .replace(/\n\(Did you mean (.+?)\?\)/, '. Did you mean $1?');

interface Given {
  readonly [name: string]: unknown;
  readonly json?: string | true;
  readonly jq?: string;
}

const readCall = (command: Command, parser: Parser, argv: readonly string[]): Call => {
  const given = parser.opts<Given>();
  const { profile, url } = parser.optsWithGlobals<{ profile?: string; url?: string }>();
  const { words, json } = returnToArguments(command, parser.args, given.json, argv);
  const fields = typeof json === 'string' ? json.split(',').map((field) => field.trim()) : json;
  for (const [option, text] of Object.entries({ profile, url, jq: given.jq, idempotencyKey: given.idempotencyKey }))
    if (text === '') throw new UsageError(`--${kebab(option)}: must not be empty`);
  if (Array.isArray(fields) && fields.includes(''))
    throw new UsageError('--json: write the fields as name,slug, or leave them out');
  return {
    command,
    args: readArguments(command, words),
    options: readOptions(command, given),
    globals: {
      ...(profile !== undefined && { profile }),
      ...(url !== undefined && { url }),
      ...(typeof given.idempotencyKey === 'string' && { idempotencyKey: given.idempotencyKey }),
      dryRun: given.dryRun === true,
      yes: given.yes === true,
    },
    output: {
      ...(fields !== undefined && { json: fields }),
      ...(given.jq !== undefined && { jq: given.jq }),
    },
  };
};

/**
 * In `clients add --json corner-bakery nell@example.com` the option takes the word that the command lacks:
 * it is given back to its place. With `--json=` it is fields in any case, and so is a word
 * with a comma, which slugs and ids never hold, but words of a search may.
 */
const returnToArguments = (
  command: Command,
  words: readonly string[],
  json: string | true | undefined,
  argv: readonly string[],
): { words: readonly string[]; json: string | true | undefined } => {
  const { name, arguments: args = {} } = command;
  const missing = Object.values(args)[words.length];
  if (typeof json !== 'string' || missing === undefined) return { words, json };
  if (json.includes(',') && missing.kind !== 'rest') return { words, json };
  const option = argv.findLastIndex((word, at) => word === '--json' && argv[at + 1] === json);
  if (option === -1) return { words, json };
  const { operands } = describe(new Parser(), command).exitOverride().configureOutput(silent).parseOptions(argv.slice(0, option));
  return { words: words.toSpliced(operands.length - name.split(' ').length, 0, json), json: true };
};

const readArguments = ({ arguments: args = {} }: Command, words: readonly string[]): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(args).map(([name, argument], at) => {
      const rest = argument.kind === 'rest';
      const word = words[at];
      if (word === undefined && argument.kind !== 'optional')
        throw new UsageError(`Missing argument ${argumentAsWritten(name, argument)}`);
      const read = (text: string): unknown => readNamed(argumentAsWritten(name, argument), argument.parse, text);
      return [name, rest ? words.slice(at).map(read) : word === undefined ? undefined : read(word)];
    }),
  );

const readOptions = ({ options = {} }: Command, given: Given): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(options).map(([name, option]) => {
      const value = given[name];
      if (option.kind === 'flag') return [name, value === true];
      const read = (text: string): unknown => readNamed(`--${kebab(name)}`, option.parse, text);
      if (option.kind === 'list') return [name, ((value ?? []) as string[]).map(read)];
      if (value !== undefined) return [name, read(value as string)];
      if (option.required === true) throw new UsageError(`Missing option ${optionAsWritten(name, option)}`);
      return [name, undefined];
    }),
  );

/** What `parse` refuses is said with the name of the option or argument. */
const readNamed = (name: string, parseText: (text: string) => unknown, text: string): unknown => {
  try {
    return parseText(text);
  } catch (error) {
    if (error instanceof UsageError) throw new UsageError(`${name}: ${error.message}`);
    throw error;
  }
};
