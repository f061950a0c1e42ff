import { createHash, hash } from 'node:crypto';
import type { Clock } from './clock.js';
import type { Random } from './random.js';

/**
 * Identifiers. Entity ids are 26 lower-case Crockford base32 characters in the layout of a ULID (48
 * bits of time in milliseconds, 80 random or derived bits), so that sorting by id sorts by creation
 * time. Command and event ids are UUIDs whose first 48 bits are the time as well (RFC 9562, version
 * 7 for commands, version 8 for derived event ids).
 */
export interface Ids {
  /**
   * A new command id (UUIDv7). Every other id that the command needs is derived from it, so that a
   * retry creates nothing twice.
   */
  commandId(): string;
}

const alphabet = '0123456789abcdefghjkmnpqrstvwxyz';

/** Lower-case base32 text of `bytes`, `length` characters long, least significant bits last. */
export const base32Text = (bytes: Uint8Array, length: number): string => {
  let text = '';
  let [held, bits] = [0, 0];
  for (let at = bytes.length - 1; text.length < length; bits -= 5) {
    if (bits < 5) {
      held |= (bytes[at] ?? 0) << bits;
      bits += 8;
      at -= 1;
    }
    text = alphabet.charAt(held & 31) + text;
    held >>= 5;
  }
  return text;
};

const uuid = (bytes: Uint8Array, version: 7 | 8): string => {
  const copy = Buffer.from(bytes.subarray(0, 16));
  copy[6] = ((copy[6] ?? 0) & 0x0f) | (version << 4);
  copy[8] = ((copy[8] ?? 0) & 0x3f) | 0x80;
  const hex = copy.toString('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
};

const timeBytes = (epochMs: number): Buffer => {
  const bytes = Buffer.alloc(6);
  bytes.writeUIntBE(epochMs, 0, 6);
  return bytes;
};

/** Characters of an entity id that hold its time, and the last time that they can hold. */
const timeLength = 10;
const maxTime = 2 ** 48 - 1;

const timeOf = (commandId: string): Buffer => Buffer.from(commandId.replaceAll('-', '').slice(0, 12), 'hex');

export const createIds = (clock: Clock, random: Random): Ids => ({
  commandId: () => uuid(Buffer.concat([timeBytes(clock.now()), random.bytes(10)]), 7),
});

/**
 * The id of the entity that a command creates for `purpose`. The same command always gives the same
 * id.
 */
export const entityId = (commandId: string, purpose: string): string => {
  const digest = createHash('sha256').update(`${commandId}/${purpose}`).digest();
  return base32Text(timeOf(commandId), timeLength) + base32Text(digest.subarray(0, 10), 16);
};

/**
 * `id` with the time `epochMs` in place of its own, so that it sorts by that time. Of an empty id:
 * what sorts before every id of that time.
 */
export const idAt = (epochMs: number, id: string): string =>
  base32Text(timeBytes(Math.min(Math.max(0, epochMs), maxTime)), timeLength) + id.slice(timeLength);

/**
 * The time that an id begins with (ms since the epoch): of an entity, a command, an event, or of text that begins
 * with one. Undefined of other text.
 */
export const timeOfId = (id: string): number | undefined => {
  const [, high, low] = /^([0-9a-f]{8})-([0-9a-f]{4})-/.exec(id) ?? [];
  if (high !== undefined && low !== undefined) return Number.parseInt(high + low, 16);
  if (!/^[0-7][0-9a-hjkmnp-tv-z]{25}(?![0-9a-z])/.test(id)) return undefined;
  return Array.from(id.slice(0, timeLength)).reduce((time, character) => time * 32 + alphabet.indexOf(character), 0);
};

/**
 * The id (UUIDv8) of a command's `index`-th event in `stream`. A retried append carries the same
 * ids.
 */
export const eventId = (commandId: string, stream: string, index: number): string => {
  const digest = hash('sha1', `${commandId}/${stream}/${String(index)}`);
  const variant = '89ab'.charAt(Number.parseInt(digest.charAt(4), 16) % 4);
  return `${commandId.slice(0, 13)}-8${digest.slice(1, 4)}-${variant}${digest.slice(5, 8)}-${digest.slice(8, 20)}`;
};

/**
 * A hash of `text`, 26 characters of base32, so that text from outside can be part of a stream's
 * name.
 */
export const textId = (text: string): string => base32Text(createHash('sha256').update(text).digest().subarray(0, 17), 26);
