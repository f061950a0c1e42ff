import { createInterface } from 'node:readline';

/** Asks for a line on standard error: standard output is for data. Ctrl-D gives an empty line. */
export const askLine = (question: string): Promise<string> =>
  new Promise((resolve) => {
    const line = createInterface({ input: process.stdin, output: process.stderr });
    const answerNothing = (): void => {
      resolve('');
    };
    // While it reads lines, Ctrl-C comes here instead of as a signal.
    line.on('SIGINT', () => {
      // It is no answer: with one, what was asked for would go on before a signal comes.
      line.off('close', answerNothing);
      line.close();
      process.stderr.write('\n');
      process.emit('SIGINT');
    });
    line.on('close', answerNothing);
    line.question(question, (answer) => {
      resolve(answer);
      line.close();
    });
  });
