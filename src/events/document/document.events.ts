import { Type } from 'typebox';
import { event, type EventOf } from '../defineStream.js';

const ofDocument = { websiteId: Type.String(), documentId: Type.String() };

/** Stream `document-<documentId>`. */
export const documentEvents = {
  DocumentUploaded: event(
    Type.Object({
      ...ofDocument,
      /** The key of the file in the file store. */
      file: Type.String(),
      name: Type.String(),
      contentType: Type.String(),
      size: Type.Integer(),
      sha256: Type.String(),
    }),
  ),
  DocumentRenamed: event(Type.Object({ ...ofDocument, name: Type.String(), previousName: Type.String() })),
  DocumentDeleted: event(Type.Object(ofDocument)),
  DocumentRestored: event(Type.Object(ofDocument)),
  /** It cannot be restored any more, and its file is removed. */
  DocumentPurged: event(Type.Object({ ...ofDocument, file: Type.String() })),
};

export type DocumentEvent = EventOf<typeof documentEvents>;
