import { Type } from 'typebox';
import { previewDecider } from '../../../commands/preview/preview.decider.js';
import { Refused, refusals } from '../../../commands/refusal.js';
import type { Engine } from '../../../engine.js';
import { contentFiles, ContentTooLarge, mediaFolder, type FindSiteMedia } from '../../../events/content/content.files.js';
import { areSameValues } from '../../../events/website/siteValues.js';
import type { Deployment as HostingDeployment, Hosting, SiteDraft, SitePreviews } from '../../../integrations/hosting/port.js';
import { ProviderFault, requireProvider } from '../../../integrations/fault.js';
import { declaredIn, type SourceHost } from '../../../integrations/sourceHost/port.js';
import { isoTime } from '../../../platform/clock.js';
import { entityId } from '../../../platform/ids.js';
import type { KeyedLimit } from '../../../platform/keyedLimit.js';
import { unpublishedContent, type Unpublished } from '../../../projections/content/unpublished.queries.js';
import type { Reader } from '../../../projections/reader.js';
import type { WebsiteDocument } from '../../../projections/website/website.projection.js';
import { redeployProcess } from '../../../workers/deployment/deployment.process.js';
import { publicationFold, publicationProcess } from '../../../workers/publication/publication.process.js';
import { route, type Route } from '../../route.js';
import { createSightOf, Deployment, toDeployment } from '../deployment/deployment.resource.js';
import { unchangedDeployment, type Deployments } from '../deployment/deployments.js';
import { awaitPublication } from './awaitPublication.js';
import { ofContent } from './collections.js';
import { previewRule } from './mayPreview.js';

export interface PublicationRouteParts {
  readonly engine: Engine;
  readonly reader: Reader;
  readonly sourceHost: SourceHost;
  readonly hosting: Hosting;
  readonly deployments: Deployments;
  readonly previews: SitePreviews;
  readonly findMedia: FindSiteMedia;
  readonly limitSiteFiles: KeyedLimit;
}

/** How what is saved gets onto the site, or into a draft of it. */
export const publicationRoutes = (parts: PublicationRouteParts): readonly Route[] => [publishing(parts), previewing(parts)];

const Preview = Type.Object(
  {
    url: Type.String({
      description: 'Where the draft is. Whoever has it sees the draft, so it is for people alone.',
      examples: ['https://doorstep.example.com/sites/corner-bakery/_previews/6fYx0wq3nT8bVg1Lk9mZr2Dc7HsPa5Ej4uQoXiBt/'],
    }),
    expiresAt: Type.String({
      format: 'date-time',
      description: 'When it ends; sooner when whoever made it has no access any more.',
    }),
  },
  { $id: 'ContentPreview', description: 'How a site would look.' },
);

const previewMs = 3_600_000;

/** @throws ContentTooLarge; ProviderFault */
const unpublishedAt = async (parts: PublicationRouteParts, websiteId: string, repositoryId: string): Promise<Unpublished> => {
  const { head } = await parts.sourceHost.readFiles(repositoryId, []);
  return unpublishedContent(parts, websiteId, await parts.sourceHost.listFolder(repositoryId, head, mediaFolder));
};

const previewing = (parts: PublicationRouteParts): Route => {
  const { engine, sourceHost, previews, findMedia, limitSiteFiles } = parts;

  const draftOf = async (
    { id, templateId }: WebsiteDocument,
    { id: repositoryId }: { readonly id: string },
  ): Promise<SiteDraft['files']> => {
    try {
      const { documents, present } = await unpublishedAt(parts, id, repositoryId);
      const declared = declaredIn(await sourceHost.readEditable(templateId));
      return await contentFiles(documents, declared, (mediaId) => findMedia(id, mediaId), present);
    } catch (error) {
      if (error instanceof ContentTooLarge) throw new Refused(refusals.previewNotBuilt(error.message));
      throw error;
    }
  };

  return route({
    method: 'post',
    path: '/websites/:id/content/preview',
    operationId: 'previewContent',
    summary: 'Build a draft of a website from what is saved of its content',
    description:
      'As publishing would, but for nobody else: the draft is at an address that cannot be guessed, for one hour, and the site stays as it is. Search engines are kept out and nothing is cached. What is too large to be published is refused. Ten drafts of a website are kept at a time. Only sites that are served by this service can be previewed.',
    ...previewRule,
    asksProvider: true,
    refusals: ['website_not_deployed', 'preview_not_available', 'preview_not_built'],
    answers: { 200: { description: 'Where the draft is, and until when.', schema: Preview } },
    act: async ({ website: { website }, context }, acting) => {
      const { id: websiteId, repository, hosting: project } = website;
      if (repository === undefined || project === undefined) throw new Refused(refusals.websiteNotDeployed(websiteId));
      if (project.provider !== previews.provider) throw new Refused(refusals.previewNotAvailable(project.provider));
      requireProvider({ used: sourceHost, needed: repository });
      const expiresAt = isoTime(engine.clock.now() + previewMs);
      const previewId = entityId(context.commandId, 'preview');
      const command = { type: 'RecordPreview', previewId, websiteId, expiresAt } as const;
      const { state } = await acting.handle(previewDecider, command, context);
      return { repository, projectId: project.projectId, expiresAt: state.expiresAt ?? expiresAt };
    },
    answer: async ({ website: { website }, caller, secret: bytes, signal }, { repository, projectId, expiresAt }) => {
      const { id: websiteId } = website;
      const { clientId, tokenId } = caller;
      const by = { websiteId, ...(clientId !== undefined && { clientId }), ...(tokenId !== undefined && { tokenId }) };
      const secret = Buffer.from(bytes.subarray(0, 32)).toString('hex');
      const shown = await limitSiteFiles(websiteId, async () => {
        signal.throwIfAborted();
        const files = await draftOf(website, repository);
        signal.throwIfAborted();
        return previews.show(projectId, { secret, files, expiresAt, by });
      });
      if ('failure' in shown) throw new Refused(refusals.previewNotBuilt(shown.failure));
      return { body: { url: shown.url, expiresAt } };
    },
  });
};

