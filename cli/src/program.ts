import type { Command } from './command.js';
import { commandHelp, groupHelp } from './help.js';
import type { Style } from './output.js';
import type { Call } from './parse.js';

/** What the command line asks for: a command, or a page of help. */
export type Asked = { readonly call: Call } | { readonly help: string };

interface Page {
  readonly width: number;
  readonly style: Style;
}

/**
 * Reads the command line. Help is answered without the parser, which takes longer to load than all else.
 * @throws UsageError
 */
export const readCommandLine = async (argv: readonly string[], commands: readonly Command[], page: Page): Promise<Asked> => {
  if (argv[0] === 'help') return await readCommandLine([...argv.slice(1), '--help'], commands, page);
  if (argv[0] === '--version') return await readCommandLine(['version'], commands, page);
  const called = calledBy(argv, commands);
  const command = commands.find(({ name }) => name === called);
  const asksForHelp = beforeEnd(argv).some((word) => word === '--help' || word === '-h');
  const isGroupAlone = command === undefined && (called === '' ? argv.length === 0 : argv.join(' ') === called);
  if (isGroupAlone || (asksForHelp && isKnown(argv, called, command))) {
    const { width, style } = page;
    return {
      help: command === undefined ? groupHelp(called, commands, width, style) : commandHelp(command, commands, width, style),
    };
  }
  const { parse } = await import('./parse.js');
  return { call: parse(argv, called, commands) };
};

/** Whether there is no word that names a command which there is not. */
const isKnown = (argv: readonly string[], called: string, command: Command | undefined): boolean => {
  if (command !== undefined) return true;
  return wordsOf(argv).length === (called === '' ? 0 : called.split(' ').length);
};

/** The command, or the group, that a command line begins with. */
export const calledBy = (argv: readonly string[], commands: readonly Command[]): string => {
  let called = '';
  for (const word of wordsOf(argv)) {
    const longer = called === '' ? word : `${called} ${word}`;
    if (!commands.some(({ name }) => name === longer || name.startsWith(`${longer} `))) break;
    called = longer;
  }
  return called;
};

/** What stands before `--`: only arguments stand after it. */
const beforeEnd = (argv: readonly string[]): readonly string[] => {
  const end = argv.indexOf('--');
  return end === -1 ? argv : argv.slice(0, end);
};

/** What is no option, nor the value of one that stands before the command. */
const wordsOf = (argv: readonly string[]): string[] =>
  beforeEnd(argv).filter((word, at) => !word.startsWith('-') && !['--profile', '--url'].includes(argv[at - 1] ?? ''));
