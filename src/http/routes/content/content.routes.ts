import { Type } from 'typebox';
import { restoreContent, saveContent } from '../../../commands/content/content.handlers.js';
import { Refused, refusals } from '../../../commands/refusal.js';
import type { Engine } from '../../../engine.js';
import { createActorNames } from '../../../events/actorNames.js';
import type { ContentCollection } from '../../../events/content/content.events.js';
import { contentVersionBody } from '../../../events/content/content.history.js';
import { contentFold, maxContentVersions } from '../../../events/content/content.state.js';
import type { ContentKey } from '../../../events/content/content.stream.js';
import { areSameValues } from '../../../events/website/siteValues.js';
import { hashOfJson } from '../../../platform/canonicalJson.js';
import { previewDecider } from '../../../commands/preview/preview.decider.js';
import { contentFiles, type FindSiteMedia } from '../../../events/content/content.files.js';
import { isoTime } from '../../../platform/clock.js';
import { createDeployments, type DeploymentLease } from '../../../integrations/deployments.js';
import type { Deployment as HostingDeployment, Hosting, SitePreviews } from '../../../integrations/hosting/port.js';
import { entityId } from '../../../platform/ids.js';
import { redeployProcess } from '../../../workers/deployment/deployment.process.js';
import { publicationFold, publicationProcess } from '../../../workers/publication/publication.process.js';
import type { SourceHost } from '../../../integrations/sourceHost/port.js';
import {
  contentDocumentId,
  contentProjection,
  type ContentDocument as Saved,
} from '../../../projections/content/content.projection.js';
import { countContent, listContent, unpublishedContent } from '../../../projections/content/content.queries.js';
import type { WebsiteDocument } from '../../../projections/website/website.projection.js';
import type { Reader } from '../../../projections/reader.js';
import { expectationOf, versionOf } from '../../conditional.js';
import { readNamed, readPage, readPageByPlace, totalOf } from '../../paging.js';
import { ContentId } from '../../schemas.js';
import { route, type Answer, type Route, type RouteTag } from '../../route.js';
import { createSightOf, Deployment, requireProvider, toDeployment } from '../deployment/deployment.resource.js';
import { awaitPublication } from './awaitPublication.js';
import { createReadUnsaved } from './unsaved.js';
import { createCheckContent, declaredIn } from './checkContent.js';
import {
  ContentBody,
  ContentDocument,
  ContentHash,
  ContentVersion,
  hashExample,
  toContentDocument,
  toContentVersion,
  toUnsavedDocument,
  WholeContentVersion,
} from './content.resource.js';

export interface ContentRouteParts {
  readonly engine: Engine;
  readonly reader: Reader;
  readonly sourceHost: SourceHost;
  readonly hosting: Hosting;
  readonly deploymentLease: DeploymentLease;
  readonly previews: SitePreviews;
  readonly findMedia: FindSiteMedia;
}

const DocumentId = ContentId();

const baseHash = (description: string) =>
  Type.Union([Type.String({ ...ContentHash, minLength: 1, maxLength: 200 }), Type.Null()], {
    description,
    'x-issue': 'must be the hash of the version that was edited, or null',
  });

const SentContent = Type.Object(
  {
    baseHash: baseHash('The `hash` of the version that was edited; `null` creates a document that nobody has saved.'),
    body: ContentBody,
  },
  { $id: 'ContentInput', description: 'A document, and over which version it is saved.' },
);

const SentRestoration = Type.Object(
  {
    hash: Type.String({ ...ContentHash, minLength: 1, maxLength: 200, description: 'Of the version to save again.' }),
    baseHash: baseHash('The `hash` of the document as it is now.'),
  },
  { $id: 'ContentRestoration', description: 'Which version is saved again, and over which.' },
);

/** A document that was saved, or what the repository holds of one that was not. */
type Listed = Saved | { readonly id: string; readonly unsaved: unknown };

/** What the two collections say differently. */
interface Words {
  readonly collection: ContentCollection;
  readonly tag: RouteTag;
  /** The collection's name in paths and operation ids. */
  readonly noun: string;
  readonly example: object;
  readonly list: string;
  readonly documents: string;
  readonly free: string;
  readonly unsaved: string;
}

const ofContent: Words = {
  collection: 'content',
  tag: {
    name: 'Content',
    description: 'What people edit of a website: documents, their versions, and how they get onto the site.',
  },
  noun: 'Content',
  example: { headline: 'Bread from four in the morning' },
  list: 'List the content documents of a website, by id',
  documents: 'content document',
  unsaved:
    ' A document that the template declares and nobody has saved is what the repository of the website holds; it has no `updatedAt`.',
  free: 'A document that the template of the website declares (`GET /templates`, `editable`) is held to what it says; any other is an object or a list, which the pages of the site may use.',
};

