import { hash } from 'node:crypto';
import type { HandleOptions } from '../commands/handleCommand.js';
import type { Encoding } from '../platform/encodings.js';

/**
 * The strong validator of an answer (RFC 9110, 8.8.3): `"<revision>-<hash of the body>"`, or the
 * hash alone where the resource has no revision. The revision is what `If-Match` is compared with,
 * since two callers may see different bodies of one resource.
 */
export const etagOf = (body: string | Uint8Array, revision?: bigint): string => {
  const digest = hash('sha1', body, 'base64url').slice(0, 22);
  return revision === undefined ? `"${digest}"` : `"${String(revision)}-${digest}"`;
};

/**
 * The revision in the tag of a resource that is there before its stream (a blueprint that nobody has
 * arranged): counted from 1, so that `If-Match` can name it as it is before, too.
 */
export const versionOf = (revision: bigint): bigint => revision + 1n;

/** What `If-Match` with such a tag expects of the stream, which need not be there. */
export const expectationOf = ({ expectedRevision }: HandleOptions): HandleOptions =>
  expectedRevision === undefined ? {} : { expectedRevision: expectedRevision - 1n };

/** The validator of the same answer in a compressed form, which is another representation. */
export const etagIn = (etag: string, encoding: Encoding): string => `${etag.slice(0, -1)}.${encoding}"`;

const ofForm = /\.(?:br|gzip)$/;

const tag = /(W\/)?"([\x21\x23-\x7e\x80-\xff]*)"/g;

/**
 * Whether `If-None-Match` names the answer (weak comparison, RFC 9110, 13.1.2) in any form: the
 * caller has it already.
 */
export const isKnown = (ifNoneMatch: string, etag: string): boolean =>
  ifNoneMatch === '*' ||
  [...ifNoneMatch.matchAll(tag)].some(([, , opaque]) => `"${(opaque ?? '').replace(ofForm, '')}"` === etag);

/** Each tag costs an attempt. */
const maxTags = 10;

/** No stream gets that long. */
const neverReached = 10n ** 18n;

/**
 * The revisions that `If-Match` allows, one that no stream reaches when it allows no state that ever
 * was; `undefined` for `*`, which allows any that is there. Weak tags never match (RFC 9110, 13.1.1).
 */
export const revisionsAllowed = (ifMatch: string): readonly bigint[] | undefined => {
  if (ifMatch === '*') return undefined;
  const revisions = [...ifMatch.matchAll(tag)]
    .slice(0, maxTags)
    .flatMap(([, weak, opaque]) => (weak === undefined ? (/^(\d{1,18})-/.exec(opaque ?? '')?.[1] ?? []) : []))
    .map(BigInt);
  return revisions.length > 0 ? revisions : [neverReached];
};
