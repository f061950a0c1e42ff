import { documentDecider } from '../../commands/document/document.decider.js';
import { mediaDecider } from '../../commands/media/media.decider.js';
import type { Engine } from '../../engine.js';
import { documentStream } from '../../events/document/document.stream.js';
import { mediaStream } from '../../events/media/media.stream.js';
import { websiteStream } from '../../events/website/website.stream.js';
import type { FileStore } from '../../integrations/files/port.js';
import { everyMediaOf } from '../../projections/media/media.queries.js';
import { everyDocumentOf } from '../../projections/document/document.queries.js';
import type { Reader } from '../../projections/reader.js';
import { createContextOf } from '../contextOf.js';
import type { CreateReactor } from '../reactions.js';
import type { Worker } from '../worker.js';

/**
 * Removes the files of what is purged, and everything that a deleted website has in the
 * file store. Removing it twice changes nothing.
 */
export const createFileWorker = (parts: {
  readonly engine: Engine;
  readonly reader: Reader;
  readonly createReactor: CreateReactor;
  readonly files: FileStore;
}): Worker => {
  const { engine, reader, createReactor, files } = parts;

  const contextOf = createContextOf(engine, 'files');

  return createReactor({
    name: 'files',
    streams: [documentStream, mediaStream, websiteStream],
    on: {
      DocumentPurged: ({ data }) => files.remove(data.file),
      MediaPurged: async ({ data }) => {
        for (const file of data.files) await files.remove(file);
      },
      WebsiteDeleted: async (event) => {
        const { websiteId } = event.data;
        for (const { id: documentId } of await everyDocumentOf(reader, websiteId)) {
          const purge = { type: 'PurgeDocument', websiteId, documentId, evenIfLive: true } as const;
          await engine.handle(documentDecider, purge, contextOf(event));
        }
        for (const { id: mediaId } of await everyMediaOf(reader, websiteId)) {
          const purge = { type: 'PurgeMedia', websiteId, mediaId, evenIfLive: true } as const;
          await engine.handle(mediaDecider, purge, contextOf(event));
        }
        for await (const { key } of files.list(`${websiteId}/`)) await files.remove(key);
      },
    },
  });
};
