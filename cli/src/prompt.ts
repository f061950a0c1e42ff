import { createInterface } from 'node:readline';

/** Asks for a line on standard error: standard output is for data. Ctrl-D gives an empty line. */
export const askLine = (question: string): Promise<string> =>
  new Promise((resolve) => {
    const line = createInterface({ input: process.stdin, output: process.stderr });
    // While it reads lines, Ctrl-C comes here instead of as a signal.
    line.on('SIGINT', () => {
      line.close();
      process.stderr.write('\n');
      process.kill(process.pid, 'SIGINT');
    });
    line.on('close', () => {
      resolve('');
    });
    line.question(question, (answer) => {
      resolve(answer);
      line.close();
    });
  });