const ofMarketing: Words = {
  collection: 'marketing',
  tag: { name: 'Marketing', description: 'Texts that the agency and its clients write together, beside the website itself.' },
  noun: 'Marketing',
  example: { subject: 'Easter bread' },
  list: 'List the marketing documents of a website, by id',
  documents: 'marketing document',
  unsaved: '',
  free: 'A document is an object or a list; none of them is published on the site.',
};

/** Content and marketing documents: read, saved, their versions, an earlier one restored. */
export const contentRoutes = (parts: ContentRouteParts): readonly Route[] => [
  // Before the documents, of which none can have this name.
  publishing(parts),
  previewing(parts),
  ...routesOf(ofContent, parts),
  ...routesOf(ofMarketing, parts),
];

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
/** Of one collection of a website. */
const maxDocuments = 200;

const previewing = ({ engine, reader, sourceHost, previews, findMedia }: ContentRouteParts): Route =>
  route({
    method: 'post',
    path: '/websites/:id/content/preview',
    operationId: 'previewContent',
    summary: 'Build a draft of a website from what is saved of its content',
    description:
      'As publishing would, but for nobody else: the draft is at an address that cannot be guessed, for one hour, and the site stays as it is. Search engines are kept out and nothing is cached. Ten drafts of a website are kept at a time. Only sites that are served by this service can be previewed.',
    tag: ofContent.tag,
    scope: 'website',
    access: 'editors',
    feature: 'content',
    asksProvider: true,
    refusals: ['website_not_deployed', 'preview_not_available', 'preview_not_built'],
    answers: { 200: { description: 'Where the draft is, and until when.', schema: Preview } },
    act: async ({ website: { website }, context }, acting) => {
      const { id: websiteId, hosting: project } = website;
      if (project === undefined) throw new Refused(refusals.websiteNotDeployed(websiteId));
      if (project.provider !== previews.provider) throw new Refused(refusals.previewNotAvailable(project.provider));
      const expiresAt = isoTime(engine.clock.now() + previewMs);
      const previewId = entityId(context.commandId, 'preview');
      const command = { type: 'RecordPreview', previewId, websiteId, expiresAt } as const;
      const { state } = await acting.handle(previewDecider, command, context);
      return { projectId: project.projectId, expiresAt: state.expiresAt ?? expiresAt };
    },
    answer: async ({ website: { website }, caller, secret }, { projectId, expiresAt }) => {
      const { id: websiteId, templateId } = website;
      const documents = await unpublishedContent(reader, websiteId);
      const declared = declaredIn(await sourceHost.readEditable(templateId));
      const files = await contentFiles(documents, declared, (mediaId) => findMedia(websiteId, mediaId));
      const { clientId, tokenId } = caller;
      const by = { websiteId, ...(clientId !== undefined && { clientId }), ...(tokenId !== undefined && { tokenId }) };
      const shown = await previews.show(projectId, {
        secret: Buffer.from(secret.subarray(0, 32)).toString('hex'),
        files,
        expiresAt,
        by,
      });
      if ('failure' in shown) throw new Refused(refusals.previewNotBuilt(shown.failure));
      return { body: { url: shown.url, expiresAt } };
    },
  });

