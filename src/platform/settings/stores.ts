import { parseUrl } from '../urls.js';
import type { SettingsReader } from './reader.js';
import { Problem } from './values.js';

export interface StoreSettings {
  /** EventStoreDB's connection string; absent: the embedded event store in `dataDir`. */
  readonly eventStoreUrl: string | undefined;
  /** MongoDB's connection string; absent: the embedded read-model store in `dataDir`. */
  readonly readModelUrl: string | undefined;
}

export const readStores = ({ read }: SettingsReader): StoreSettings => ({
  eventStoreUrl: read('EVENT_STORE_URL', eventStoreAddress, undefined),
  readModelUrl: read('READ_MODEL_URL', readModelAddress, undefined),
});

const storeAddress =
  (schemes: readonly string[]) =>
  (text: string): string | Problem => {
    const scheme = schemes.find((known) => text.startsWith(`${known}://`));
    // `URL` cannot parse several hosts separated by commas, so only the first is checked with it.
    const hosts = /^[\w+]+:\/\/(?:[^@/?#]*@)?([^/?#]+)/.exec(text)?.[1] ?? '';
    const isHosts = hosts.split(',').every((host) => /^(?:[\w.-]+|\[[\da-f:.]+\])(?::\d{1,5})?$/i.test(host));
    const single = text.replace(hosts, hosts.split(',')[0] ?? '');
    const isGood = scheme !== undefined && isHosts && parseUrl(single) !== undefined;
    if (isGood) return text;
    // The value may hold a password, so the message does not repeat it.
    const credentials = scheme !== undefined && text.includes('@') ? `; ${encodedCredentials}` : '';
    return new Problem(`must be an address that begins with ${schemes.map((known) => `${known}://`).join(', ')}${credentials}`);
  };

const encodedCredentials = 'user name and password are percent-encoded: write @ as %40, : as %3A, / as %2F, % as %25';

/**
 * EventStoreDB: a node, the nodes of a cluster separated by commas, or a name to discover them by.
 */
const eventStoreAddress = storeAddress(['esdb', 'esdb+discover', 'kurrentdb', 'kurrentdb+discover']);

/**
 * MongoDB: a server, the members of a replica set separated by commas, or a name to find them by.
 */
const readModelAddress = storeAddress(['mongodb', 'mongodb+srv']);
