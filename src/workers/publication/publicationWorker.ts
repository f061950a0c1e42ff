import { contentDecider } from '../../commands/content/content.decider.js';
import { Refused, refusals } from '../../commands/refusal.js';
import type { Engine } from '../../engine.js';
import { contentFiles, ContentTooLarge, mediaFolder, type FindSiteMedia } from '../../events/content/content.files.js';
import type { Recorded } from '../../events/envelope.js';
import type { PublicationEvent } from '../../events/publication/publication.events.js';
import { publicationStream } from '../../events/publication/publication.stream.js';
import { ProviderFault, requireProvider } from '../../integrations/fault.js';
import type { Hosting } from '../../integrations/hosting/port.js';
import { declaredIn, type SourceHost } from '../../integrations/sourceHost/port.js';
import type { KeyedLimit } from '../../platform/keyedLimit.js';
import { unpublishedContent } from '../../projections/content/unpublished.queries.js';
import type { Reader } from '../../projections/reader.js';
import { websiteProjection, type WebsiteDocument } from '../../projections/website/website.projection.js';
import { createContextOf } from '../contextOf.js';
import type { Deployments } from '../deployment/deployments.js';
import type { HeldLease } from '../heldLease.js';
import { runLeasedTask, type LeasedTask } from '../leasedTask.js';
import { recordFailure } from '../taskFault.js';
import { pushProcess } from '../push/push.process.js';
import type { CreateReactor } from '../reactions.js';
import type { Worker } from '../worker.js';
import {
  publicationFold,
  publicationProcess,
  type PublicationOutcome,
  type PublicationState,
  type PublishedDocument,
} from './publication.process.js';

type Requested = Recorded<Extract<PublicationEvent, { type: 'PublicationRequested' }>>;
type Provisioned = WebsiteDocument & Required<Pick<WebsiteDocument, 'repository' | 'hosting'>>;

/**
 * An embedded build may wait for others; a provider only begins it. A source host may take files one by one: each
 * begins it anew, so that a commit of many takes as long as it does.
 */
const TIMEOUT_MS = 5 * 60_000;
/** How often a publication that waits for its turn looks whether it has come. */
const TURN_EVERY_MS = 1_000;
/** How often the branch may move between reading it and committing on top of it. */
const MAX_RACES = 10;

interface Made {
  readonly commit: string;
  readonly documents: PublishedDocument[];
}

const openIn = (state: PublicationState): PublicationState | null => (state.stage === 'requested' ? state : null);

/**
 * Publishes what is saved of a website's content: into a commit of its repository, and then onto the
 * site. Any number of these may run on the same stores.
 */