const publishing = (parts: ContentRouteParts): Route => {
  const { engine, reader, sourceHost, hosting } = parts;
  const sightOf = createSightOf(reader);
  const deployments = createDeployments(parts);

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
      'Every document that was saved since it was published last is put into one commit of the website’s repository, and that is deployed. A document that the template declares becomes `_data/<id>.json`, any other one `_content/<id>.json`; what others have pushed to the repository stays, but for these files. Answers as soon as the provider has begun to build; `/deployments` says how it went. A publication that takes long goes on by itself: repeated with its `Idempotency-Key`, the request waits for it again. When nothing has changed since the newest deployment, and that has not failed, it is the answer, and no other is made.',
    tag: ofContent.tag,
    scope: 'website',
    access: 'editors',
    feature: 'content',
    asksProvider: true,
    faults: ['publication_under_way'],
    refusals: ['website_not_deployed'],
    answers: { 202: { description: 'The deployment, as far as it has come.', schema: Deployment } },
    act: async ({ website: { website }, context }, acting) => {
      const { id: websiteId, repository, hosting: project } = website;
      if (repository === undefined || project === undefined) throw new Refused(refusals.websiteNotDeployed(websiteId));
      requireProvider(sourceHost, repository);
      requireProvider(hosting, project);
      // Asked twice with the same key, it is one publication.
      const publicationId = entityId(context.commandId, 'publication');
      const { state } = await engine.state(publicationFold, { publicationId });
      // One that was requested goes on.
      const isNew = state.stage === 'none' && areSameValues(website, website.built);
      if (isNew && (await unpublishedContent(reader, websiteId)).length === 0) {
        const unchanged = await deployments.findUnchanged({ ...website, hosting: project });
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

const routesOf = (words: Words, { engine, reader, sourceHost, findMedia }: ContentRouteParts): readonly Route[] => {
  const { collection, tag, noun, documents } = words;
  const check = createCheckContent(sourceHost, findMedia);
  const readUnsaved = createReadUnsaved(sourceHost);
  const keyOf = ({ id: websiteId, documentId }: { id: string; documentId: string }): ContentKey => ({
    websiteId,
    collection,
    documentId,
  });
  const path = `/websites/:id/${collection}` as const;
  const ofWebsite = { tag, scope: 'website', feature: collection } as const;
  const oneDocument = { 200: { description: `The ${documents}.`, schema: ContentDocument } };

  const toAnswer = async (key: ContentKey, website: WebsiteDocument, through?: bigint): Promise<Answer> => {
    const { document, revision } = await reader.read(contentProjection, contentDocumentId(key), through);
    const version = { revision: versionOf(revision) };
    if (document !== null) return { body: await toContentDocument(createActorNames(engine), document), ...version };
    const body = await unsavedOf(key, website);
    if (body === undefined) throw new Refused(refusals.contentNotFound(key.documentId));
    return { body: toUnsavedDocument(key.websiteId, key.documentId, body), ...version };
  };

  const unsavedOf = async ({ documentId }: ContentKey, website: WebsiteDocument): Promise<unknown> =>
    collection === 'content' ? (await readUnsaved(website, (id) => id === documentId)).get(documentId) : undefined;

  const savedOne = async (of: Omit<ContentKey, 'documentId'>, documentId: string): Promise<Saved | null> =>
    (await reader.read(contentProjection, contentDocumentId({ ...of, documentId }))).document;

  /** Those that nobody has saved, by id; few, since a template declares them. */
  const unsavedIn = async (of: Omit<ContentKey, 'documentId'>, website: WebsiteDocument): Promise<readonly Listed[]> => {
    if (collection !== 'content') return [];
    const found: Listed[] = [];
    for (const [id, body] of await readUnsaved(website)) {
      if ((await savedOne(of, id)) === null) found.push({ id, unsaved: body });
    }
    return found;
  };

  /** None of a document that nobody has saved and the template declares. */
  const versionsOf = async (key: ContentKey, website: WebsiteDocument) => {
    const { state } = await engine.state(contentFold, key);
    if (state.stage !== 'none') return state.versions;
    if ((await unsavedOf(key, website)) === undefined) throw new Refused(refusals.contentNotFound(key.documentId));
    return [];
  };

  return [
    route({
      method: 'get',
      path,
      operationId: `list${noun}`,
      summary: words.list,
      description: `Each with its body and the hash that a change of it is based on.${words.unsaved}`,
      ...ofWebsite,
      access: 'members',
      paging: { count: true, ids: true },
      answers: { 200: { description: `A page of ${documents}s.`, schema: Type.Array(ContentDocument) } },
      asksProvider: true,
      answer: async ({ params: { id: websiteId }, query, website: { website } }) => {
        const of = { websiteId, collection };
        const name = createActorNames(engine);
        const shown = (listed: Listed) =>
          'unsaved' in listed
            ? Promise.resolve(toUnsavedDocument(websiteId, listed.id, listed.unsaved))
            : toContentDocument(name, listed);
        const unsaved = await unsavedIn(of, website);
        const named = await readNamed(
          query,
          async (documentId) => (await savedOne(of, documentId)) ?? unsaved.find(({ id }) => id === documentId) ?? null,
        );
        if (named !== null) {
          return { body: await Promise.all(named.map(shown)), ...(query.count === true && { total: named.length }) };
        }
        const total = query.count === true ? (await countContent(reader, of)) + unsaved.length : undefined;
        const { items, next } = await readPage(
          query,
          ({ id }: Listed) => id,
          async (page) => {
            const saved: readonly Listed[] = await listContent(reader, of, page);
            const { after = '', limit } = page;
            return [...saved, ...unsaved.filter(({ id }) => id > after)]
              .sort((first, second) => (first.id < second.id ? -1 : 1))
              .slice(0, limit);
          },
        );
        return {
          body: await Promise.all(items.map(shown)),
          ...(next !== undefined && { next }),
          ...(total !== undefined && { total }),
        };
      },
    }),

    route({
      method: 'get',
      path: `${path}/:documentId`,
      operationId: `get${noun}`,
      summary: `Read a ${documents}`,
      description: `As it was saved last.${words.unsaved} ${words.free}`,
      ...ofWebsite,
      access: 'members',
      params: { documentId: DocumentId },
      refusals: ['content_not_found'],
      asksProvider: true,
      answers: oneDocument,
      answer: ({ params, website: { website } }) => toAnswer(keyOf(params), website),
    }),

    route({
      method: 'put',
      path: `${path}/:documentId`,
      operationId: `save${noun}`,
      summary: `Save a ${documents}`,
      description: `It is saved over the version that \`baseHash\` names, and no other: when somebody else has saved meanwhile, the answer is 400 with \`currentHash\`, \`updatedAt\` and \`updatedBy\` in its \`details\`. A hash is the SHA-256 of the body in the canonical form of RFC 8785. ${words.free}`,
      ...ofWebsite,
      access: 'editors',
      asksProvider: true,
      ifMatch: 'honoured',
      params: { documentId: DocumentId },
      body: SentContent,
      refusals: ['too_many_content_documents'],
      example: { body: { baseHash: hashExample, body: words.example } },
      answers: oneDocument,
      act: async ({ params, body, website: { website }, context, expectation }, acting) => {
        const key = keyOf(params);
        await check(website, collection, key.documentId, body.body);
        const isNew = (await engine.state(contentFold, key)).state.stage === 'none';
        if (isNew && (await countContent(reader, { websiteId: website.id, collection })) >= maxDocuments) {
          throw new Refused(refusals.tooManyContentDocuments());
        }
        const initial = isNew ? await unsavedOf(key, website) : undefined;
        const input = { ...key, ...body, ...(initial !== undefined && { initialHash: hashOfJson(initial) }) };
        // A tag is of what is there, saved or not; of anything else there is none.
        const isThere = !isNew || initial !== undefined;
        return saveContent(acting, input, context, isThere ? expectationOf(expectation) : expectation);
      },
      answer: ({ params, website: { website } }, { revision }) => toAnswer(keyOf(params), website, revision),
    }),

    route({
      method: 'get',
      path: `${path}/:documentId/versions`,
      operationId: `list${noun}Versions`,
      summary: `List the versions of a ${documents}, newest first`,
      description: `The last ${String(maxContentVersions)}, each with who saved it and when; the first is the current one.`,
      ...ofWebsite,
      access: 'members',
      params: { documentId: DocumentId },
      paging: { count: true },
      refusals: ['content_not_found'],
      answers: { 200: { description: 'A page of versions.', schema: Type.Array(ContentVersion) } },
      asksProvider: true,
      answer: async ({ params, query, website: { website } }) => {
        const versions = await versionsOf(keyOf(params), website);
        const { items, next } = await readPageByPlace(query, ({ skip, limit }) =>
          Promise.resolve(versions.slice(skip, skip + limit)),
        );
        const name = createActorNames(engine);
        return {
          body: await Promise.all(items.map((version) => toContentVersion(name, version))),
          ...(next !== undefined && { next }),
          ...(await totalOf(query, () => versions.length)),
        };
      },
    }),

    route({
      method: 'get',
      path: `${path}/:documentId/versions/:hash`,
      operationId: `get${noun}Version`,
      summary: `Read a version of a ${documents}`,
      description: `One of the last ${String(maxContentVersions)}, with its body.`,
      ...ofWebsite,
      access: 'members',
      params: { documentId: DocumentId },
      refusals: ['content_not_found', 'content_version_not_found'],
      answers: { 200: { description: 'The version.', schema: WholeContentVersion } },
      asksProvider: true,
      answer: async ({ params, website: { website } }) => {
        const key = keyOf(params);
        const version = (await versionsOf(key, website)).find(({ hash }) => hash === params.hash);
        if (version === undefined) throw new Refused(refusals.contentVersionNotFound(params.hash, key.documentId));
        const shown = await toContentVersion(createActorNames(engine), version);
        return { body: { ...shown, body: await contentVersionBody(engine, key, version.revision) } };
      },
    }),

    route({
      method: 'post',
      path: `${path}/:documentId/restore`,
      operationId: `restore${noun}`,
      summary: `Save an earlier version of a ${documents} again`,
      description:
        'It becomes a version of its own, so that nothing in between is lost. It is refused when somebody else has saved meanwhile, and when the template does not allow it any more.',
      ...ofWebsite,
      access: 'editors',
      asksProvider: true,
      ifMatch: 'honoured',
      params: { documentId: DocumentId },
      body: SentRestoration,
      example: { body: { hash: hashExample, baseHash: hashOfJson(words.example) } },
      refusals: ['content_not_found', 'content_version_not_found'],
      answers: oneDocument,
      act: async ({ params, body, website: { website }, context, expectation }, acting) => {
        const key = keyOf(params);
        return restoreContent(acting, { ...key, ...body }, context, expectationOf(expectation), (earlier) =>
          check(website, collection, key.documentId, earlier),
        );
      },
      answer: ({ params, website: { website } }, { revision }) => toAnswer(keyOf(params), website, revision),
    }),
  ];
};
