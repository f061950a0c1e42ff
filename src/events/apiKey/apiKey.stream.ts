import { defineStream } from '../defineStream.js';
import { apiKeyEvents, deviceGrantEvents, subjectKeysEvents } from './apiKey.events.js';

const timeLength = 10;

/**
 * A key's public id: 10 characters of time, so that ids sort by it, and the end of its stream's
 * name. `timeId` is any entity id of that time.
 */
export const apiKeyId = (timeId: string, key: string): string => timeId.slice(0, timeLength) + key;

/**
 * The end of the stream's name, from a public id. For an invalid id it leads to a stream that does
 * not exist.
 */
export const keyOfId = (id: string): string => id.slice(timeLength);

/**
 * `key`: what `hashAccessToken` makes of the token, so that a token leads to its stream without an
 * index.
 */
export const apiKeyStream = defineStream({
  category: 'api-key',
  key: ({ key }: { readonly key: string }) => key,
  named: '<hash of the token>',
  holds: 'one personal access token: its hash, role, scope, revocation, the tokens that it stands on',
  guards: 'found by its hash, with no index that could lag',
  events: apiKeyEvents,
  personal: { APIKeyMinted: ['subject', 'verifiedEmail', 'userName'] },
});

/**
 * `subjectIndex`: the blind index of the subject, so that the name does not reveal whose keys they
 * are.
 */
export const subjectKeysStream = defineStream({
  category: 'subject-keys',
  key: ({ subjectIndex }: { readonly subjectIndex: string }) => subjectIndex,
  named: '<blind index of the subject>',
  holds: 'which keys of a subject count against the limit',
  guards: 'at most 50 live keys for each subject',
  events: subjectKeysEvents,
  personal: {},
});

/**
 * `grantIndex`: the blind index of the grant that a device got from the embedded sign-in (RFC 8628).
 */
export const deviceGrantStream = defineStream({
  category: 'device-grant',
  key: ({ grantIndex }: { readonly grantIndex: string }) => grantIndex,
  named: '<blind index of the grant>',
  holds: 'which key the sign-in of a device was exchanged for',
  guards: 'one key for each sign-in of a device',
  events: deviceGrantEvents,
  personal: {},
});
