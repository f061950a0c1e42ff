import type { ClientSubjectEvent } from '../../events/client/client.events.js';
import { clientSubjectStream } from '../../events/client/client.stream.js';
import { defineProjection, type Projection } from '../projection.js';

/** Which client a subject of the identity provider is, for finding the subjects of a client. */
export type ClientSubjectDocument = {
  /** Encrypted (`platform/personal.ts`) when it contains an address. */
  readonly subject: string;
  readonly clientId: string;
};

export const clientSubjectProjection: Projection<ClientSubjectDocument, ClientSubjectEvent> = defineProjection({
  name: 'clientSubject',
  version: 1,
  stream: clientSubjectStream,
  on: {
    ClientSubjectBound: (_document, { data: { subject, clientId } }) => ({ subject, clientId }),
  },
  indexes: [{ field: 'clientId' }],
});
