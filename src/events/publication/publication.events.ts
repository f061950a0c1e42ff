import { Type } from 'typebox';
import { event, type EventOf } from '../defineStream.js';
import { Attempt, attemptFailure, leaseRenewal, leaseStart } from '../fields.js';
import { publicationUpcasters } from './publication.upcasters.js';

const ofPublication = { publicationId: Type.String(), websiteId: Type.String() };
const ofAttempt = { ...ofPublication, attempt: Attempt };

/**
 * Stream `publication-<publicationId>`: what is saved of a website's content is put into its
 * repository and deployed, at one request.
 */
export const publicationEvents = {
  PublicationRequested: event(Type.Object(ofPublication)),
  PublicationStarted: event(Type.Object({ ...ofPublication, ...leaseStart })),
  PublicationLeaseRenewed: event(Type.Object({ ...ofPublication, ...leaseRenewal })),
  /** The repository holds these versions since that commit. `revision`: of a document's stream, as of which it was read; version 1 had none. */
  PublicationCommitted: event(
    Type.Object({
      ...ofAttempt,
      commit: Type.String(),
      documents: Type.Array(
        Type.Object({
          documentId: Type.String(),
          hash: Type.String(),
          revision: Type.Optional(Type.Integer({ minimum: 0 })),
        }),
      ),
    }),
    publicationUpcasters.PublicationCommitted,
  ),
  /** The hosting provider has begun the deployment, under this id of its own. */
  PublicationDeployed: event(Type.Object({ ...ofAttempt, deploymentId: Type.String() })),
  PublicationFailed: event(
    Type.Object({
      ...ofPublication,
      ...attemptFailure,
      provider: Type.Optional(Type.String()),
    }),
  ),
};

export type PublicationEvent = EventOf<typeof publicationEvents>;
