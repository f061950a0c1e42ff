import { Type } from 'typebox';
import { saveContent } from '../../../commands/content/content.handlers.js';
import { Refused, refusals } from '../../../commands/refusal.js';
import { createActorNames } from '../../../events/actorNames.js';
import { contentVersionBody } from '../../../events/content/content.history.js';
import { contentFold } from '../../../events/content/content.state.js';
import type { ContentKey } from '../../../events/content/content.stream.js';
import { hashOfJson } from '../../../platform/canonicalJson.js';
import { lazily } from '../../../platform/lazily.js';
import {
  contentDocumentId,
  contentProjection,
  type ContentDocument as Saved,
} from '../../../projections/content/content.projection.js';
import { countContent, listContent, listContentIds } from '../../../projections/content/content.queries.js';
import type { WebsiteDocument } from '../../../projections/website/website.projection.js';
import { expectationOf } from '../../conditional.js';
import { readLargePage, readNamed, totalOf } from '../../paging.js';
import { route, type Route } from '../../route.js';
import { maxDocuments } from './contentLimit.js';
import { createCollection, ofContent, ofMarketing, type Collection, type CollectionParts } from './collections.js';
import {
  BaseHash,
  ContentBody,
  ContentDocument,
  ContentDocumentId,
  hashExample,
  toContentDocument,
  toUnsavedDocument,
} from './content.resource.js';
import { versionRoutes } from './version.routes.js';

const SentContent = Type.Object(
  {
    baseHash: BaseHash(
      'The `hash` of the version that was edited; `null` creates a document that nobody has saved, in place of what the repository holds of it.',
    ),
    body: ContentBody,
  },
  { $id: 'ContentInput', description: 'A document, and over which version it is saved.' },
);

/** A document that was saved, or what the repository holds of one that was not. */
type Listed = Saved | { readonly id: string; readonly unsaved: unknown };

const bytesOf = (listed: Listed): number => Buffer.byteLength('unsaved' in listed ? JSON.stringify(listed.unsaved) : listed.json);

/** Content and marketing documents: read, saved, their versions, an earlier one restored. */
export const contentRoutes = (parts: CollectionParts): readonly Route[] =>
  [ofContent, ofMarketing].flatMap((words) => {
    const collection = createCollection(words, parts);
    return [...documentRoutes(collection, parts), ...versionRoutes(collection, parts)];
  });

const documentRoutes = (shared: Collection, { engine, reader }: CollectionParts): readonly Route[] => {
  const { words, path, ofWebsite, oneDocument, check, withRoom, readUnsaved, keyOf, unsavedOf, toAnswer } = shared;
  const { collection, noun, documents } = words;

  const savedOne = async (of: Omit<ContentKey, 'documentId'>, documentId: string): Promise<Saved | null> => {
    const { document } = await reader.read(contentProjection, contentDocumentId({ ...of, documentId }));
    // One of the `ids` that are asked for may have a dot, and with it lead to the other collection.
    return document?.collection === collection ? document : null;
  };

  /** Those that nobody has saved, by id; few, since a template declares them. */
  const unsavedIn = async (of: Omit<ContentKey, 'documentId'>, website: WebsiteDocument): Promise<readonly Listed[]> => {
    if (collection !== 'content') return [];
    const found: Listed[] = [];
    // A source host is asked for each file: mostly all are saved.
    const saved = await listContentIds(reader, of);
    const wanted = (documentId: string): boolean => !saved.has(contentDocumentId({ ...of, documentId }));
    for (const [id, body] of await readUnsaved(website, wanted)) {
      // Somebody may have saved it meanwhile.
      if ((await savedOne(of, id)) === null) found.push({ id, unsaved: body });
    }
    return found;
  };

  return [
    route({
      method: 'get',
      path,
      operationId: `list${noun}`,
      summary: words.list,
      description: `Each with its body and the hash that a change of it is based on.${words.unsaved} A page also ends when its documents have 4 MB, with \`Link\` to the next one; \`ids\` that name more than that are refused.`,
      ...ofWebsite,
      access: 'members',
      paging: { count: true, ids: true },
      answers: { 200: { description: `A page of ${documents}s.`, schema: Type.Array(ContentDocument) } },
      asksProvider: true,
      answer: async ({ params: { id: websiteId }, query, website: { website }, caller: { role: readerRole } }) => {
        const of = { websiteId, collection };
        const { toActor } = createActorNames(engine, { readerRole });
        const shown = (listed: Listed) =>
          'unsaved' in listed
            ? Promise.resolve(toUnsavedDocument(websiteId, listed.id, listed.unsaved))
            : toContentDocument(toActor, listed);
        const findUnsaved = lazily(() => unsavedIn(of, website));
        const named = await readNamed(
          query,
          async (documentId) =>
            (await savedOne(of, documentId)) ?? (await findUnsaved()).find(({ id }) => id === documentId) ?? null,
          bytesOf,
        );
        if (named !== null) {
          return { body: await Promise.all(named.map(shown)), total: await totalOf(query, () => named.length) };
        }
        const unsaved = await findUnsaved();
        const total = await totalOf(query, async () => (await countContent(reader, of)) + unsaved.length);
        const { items, next } = await readLargePage(
          query,
          ({ id }: Listed) => id,
          bytesOf,
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
          next,
          total,
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
      params: { documentId: ContentDocumentId },
      refusals: ['content_not_found'],
      asksProvider: true,
      answers: oneDocument,
      answer: ({ params, website: { website }, caller }) => toAnswer(keyOf(params), { website, caller }),
    }),

    route({
      method: 'put',
      path: `${path}/:documentId`,
      operationId: `save${noun}`,
      summary: `Save a ${documents}`,
      description: `It is saved over the version that \`baseHash\` names, and no other: when somebody else has saved meanwhile, the answer is 400 with \`currentHash\`, \`updatedAt\` and \`updatedBy\` in its \`details\` (the last two are \`null\` while nobody has saved it). A hash is the SHA-256 of the body in the canonical form of RFC 8785. A document may have 900,000 bytes in that form; one of more than 50,000 is refused when its collection would have more than 10,000,000, unless it becomes smaller. ${words.free}`,
      ...ofWebsite,
      access: 'editors',
      asksProvider: true,
      ifMatch: 'honoured',
      params: { documentId: ContentDocumentId },
      body: SentContent,
      refusals: ['too_many_content_documents', 'content_limit_reached'],
      example: { body: { baseHash: hashExample, body: words.example } },
      answers: oneDocument,
      act: async ({ params, body, website: { website }, context, expectation }, acting) => {
        const key = keyOf(params);
        const { state } = await engine.state(contentFold, key);
        const isNew = state.stage === 'none';
        await check(website, collection, key.documentId, body.body, async () =>
          isNew ? null : contentVersionBody(engine, key, state.versions[0].revision),
        );
        if (isNew && (await countContent(reader, { websiteId: website.id, collection })) >= maxDocuments) {
          throw new Refused(refusals.tooManyContentDocuments());
        }
        const initial = isNew ? await unsavedOf(key, website) : undefined;
        const input = { ...key, ...body, ...(initial !== undefined && { initialHash: hashOfJson(initial) }) };
        // A tag is of what is there, saved or not; of anything else there is none.
        const isThere = !isNew || initial !== undefined;
        return saveContent(acting, input, withRoom, context, isThere ? expectationOf(expectation) : expectation);
      },
      answer: ({ params, website: { website }, caller }, { revision }) => toAnswer(keyOf(params), { website, caller }, revision),
    }),
  ];
};
