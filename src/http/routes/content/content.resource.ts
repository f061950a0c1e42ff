import { Type, type Static, type TNull, type TString, type TUnion } from 'typebox';
import type { ActorNames } from '../../../events/actorNames.js';
import type { ContentVersion as Version } from '../../../events/content/content.state.js';
import type { Actor as StoredActor } from '../../../events/envelope.js';
import { hashOfJson } from '../../../platform/canonicalJson.js';
import type { ContentDocument as Document } from '../../../projections/content/content.projection.js';
import { Actor } from '../../actors.js';
import { ContentId } from '../../schemas.js';

const Time = Type.String({ format: 'date-time' });

/** Of `{}`. */
export const hashExample = '44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a';

export const ContentHash = Type.String({
  description: 'SHA-256 of the canonical form of the body (RFC 8785), in hexadecimal digits.',
  examples: [hashExample],
});

export const ContentBody = Type.Unknown({
  description: 'The document: an object or a list.',
  examples: [{ headline: 'Bread from four in the morning' }],
});

export const ContentDocument = Type.Object(
  {
    id: Type.String({ description: 'Id of the document within its website.', examples: ['site'] }),
    websiteId: Type.String(),
    hash: ContentHash,
    body: ContentBody,
    updatedAt: Type.Optional(
      Type.String({ format: 'date-time', description: 'When it was saved last; absent while it is what the repository holds.' }),
    ),
    updatedBy: Type.Optional(Actor),
    publishedHash: Type.Optional(
      Type.String({ ...ContentHash, description: 'Of what was published last; another than `hash`: there is more to publish.' }),
    ),
    publishedAt: Type.Optional(Type.String({ format: 'date-time', description: 'When it was published last.' })),
  },
  { $id: 'ContentDocument', description: 'A document that people edit.' },
);

export const ContentVersion = Type.Object(
  { hash: ContentHash, at: Time, actor: Actor },
  { $id: 'ContentVersion', description: 'A version of a document: what was saved at once.' },
);

export const WholeContentVersion = Type.Object(
  { hash: ContentHash, at: Time, actor: Actor, body: ContentBody },
  { $id: 'WholeContentVersion', description: 'A version of a document, with its body.' },
);

type ToActor = ActorNames['toActor'];

/** Who it was, for everybody that may read it: not by which token or program. */
const toMember = async (toActor: ToActor, actor: StoredActor): Promise<Static<typeof Actor>> => {
  const { tokenId: _, program: __, ...named } = await toActor(actor);
  return named;
};

export const toContentDocument = async (toActor: ToActor, document: Document): Promise<Static<typeof ContentDocument>> => {
  const { id, websiteId, hash, json, updatedAt, updatedBy, publishedHash, publishedAt } = document;
  return {
    id,
    websiteId,
    hash,
    body: JSON.parse(json) as unknown,
    updatedAt,
    updatedBy: await toMember(toActor, updatedBy),
    ...(publishedHash !== undefined && { publishedHash }),
    ...(publishedAt !== undefined && { publishedAt }),
  };
};

/** What the repository holds while nobody has saved the document. */
export const toUnsavedDocument = (websiteId: string, id: string, body: unknown): Static<typeof ContentDocument> => ({
  id,
  websiteId,
  hash: hashOfJson(body),
  body,
});

export const toContentVersion = async (toActor: ToActor, version: Version): Promise<Static<typeof ContentVersion>> => ({
  hash: version.hash,
  at: version.at,
  actor: await toMember(toActor, version.actor),
});

export const ContentDocumentId = ContentId();

export const BaseHash = (description: string): TUnion<[TString, TNull]> =>
  Type.Union([Type.String({ ...ContentHash, minLength: 1, maxLength: 200 }), Type.Null()], {
    description,
    'x-issue': 'must be the hash of the version that was edited, or null',
  });
