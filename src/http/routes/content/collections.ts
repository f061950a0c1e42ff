import type { WithContentRoom } from '../../../commands/content/content.handlers.js';
import { Refused, refusals } from '../../../commands/refusal.js';
import type { Engine } from '../../../engine.js';
import { createActorNames } from '../../../events/actorNames.js';
import type { FindSiteMedia } from '../../../events/content/content.files.js';
import type { ContentCollection } from '../../../events/content/content.events.js';
import type { ContentKey } from '../../../events/content/content.stream.js';
import type { SourceHost } from '../../../integrations/sourceHost/port.js';
import { contentDocumentId, contentProjection } from '../../../projections/content/content.projection.js';
import type { Reader } from '../../../projections/reader.js';
import type { WebsiteDocument } from '../../../projections/website/website.projection.js';
import type { Caller } from '../../auth/caller.js';
import { versionOf } from '../../conditional.js';
import type { Answer, RouteTag } from '../../route.js';
import { createCheckContent, type CheckContent } from './checkContent.js';
import { createContentLimit } from './contentLimit.js';
import { ContentDocument, toContentDocument, toUnsavedDocument } from './content.resource.js';
import { createReadUnsaved, type ReadUnsaved } from './unsaved.js';

/** What the two collections say differently. */
export interface Words {
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

export const ofContent: Words = {
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

export const ofMarketing: Words = {
  collection: 'marketing',
  tag: { name: 'Marketing', description: 'Texts that the agency and its clients write together, beside the website itself.' },
  noun: 'Marketing',
  example: { subject: 'Easter bread' },
  list: 'List the marketing documents of a website, by id',
  documents: 'marketing document',
  unsaved: '',
  free: 'A document is an object or a list; none of them is published on the site.',
};

export interface CollectionParts {
  readonly engine: Engine;
  readonly reader: Reader;
  readonly sourceHost: SourceHost;
  readonly findMedia: FindSiteMedia;
}

interface Asked {
  readonly website: WebsiteDocument;
  readonly caller: Caller;
}

/** What the routes of one collection share: how its documents are named, found, checked and answered. */
export interface Collection {
  readonly words: Words;
  readonly path: `/websites/:id/${ContentCollection}`;
  readonly ofWebsite: { readonly tag: RouteTag; readonly scope: 'website'; readonly feature: ContentCollection };
  readonly oneDocument: { readonly 200: { readonly description: string; readonly schema: typeof ContentDocument } };
  readonly check: CheckContent;
  readonly withRoom: WithContentRoom;
  readonly readUnsaved: ReadUnsaved;
  readonly keyOf: (params: { readonly id: string; readonly documentId: string }) => ContentKey;
  /** What the repository holds of a document that nobody has saved; `undefined`: nothing. */
  readonly unsavedOf: (key: ContentKey, website: WebsiteDocument) => Promise<unknown>;
  /** @throws Refused: there is no such document */
  readonly toAnswer: (key: ContentKey, asked: Asked, through?: bigint) => Promise<Answer>;
}

export const createCollection = (words: Words, { engine, reader, sourceHost, findMedia }: CollectionParts): Collection => {
  const { collection, tag, documents } = words;
  const readUnsaved = createReadUnsaved(sourceHost);
  const keyOf: Collection['keyOf'] = ({ id: websiteId, documentId }) => ({
    websiteId,
    collection,
    documentId,
  });

  const unsavedOf: Collection['unsavedOf'] = async ({ documentId }, website) =>
    collection === 'content' ? (await readUnsaved(website, (id) => id === documentId)).get(documentId) : undefined;

  const toAnswer: Collection['toAnswer'] = async (key, { website, caller }, through) => {
    const { document, revision } = await reader.read(contentProjection, contentDocumentId(key), through);
    const version = { revision: versionOf(revision) };
    if (document !== null) {
      const { toActor, people } = createActorNames(engine, { readerRole: caller.role });
      return { body: await toContentDocument(toActor, document), people: people(), ...version };
    }
    const body = await unsavedOf(key, website);
    if (body === undefined) throw new Refused(refusals.contentNotFound(key.documentId));
    return { body: toUnsavedDocument(key.websiteId, key.documentId, body), ...version };
  };

  return {
    words,
    path: `/websites/:id/${collection}` as const,
    ofWebsite: { tag, scope: 'website', feature: collection } as const,
    oneDocument: { 200: { description: `The ${documents}.`, schema: ContentDocument } },
    check: createCheckContent(sourceHost, findMedia),
    withRoom: createContentLimit(reader),
    readUnsaved,
    keyOf,
    unsavedOf,
    toAnswer,
  };
};
