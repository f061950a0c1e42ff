import { commands } from './commands/index.js';
import { createContext } from './context.js';
import { report } from './errors.js';
import { listenForInterruption } from './interruption.js';
import { Output } from './output.js';
import { calledBy, parse } from './program.js';

/** Runs the program. Resolves with its exit code: 0, or 1 when something failed. */
export const main = async (argv: readonly string[], environment: NodeJS.ProcessEnv): Promise<number> => {
  endQuietlyWhenReaderLeaves();
  const plain = new Output({}, environment);
  try {
    const asked = parse(argv, commands, { width: plain.isTerminal ? plain.width : 80, style: plain.style });
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

/** `doorstep audit export | head`: the reader has what it wants. */
const endQuietlyWhenReaderLeaves = (): void => {
  for (const stream of [process.stdout, process.stderr])
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EPIPE') process.exit(0);
      throw error;
    });
};
