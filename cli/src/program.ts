import { Command as Parser, CommanderError, Option as ParsedOption } from 'commander';
import { kebab, UsageError, type Command } from './command.js';
import type { Globals } from './context.js';
import { argumentAsWritten, commandHelp, groupHelp, optionAsWritten } from './help.js';
import type { OutputOptions, Style } from './output.js';

/** How a command was called. */
export interface Call {
  readonly command: Command;
  readonly args: Readonly<Record<string, unknown>>;
  readonly options: Readonly<Record<string, unknown>>;
  readonly globals: Globals;
  readonly output: OutputOptions;
}

/** What the command line asks for: a command, or a page of help. */
export type Asked = { readonly call: Call } | { readonly help: string };

interface Page {
  readonly width: number;
  readonly style: Style;
}

/**
 * Reads the command line.
 * @throws UsageError with a suggestion where a word is nearly one that exists
 */
export const parse = (argv: readonly string[], commands: readonly Command[], page: Page): Asked => {
  if (argv.length === 0) return { help: groupHelp('', commands, page.width, page.style) };
  if (argv[0] === 'help') return parse([...argv.slice(1), '--help'], commands, page);
  if (argv[0] === '--version') return parse(['version'], commands, page);

  let asked: Asked | undefined;
  const ask = (one: Asked): void => {
    asked = one;
  };
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

  const own = new Map(commands.map((command) => [command.name, command]));
  for (const command of commands)
    describe(parserFor(command.name), command).action((...given: unknown[]) => {
      ask({ call: readCall(command, given.at(-1) as Parser) });
    });
  for (const [name, parser] of parsers) {
    const command = own.get(name);
    parser
      // In `delivery history --json` the option is that of the subcommand.
      .enablePositionalOptions()
      .helpCommand(false)
      .exitOverride()
      .configureHelp({
        formatHelp: () =>
          command === undefined
            ? groupHelp(name, commands, page.width, page.style)
            : commandHelp(command, commands, page.width, page.style),
      })
      .configureOutput({
        writeOut: (help) => {
          ask({ help });
        },
        // A group that is called alone prints its help as an error.
        writeErr: (help) => {
          ask({ help });
        },
        outputError: () => undefined,
      });
  }
  try {
    root.parse([...argv], { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (asked === undefined) throw new UsageError(inOurWords(error.message));
  }
  if (asked === undefined) throw new UsageError('Missing command');
  return asked;
};

/** The command, or the group, that a command line begins with. */
export const calledBy = (argv: readonly string[], commands: readonly Command[]): string => {
  let called = '';
  for (const word of argv.filter((one) => !one.startsWith('-'))) {
    const longer = called === '' ? word : `${called} ${word}`;
    if (!commands.some(({ name }) => name === longer || name.startsWith(`${longer} `))) break;
    called = longer;
  }
  return called;
};

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
    if (option.kind === 'list') written.argParser((text: string, before: readonly string[] = []) => [...before, text]);
    parser.addOption(written);
  }
  if (command.plain !== true) parser.option('--json [fields]').option('--jq <expression>');
  if (command.write === true) parser.option('--dry-run').option('--idempotency-key <key>');
  if (command.destructive === true) parser.option('-y, --yes');
  return parser;
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

const readCall = (command: Command, parser: Parser): Call => {
  const given = parser.opts<Given>();
  const { profile, url } = parser.optsWithGlobals<{ profile?: string; url?: string }>();
  const { words, json } = returnToArguments(command, parser.args, given.json);
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
      ...(json !== undefined && { json: json === true ? json : json.split(',').map((field) => field.trim()) }),
      ...(given.jq !== undefined && { jq: given.jq }),
    },
  };
};

/**
 * In `websites get --json corner-bakery` the option takes the word that the command lacks: it is
 * given back.
 */
const returnToArguments = (
  { arguments: args = {} }: Command,
  words: readonly string[],
  json: string | true | undefined,
): { words: readonly string[]; json: string | true | undefined } => {
  const needed = Object.values(args).filter(({ kind }) => kind !== 'optional').length;
  return typeof json === 'string' && words.length === needed - 1 ? { words: [...words, json], json: true } : { words, json };
};

const readArguments = ({ arguments: args = {} }: Command, words: readonly string[]): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(args).map(([name, argument], at) => {
      const rest = argument.kind === 'rest';
      const word = words[at];
      if (word === undefined && argument.kind !== 'optional')
        throw new UsageError(`Missing argument ${argumentAsWritten(name, argument)}`);
      return [name, rest ? words.slice(at).map(argument.parse) : word === undefined ? undefined : argument.parse(word)];
    }),
  );

const readOptions = ({ options = {} }: Command, given: Given): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(options).map(([name, option]) => {
      const value = given[name];
      if (option.kind === 'flag') return [name, value === true];
      if (option.kind === 'list') return [name, ((value ?? []) as string[]).map(option.parse)];
      if (value !== undefined) return [name, readOption(name, option.parse, String(value))];
      if (option.required === true) throw new UsageError(`Missing option ${optionAsWritten(name, option)}`);
      return [name, undefined];
    }),
  );

/** What `parse` refuses is said with the option's name. */
const readOption = (name: string, parseText: (text: string) => unknown, text: string): unknown => {
  try {
    return parseText(text);
  } catch (error) {
    if (error instanceof UsageError) throw new UsageError(`--${kebab(name)}: ${error.message}`);
    throw error;
  }
};
