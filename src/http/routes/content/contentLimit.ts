import type { WithContentRoom } from '../../../commands/content/content.handlers.js';
import { createKeyedMutex } from '../../../platform/keyedMutex.js';
import { contentShelf } from '../../../projections/content/content.projection.js';
import { bytesLeftFor } from '../../../projections/content/content.queries.js';
import type { Reader } from '../../../projections/reader.js';

/** Of one collection of a website. */
export const maxDocuments = 200;

/**
 * Of the documents of one collection of a website together: publishing and previews have all of them in
 * memory. It is more than the embedded hosting builds a site with: 4 MB of declared documents, and 4 MB of others.
 */
const maxBytes = 10_000_000;

/**
 * So large a document can always be saved, without a look at the others: most are, also while the projection
 * is behind. All that there may be have `maxBytes`, so that a collection never has more than twice that.
 */
const alwaysBytes = maxBytes / maxDocuments;

/**
 * Those that are large and of one collection are saved one after the other in this process; of several
 * processes, each may add one document too many at the same time.
 */
export const createContentLimit = (reader: Reader): WithContentRoom => {
  const mutex = createKeyedMutex();
  return (key, bytes, save) =>
    bytes <= alwaysBytes
      ? save(alwaysBytes)
      : mutex.run(contentShelf(key), async () => save(await bytesLeftFor(reader, key, maxBytes)));
};
