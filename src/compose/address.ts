import type { Settings } from '../platform/settings.js';

/** Where the service is reached. */
export interface Address {
  /** Public base address, without a trailing slash. */
  readonly baseUrl: () => string;
  /**
   * The address within this machine or network of a public one: websites that this service serves
   * are reached directly.
   */
  readonly toLocalUrl: (url: string) => string;
  /** Called once this process listens, with its own address. */
  readonly listensAt: (url: string) => void;
}

export const createAddress = ({ http: { host, port, baseUrl: publicUrl, internalUrl } }: Settings): Address => {
  // Nothing asks before this process listens. A process without the API assumes that another
  // process has the address.
  let localUrl: string | undefined;
  const baseUrl = (): string => publicUrl ?? localUrl ?? addressOf(host, port);
  return {
    baseUrl,
    toLocalUrl: (url) => {
      const inside = localUrl ?? internalUrl;
      return inside !== undefined && url.startsWith(baseUrl()) ? inside + url.slice(baseUrl().length) : url;
    },
    listensAt: (url) => {
      localUrl = url;
    },
  };
};

const addressOf = (host: string, port: number): string => `http://${host.includes(':') ? `[${host}]` : host}:${String(port)}`;
