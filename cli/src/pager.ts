import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { leaveInterruptions } from './interruption.js';

/** What a shell ends with when there is no such program. */
const notFound = 127;

/**
 * Shows text in a pager, by the shell, since `PAGER` may hold options. Without that program the text
 * is printed as it is.
 */
export const throughPager = async (pager: string, text: string, environment: NodeJS.ProcessEnv): Promise<void> => {
  const child = spawn(pager, {
    shell: true,
    stdio: ['pipe', 'inherit', 'ignore'],
    // F: ends at once where all fits; R: colours; X: leaves the text on the screen.
    env: { LESS: 'FRX', LV: '-c', ...environment },
  });
  // Ctrl-C is the pager's: less stops a search by it. It ends by `q`, and then this program does.
  const ignore = (): void => undefined;
  const takeBack = leaveInterruptions();
  // The reader may quit before the end.
  child.stdin.on('error', ignore);
  child.stdin.end(text);
  const [code] = (await once(child, 'exit')) as [number | null];
  takeBack();
  if (code === notFound) process.stdout.write(text);
};
