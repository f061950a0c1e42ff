import { clientSubjectStream } from '../../events/client/client.stream.js';
import { streamPrefix } from '../../events/defineStream.js';
import type { ClientSubjectEvent } from '../../events/client/client.events.js';
import type { Projection } from '../projection.js';

/** Which client a subject of the identity provider is, for finding the subjects of a client. */
export type ClientSubjectDocument = {
  /** Sealed (`platform/personal.ts`) when it tells an address. */
  readonly subject: string;
  readonly clientId: string;
};

const prefix = streamPrefix(clientSubjectStream);

export const clientSubjectProjection: Projection<ClientSubjectDocument, ClientSubjectEvent> = {
  name: 'clientSubject',
  version: 1,
  handles: ['ClientSubjectBound'],
  ignores: [],
  documentId: ({ stream }) => stream.replace(prefix, ''),
  stream: (subjectIndex) => clientSubjectStream.name({ subjectIndex }),
  indexes: [{ field: 'clientId' }],
  evolve: (document, { type, data }) =>
    // A newer build may know more types than this one.
    (type as string) === 'ClientSubjectBound' ? { subject: data.subject, clientId: data.clientId } : document,
};