const publishing = (parts: PublicationRouteParts): Route => {
  const { engine, reader, sourceHost, hosting } = parts;
  const sightOf = createSightOf(reader);

  /** False also when it cannot be told: the publication says why. */
  const isPublished = async (websiteId: string, repositoryId: string): Promise<boolean> => {
    try {
      const { documents, unused } = await unpublishedAt(parts, websiteId, repositoryId);
      return documents.length + unused.length === 0;
    } catch (error) {
      if (error instanceof ContentTooLarge || error instanceof ProviderFault) return false;
      throw error;
    }
  };

  const deploymentOf = async (
    { publicationId, projectId }: { readonly publicationId: string; readonly projectId: string },
    signal: AbortSignal,
  ): Promise<HostingDeployment> => {
    const deploymentId = await awaitPublication(engine, publicationId, signal);
    const deployment = await hosting.readDeployment(projectId, deploymentId);
    if (deployment === null) throw new Error(`the deployment of publication ${publicationId} is gone`);
    return deployment;
  };

  return route({
    method: 'post',
    path: '/websites/:id/content/publish',
    operationId: 'publishContent',
    summary: 'Publish what is saved of the content of a website',
    description:
      'Every document that was saved since it was published last is put into one commit of the website’s repository, and that is deployed. A document that the template declares becomes `_data/<id>.json`, any other one `_content/<id>.json`; images and videos that documents name become `media/<id>/`, and go once no document names them or they are deleted; what others have pushed to the repository stays, but for these files. A document may have 8 MB in the repository, an image or video 50 MiB, and all of one publication 128 MB. Answers as soon as the provider has begun to build; `/deployments` says how it went. A publication that takes long goes on by itself: repeated with its `Idempotency-Key`, the request waits for it again. When nothing has changed since the newest deployment, and that has not failed, it is the answer, and no other is made.',
    tag: ofContent.tag,
    scope: 'website',
    access: 'editors',
    feature: 'content',
    asksProvider: true,
    faults: ['publication_under_way'],
    refusals: ['website_not_deployed', 'publication_failed'],
    answers: { 202: { description: 'The deployment, as far as it has come.', schema: Deployment } },
    act: async ({ website: { website }, context }, acting) => {
      const { id: websiteId, repository, hosting: project } = website;
      if (repository === undefined || project === undefined) throw new Refused(refusals.websiteNotDeployed(websiteId));
      requireProvider({ used: sourceHost, needed: repository });
      requireProvider({ used: hosting, needed: project });
      // Asked twice with the same key, it is one publication.
      const publicationId = entityId(context.commandId, 'publication');
      const { state } = await engine.state(publicationFold, { publicationId });
      // One that was requested goes on.
      const isNew = state.stage === 'none' && areSameValues(website, website.built);
      if (isNew && (await isPublished(websiteId, repository.id))) {
        const unchanged = await unchangedDeployment(parts, { ...website, hosting: project });
        if (unchanged !== null) return { unchanged };
      }
      const redeploy = { redeployId: publicationId, websiteId, provider: hosting.provider, projectId: project.projectId };
      await acting.handle(redeployProcess, { type: 'RequestRedeploy', ...redeploy }, context);
      await acting.handle(publicationProcess, { type: 'RequestPublication', publicationId, websiteId }, context);
      return { publicationId, projectId: project.projectId };
    },
    answer: async ({ website, caller, signal }, requested) => {
      const deployment = 'unchanged' in requested ? requested.unchanged : await deploymentOf(requested, signal);
      return { status: 202, body: toDeployment(deployment, await sightOf({ website, caller })) };
    },
  });
};
