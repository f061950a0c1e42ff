import type { Answer } from '@doorstep/sdk';

/** What the service has, and the tag that a write of it names. */
export interface Saved<T> {
  readonly data: T;
  readonly tag: string | undefined;
}

export const toSaved = <T>({ data, response }: Answer<T>): Saved<T> => ({ data, tag: response.headers.get('etag') ?? undefined });
