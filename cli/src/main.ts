import { commands } from './commands/index.js';
import { createContext, type Globals } from './context.js';
import { report } from './errors.js';
import { listenForInterruption } from './interruption.js';
import { Output } from './output.js';
import { calledBy, readCommandLine } from './program.js';

/** Runs the program. Resolves with its exit code: 0, or 1 when something failed. */
export const main = async (argv: readonly string[], environment: NodeJS.ProcessEnv): Promise<number> => {
  endWithOutput();
  const plain = new Output({}, environment);
  if (argv[0] === '__complete') {
    await completeWords(argv.slice(1), plain, environment);
    return 0;
  }
  try {
    const asked = await readCommandLine(argv, commands, { width: plain.isTerminal ? plain.width : 80, style: plain.style });
    if ('help' in asked) {
      plain.raw(asked.help);
      return 0;
    }
    const { command, args, options, globals, output } = asked.call;
    const context = createContext(globals, new Output(output, environment), listenForInterruption(), environment);
    await command.run(context, args, options);
    return 0;
  } catch (error) {
    report(error, calledBy(argv, commands), environment);
    return 1;
  }
};

/** Ends when nothing more can be written: quietly where the reader has what it wants (`| head`). */
const endWithOutput = (): void => {
  process.stderr.on('error', ({ code }: NodeJS.ErrnoException) => process.exit(code === 'EPIPE' ? 0 : 1));
  process.stdout.on('error', ({ code, message }: NodeJS.ErrnoException) => {
    if (code === 'EPIPE') process.exit(0);
    process.stderr.write(`doorstep: ${message}\n`);
    process.exit(1);
  });
};

/** For the shell. Whatever goes wrong, a person is typing: nothing is said, and nothing offered. */
const completeWords = async (words: readonly string[], output: Output, environment: NodeJS.ProcessEnv): Promise<void> => {
  const { complete } = await import('./completion/complete.js');
  const { slugsOf } = await import('./completion/slugs.js');
  const candidates = await complete(words, commands, async (beginning) => {
    const context = createContext(globalsIn(words), output, listenForInterruption(), environment);
    try {
      return await slugsOf(context, beginning);
    } catch {
      return [];
    }
  });
  output.lines(candidates.map((candidate) => candidate.filter(Boolean).join('\t')));
};

/** The profile and the address that the words so far choose. */
const globalsIn = (words: readonly string[]): Globals => {
  const valueOf = (option: string): string | undefined => words[words.indexOf(option) + 1 || words.length];
  const profile = valueOf('--profile');
  const url = valueOf('--url');
  return { dryRun: false, yes: false, ...(profile !== undefined && { profile }), ...(url !== undefined && { url }) };
};
