import type { AnyCommand, Decider } from '../../commands/decider.js';
import type { Recorded } from '../../events/envelope.js';
import type { StreamFold } from '../../events/fold.js';
import type { PublicationEvent } from '../../events/publication/publication.events.js';
import { publicationStream } from '../../events/publication/publication.stream.js';
import { attemptFailed, attemptStarted, isUnderWay, leaseRenewed, noAttempts, type Attempts } from '../../events/attempts.js';
import { decideLease, retryFor, type LeaseCommand } from '../lease.js';

export interface PublishedDocument {
  readonly documentId: string;
  readonly hash: string;
  /** Of its stream, as of which it was read. */
  readonly revision?: number;
}

export interface PublicationState {
  readonly stage: 'none' | 'requested' | 'deployed' | 'failed';
  /** Present once the repository holds what is published. */
  readonly committed?: { readonly commit: string; readonly documents: readonly PublishedDocument[] };
  /** Present once it is deployed; another publication may have made that deployment. */
  readonly deploymentId?: string;
  readonly attempts: Attempts;
  /** Of the last attempt, unless a later one got to its end. */
  readonly lastFault?: { readonly error: string; readonly transient: boolean; readonly provider?: string };
}

/** Commands that come late, twice, or of an attempt that is no longer the current one change nothing. */
export type PublicationCommand = AnyCommand & { readonly publicationId: string; readonly websiteId: string } & (
    { readonly type: 'RequestPublication' } | (PublicationOutcome & { readonly attempt: number })
  );

export type PublicationOutcome =
  | Exclude<LeaseCommand, { type: 'RecordFailure' }>
  | (Extract<LeaseCommand, { type: 'RecordFailure' }> & { readonly provider?: string })
  | { readonly type: 'RecordCommit'; readonly commit: string; readonly documents: readonly PublishedDocument[] }
  | { readonly type: 'RecordDeployment'; readonly deploymentId: string };

const evolve = (state: PublicationState, event: Recorded<PublicationEvent>): PublicationState => {
  const { attempts } = state;
  switch (event.type) {
    case 'PublicationRequested':
      return { ...state, stage: 'requested' };
    case 'PublicationStarted':
      return { ...state, attempts: attemptStarted(attempts, event) };
    case 'PublicationLeaseRenewed':
      return { ...state, attempts: leaseRenewed(attempts, event) };
    case 'PublicationCommitted': {
      const { commit, documents } = event.data;
      return { ...state, committed: { commit, documents } };
    }
    case 'PublicationDeployed':
      return { ...state, stage: 'deployed', deploymentId: event.data.deploymentId };
    case 'PublicationFailed': {
      const { error, transient, provider, nextAttemptAt } = event.data;
      return {
        ...state,
        stage: nextAttemptAt === undefined ? 'failed' : state.stage,
        attempts: attemptFailed(attempts, event),
        lastFault: { error, transient, ...(provider !== undefined && { provider }) },
      };
    }
  }
};

/** As long as a step of provisioning is tried (api.md, section 5). */
const RETRY_MS = 15 * 60_000;

const decide = (command: PublicationCommand, { stage, attempts, committed }: PublicationState): readonly PublicationEvent[] => {
  const { publicationId, websiteId } = command;
  const publication = { publicationId, websiteId };
  if (command.type === 'RequestPublication') {
    return stage === 'none' ? [{ type: 'PublicationRequested', data: publication }] : [];
  }
  if (stage !== 'requested') return [];
  switch (command.type) {
    case 'RecordCommit': {
      const { attempt, commit, documents } = command;
      if (!isUnderWay(attempts, attempt) || committed !== undefined) return [];
      const data = { ...publication, attempt, commit, documents: documents.map((document) => ({ ...document })) };
      return [{ type: 'PublicationCommitted', data }];
    }
    case 'RecordDeployment': {
      const { attempt, deploymentId } = command;
      if (!isUnderWay(attempts, attempt)) return [];
      return [{ type: 'PublicationDeployed', data: { ...publication, attempt, deploymentId } }];
    }
    default: {
      const provider = command.type === 'RecordFailure' ? command.provider : undefined;
      return decideLease<PublicationEvent>(
        attempts,
        command,
        {
          started: (lease) => [{ type: 'PublicationStarted', data: { ...publication, ...lease } }],
          renewed: (lease) => [{ type: 'PublicationLeaseRenewed', data: { ...publication, ...lease } }],
          failed: (failure) => [
            { type: 'PublicationFailed', data: { ...publication, ...failure, ...(provider !== undefined && { provider }) } },
          ],
        },
        retryFor(RETRY_MS),
      );
    }
  }
};

export const publicationFold: StreamFold<PublicationState, PublicationEvent, { readonly publicationId: string }> = {
  name: 'publication',
  stream: publicationStream,
  initialState: { stage: 'none', attempts: noAttempts },
  evolve,
};

/** Stream `publication-<publicationId>`. The stream is the lock. */
export const publicationProcess: Decider<PublicationState, PublicationCommand, PublicationEvent> = { ...publicationFold, decide };