export const createPublicationWorker = (parts: {
  engine: Engine;
  reader: Reader;
  createReactor: CreateReactor;
  sourceHost: SourceHost;
  hosting: Hosting;
  deployments: Deployments;
  findMedia: FindSiteMedia;
  limitSiteFiles: KeyedLimit;
}): Worker => {
  const { engine, reader, createReactor, sourceHost, hosting, deployments, findMedia, limitSiteFiles } = parts;
  const worker = engine.ids.commandId();

  const contextOf = createContextOf(engine, 'publication');

  /** No provider's fault: who publishes can make it smaller. */
  const refuseTooLarge = (error: unknown): never => {
    if (error instanceof ContentTooLarge) throw new Refused(refusals.publicationFailed(error.message));
    throw error;
  };

  const provisioned = async (websiteId: string): Promise<Provisioned> => {
    const { document } = await reader.read(websiteProjection, websiteId);
    if (document?.repository === undefined || document.hosting === undefined) {
      throw new Refused(refusals.websiteNotDeployed(websiteId));
    }
    const { repository, hosting: project, archivedAt } = document;
    if (archivedAt !== undefined) throw new Refused(refusals.websiteArchived(websiteId));
    requireProvider({ used: sourceHost, needed: repository });
    requireProvider({ used: hosting, needed: project });
    return { ...document, repository, hosting: project };
  };

  /**
   * Puts every document that was saved since it was published last into one commit. What is saved is
   * read after the head: a publication that overtakes this one has moved the head, and this one reads
   * both again, so that an older version never replaces a newer one.
   */
  const commit = async (website: Provisioned, event: Requested, lease: Pick<HeldLease, 'restartTimeout'>): Promise<Made> => {
    const { id: websiteId, templateId, repository } = website;
    for (let race = 0; race < MAX_RACES; race += 1) {
      const { head } = await sourceHost.readFiles(repository.id, []);
      const names = await sourceHost.listFolder(repository.id, head, mediaFolder);
      const { documents, present, unused } = await unpublishedContent(parts, websiteId, names);
      const published = documents.map(({ id: documentId, hash, revision }) => ({ documentId, hash, revision: Number(revision) }));
      if (documents.length + unused.length === 0) return { commit: head, documents: published };
      const declared = declaredIn(await sourceHost.readEditable(templateId));
      const written = await contentFiles(documents, declared, (mediaId) => findMedia(websiteId, mediaId), present);
      const files = new Map([...written, ...unused.map((mediaId) => [`${mediaFolder}/${mediaId}`, null] as const)]);
      const what = documents.length > 0 ? `Publish ${documents.map(({ id }) => id).join(', ')}` : 'Remove unused pictures';
      const message = what.slice(0, 200);
      // The worker that watches the repository would take it for a push, and deploy it too. Recorded before
      // the branch moves: killed between the two, the next attempt finds the commit made and records none.
      const announce = async (own: string): Promise<void> => {
        const command = { type: 'RecordOwnCommit', websiteId, commit: own, previousCommit: head } as const;
        await engine.handle(pushProcess, command, contextOf(event));
      };
      const assertHeld = (): void => {
        lease.restartTimeout();
      };
      const made = await sourceHost.commitFiles(repository.id, { parent: head, files, message, assertHeld, announce });
      if (made !== null) return { commit: made, documents: published };
    }
    throw new ProviderFault({ provider: sourceHost.provider, message: 'Others keep changing the repository', transient: true });
  };

  /** Others may hold their files for long: until its turn, the attempt uses up no time, and lets other reactions work. */
  const commitInTurn = async (
    website: Provisioned,
    event: Requested,
    lease: Pick<HeldLease, 'restartTimeout' | 'pause'>,
  ): Promise<Made> => {
    const turn = { hasCome: false };
    const made = limitSiteFiles(website.id, () => {
      turn.hasCome = true;
      // The attempt may have ended meanwhile.
      lease.restartTimeout();
      return commit(website, event, lease);
    });
    // Nobody awaits it when the attempt ends before its turn.
    made.catch(() => undefined);
    for (let waitMs = 0; !turn.hasCome; waitMs = TURN_EVERY_MS) {
      await lease.pause(waitMs);
      lease.restartTimeout();
    }
    return made;
  };

  const task = (event: Requested): LeasedTask<PublicationState, PublicationOutcome> => {
    const { publicationId, websiteId } = event.data;
    return {
      worker,
      logger: () => engine.logger.child({ worker: 'publication', publicationId, websiteId }),
      load: async () => openIn((await engine.state(publicationFold, { publicationId })).state),
      handle: async (command) =>
        openIn((await engine.handle(publicationProcess, { publicationId, websiteId, ...command }, contextOf(event))).state),
      timeoutMs: () => TIMEOUT_MS,
      execute: async ({ committed }, lease) => {
        const website = await provisioned(websiteId);
        let done = committed;
        if (done === undefined) {
          done = await commitInTurn(website, event, lease).catch(refuseTooLarge);
          await lease.record({ type: 'RecordCommit', ...done });
        }
        const { commit: at, documents } = done;
        for (const document of documents) {
          const of = { websiteId, collection: 'content', commit: at } as const;
          const published = { type: 'RecordContentPublished', ...of, ...document } as const;
          await engine.handle(contentDecider, published, contextOf(event));
        }
        lease.assertHeld();
        const { id: deploymentId } = await deployments.redeploy(website, publicationId, () => contextOf(event));
        return { type: 'RecordDeployment', deploymentId };
      },
      failure: {
        message: 'content could not be published',
        outcome: (error, jitter) => ({
          ...recordFailure(error, jitter),
          ...(error instanceof ProviderFault && { provider: error.provider }),
        }),
      },
    };
  };

  return createReactor({
    name: 'publication',
    streams: [publicationStream],
    on: { PublicationRequested: (event, context) => runLeasedTask(engine, context, task(event)) },
  });
};
