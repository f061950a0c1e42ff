import { Doorstep, type DoorstepError } from '@doorstep/sdk';
import type { Output } from './output.js';
import { version } from './version.js';

/** The SDK's client, as this program uses it. */
export const createClient = (
  url: string,
  token: string,
  { program = 'doorstep-cli', output }: { readonly program?: string; readonly output?: Output } = {},
): Doorstep =>
  new Doorstep({
    baseUrl: url,
    token,
    userAgent: `${program}/${version}`,
    ...(output !== undefined && {
      onRetry: (error, delayMs) => {
        sayWait(output, error, delayMs);
      },
    }),
  });

/** A wait that the service asks for may take a minute, in which nothing else is said. */
const sayWait = (output: Output, { message, headers }: DoorstepError, delayMs: number): void => {
  const seconds = Math.round(delayMs / 1_000);
  if (output.isJson || seconds === 0 || headers?.has('retry-after') !== true) return;
  output.note(`${message}. The service asks to wait for ${String(seconds)} s…`);
};
