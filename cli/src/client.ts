import { Doorstep } from '@doorstep/sdk';
import { version } from './version.js';

/** The SDK's client, as this program uses it. */
export const createClient = (url: string, token: string, program = 'doorstep-cli'): Doorstep =>
  new Doorstep({ baseUrl: url, token, userAgent: `${program}/${version}` });
