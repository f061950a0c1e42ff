import { Type } from 'typebox';
import { restoreContent } from '../../../commands/content/content.handlers.js';
import { Refused, refusals } from '../../../commands/refusal.js';
import { createActorNames } from '../../../events/actorNames.js';
import { contentVersionBody } from '../../../events/content/content.history.js';
import { contentFold, maxContentVersions, type ContentVersion as SavedVersion } from '../../../events/content/content.state.js';
import type { ContentKey } from '../../../events/content/content.stream.js';
import { hashOfJson } from '../../../platform/canonicalJson.js';
import type { WebsiteDocument } from '../../../projections/website/website.projection.js';
import { expectationOf } from '../../conditional.js';
import { readPage, revisionIn, totalOf } from '../../paging.js';
import { route, type Route } from '../../route.js';
import type { Collection, CollectionParts } from './collections.js';
import {
  BaseHash,
  ContentDocumentId,
  ContentHash,
  ContentVersion,
  hashExample,
  toContentVersion,
  WholeContentVersion,
} from './content.resource.js';

const SentRestoration = Type.Object(
  {
    hash: Type.String({ ...ContentHash, minLength: 1, maxLength: 200, description: 'Of the version to save again.' }),
    baseHash: BaseHash('The `hash` of the document as it is now.'),
  },
  { $id: 'ContentRestoration', description: 'Which version is saved again, and over which.' },
);

/** The versions of the documents of a collection: listed, read, restored. */
export const versionRoutes = (shared: Collection, { engine }: CollectionParts): readonly Route[] => {
  const { words, path, ofWebsite, oneDocument, check, withRoom, keyOf, unsavedOf, toAnswer } = shared;
  const { collection, noun, documents } = words;

  /** None of a document that nobody has saved and the template declares. */
  const versionsOf = async (key: ContentKey, website: WebsiteDocument): Promise<readonly SavedVersion[]> => {
    const { state } = await engine.state(contentFold, key);
    if (state.stage !== 'none') return state.versions;
    if ((await unsavedOf(key, website)) === undefined) throw new Refused(refusals.contentNotFound(key.documentId));
    return [];
  };

  return [
    route({
      method: 'get',
      path: `${path}/:documentId/versions`,
      operationId: `list${noun}Versions`,
      summary: `List the versions of a ${documents}, newest first`,
      description: `The last ${String(maxContentVersions)}, each with who saved it and when; the first is the current one.`,
      ...ofWebsite,
      access: 'members',
      params: { documentId: ContentDocumentId },
      paging: { count: true },
      refusals: ['content_not_found'],
      answers: { 200: { description: 'A page of versions.', schema: Type.Array(ContentVersion) } },
      asksProvider: true,
      answer: async ({ params, query, website: { website }, caller: { role: readerRole } }) => {
        const versions = await versionsOf(keyOf(params), website);
        const { items, next } = await readPage(
          query,
          ({ revision }: SavedVersion) => String(revision),
          ({ after, limit }) => {
            const before = after === undefined ? undefined : revisionIn(after);
            const rest = before === undefined ? versions : versions.filter(({ revision }) => revision < before);
            return Promise.resolve(rest.slice(0, limit));
          },
        );
        const { toActor } = createActorNames(engine, { readerRole });
        return {
          body: await Promise.all(items.map((version) => toContentVersion(toActor, version))),
          next,
          total: await totalOf(query, () => versions.length),
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
      params: { documentId: ContentDocumentId },
      refusals: ['content_not_found', 'content_version_not_found'],
      answers: { 200: { description: 'The version.', schema: WholeContentVersion } },
      asksProvider: true,
      answer: async ({ params, website: { website }, caller: { role: readerRole } }) => {
        const key = keyOf(params);
        const version = (await versionsOf(key, website)).find(({ hash }) => hash === params.hash);
        if (version === undefined) throw new Refused(refusals.contentVersionNotFound(params.hash, key.documentId));
        const { toActor } = createActorNames(engine, { readerRole });
        const shown = await toContentVersion(toActor, version);
        return { body: { ...shown, body: await contentVersionBody(engine, key, version.revision) } };
      },
    }),

    route({
      method: 'post',
      path: `${path}/:documentId/restore`,
      operationId: `restore${noun}`,
      summary: `Save an earlier version of a ${documents} again`,
      description:
        'It becomes a version of its own, so that nothing in between is lost. It is refused when somebody else has saved meanwhile, when the template does not allow it any more, and when the collection would be too large.',
      ...ofWebsite,
      access: 'editors',
      asksProvider: true,
      ifMatch: 'honoured',
      params: { documentId: ContentDocumentId },
      body: SentRestoration,
      example: { body: { hash: hashExample, baseHash: hashOfJson(words.example) } },
      refusals: ['content_not_found', 'content_version_not_found', 'content_limit_reached'],
      answers: oneDocument,
      act: async ({ params, body, website: { website }, context, expectation }, acting) => {
        const key = keyOf(params);
        return restoreContent(acting, { ...key, ...body }, withRoom, context, expectationOf(expectation), (earlier) =>
          check(website, collection, key.documentId, earlier, () => Promise.resolve(earlier)),
        );
      },
      answer: ({ params, website: { website }, caller }, { revision }) => toAnswer(keyOf(params), { website, caller }, revision),
    }),
  ];
};
