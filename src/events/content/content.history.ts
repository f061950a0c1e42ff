import type { StreamReader } from '../streamReader.js';
import type { ContentEvent } from './content.events.js';
import { contentStream, type ContentKey } from './content.stream.js';

/** The body of the version that was saved at `revision`; `null` when none was. */
export const contentVersionBody = async (
  log: Pick<StreamReader, 'history'>,
  key: ContentKey,
  revision: bigint,
): Promise<unknown> => {
  for await (const event of log.history<ContentEvent, ContentKey>(contentStream, key, revision - 1n, 1)) {
    return event.type === 'ContentPublished' ? null : event.data.body;
  }
  return null;
};
