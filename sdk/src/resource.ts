import type { Client } from './client.js';

/** A group of methods. */
export abstract class Resource {
  /** @internal */
  protected readonly _client: Client;

  constructor(client: Client) {
    this._client = client;
  }
}

export type { Client } from './client.js';
export type { Call, List, Paged } from './call.js';
export type { WatchOptions } from './eventStream.js';
export type { RequestOptions } from './types.js';
export type { UploadBody, UploadOptions } from './upload.js';
