import { Refusal } from './command.js';

/** Which service is called, and as whom. */
export interface Connection {
  /** Without a trailing slash. */
  readonly url: string;
  readonly token: string;
}

/** What the command line says of it. */
export interface Chosen {
  readonly profile?: string;
  readonly url?: string;
}

const localService = 'http://127.0.0.1:3000';

/**
 * The environment's token and address.
 * @throws Refusal when there is no token
 */
export const connectionFrom = (chosen: Chosen, environment: NodeJS.ProcessEnv): Promise<Connection> => {
  const token = environment.DOORSTEP_TOKEN;
  if (token === undefined || token === '')
    throw new Refusal('You are not signed in. Run "doorstep login", or set DOORSTEP_TOKEN.');
  const url = chosen.url ?? environment.DOORSTEP_URL ?? localService;
  return Promise.resolve({ url: url.replace(/\/+$/, ''), token });
};
