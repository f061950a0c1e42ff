import type { Engine } from '../../engine.js';
import { findLiveKey } from '../../events/apiKey/apiKey.directory.js';
import { apiKeyFold, deviceGrantFold, subjectKeysFold } from '../../events/apiKey/apiKey.state.js';
import { apiKeyId, keyOfId } from '../../events/apiKey/apiKey.stream.js';
import { accessTokenFrom, hashAccessToken, visiblePrefixLength } from '../../platform/accessToken.js';
import { isoTime } from '../../platform/clock.js';
import { entityId } from '../../platform/ids.js';
import { hasExpired } from '../../platform/times.js';
import { consequenceOf, type CommandContext } from '../handleCommand.js';
import { Refused, refusals } from '../refusal.js';
import type { MintAPIKey, ParentKey } from './apiKey.commands.js';
import { apiKeyDecider, deviceGrantDecider, roomFor, subjectKeysDecider } from './apiKey.decider.js';

type MintInput = Omit<MintAPIKey, 'type' | 'at' | 'key' | 'id' | 'hash' | 'prefix' | 'parent'> & {
  /** The id of the key whose token mints this one; absent when nobody's token does. */
  readonly parentId?: string | undefined;
  /** The grant of the device that mints; absent when no device does. */
  readonly deviceGrant?: string | undefined;
};

/**
 * Mints a personal access token and keeps its hash. Repeating it with the same command id and the
 * same `secret` makes the same key.
 *
 * The key is counted after it was minted, and its token is known to nobody before: what is minted
 * at the same time, by any process, never lets more than 50 tokens of a subject out
 * (docs/adr/0015-keys-stand-on-what-minted-them.md).
 *
 * @param input with subject, address (in lower case) and name as they are: they are encrypted here,
 * the name for whom the address is; `expiresAt` in any form of ISO 8601
 * @param secret 64 secret random bytes, from which the token is made
 * @returns the token, which is stored nowhere, and the key's id
 * @throws Refused: `Not authorized to mint …`, `Invalid request body — expiresAt: …`, `Too many API
 *   keys`, `This sign-in of a device was already exchanged …`; `Invalid token` when the key that mints it works no more
 */
export const mintApiKey = async (
  engine: Engine,
  { parentId, deviceGrant, ...input }: MintInput,
  secret: Uint8Array,
  context: CommandContext,
): Promise<{ readonly token: string; readonly id: string }> => {
  const parent = parentId === undefined ? undefined : await findParent(engine, parentId);
  const token = accessTokenFrom(secret);
  const { hash, key } = hashAccessToken(token);
  const id = apiKeyId(entityId(context.commandId, 'api-key'), key);
  const { personal } = engine;
  const { subject, verifiedEmail, userName } = input;
  const subjectIndex = engine.blindIndex(subject);
  const hasRoom = await makeRoom(engine, subjectIndex, context);
  const grantIndex = deviceGrant === undefined ? undefined : engine.blindIndex(`device grant ${deviceGrant}`);
  if (grantIndex !== undefined) await checkExchange(engine, grantIndex, id);
  const isNew = (await engine.state(apiKeyFold, { key })).state.stage === 'none';
  // Nothing is written for a mint that has no chance.
  if (isNew && !hasRoom) throw new Refused(refusals.tooManyApiKeys());

  const { state: minted } = await engine.handle(
    apiKeyDecider,
    {
      type: 'MintAPIKey',
      ...input,
      parent,
      key,
      subject: await personal.encryptSubject(subject),
      verifiedEmail: verifiedEmail && (await personal.encrypt(verifiedEmail, verifiedEmail)),
      userName: verifiedEmail && userName && (await personal.encrypt(verifiedEmail, userName)),
      id,
      hash,
      prefix: token.slice(0, visiblePrefixLength),
      expiresAt: input.expiresAt === undefined ? undefined : isoTime(Date.parse(input.expiresAt)),
    },
    context,
  );
  // A repetition of what was revoked since.
  if (minted.stage !== 'active') throw new Refused(refusals.apiKeyNotFound(id));

  try {
    await engine.handle(subjectKeysDecider, { type: 'CountAPIKey', subjectIndex, key: minted }, context);
    // Of keys that are minted with one grant at the same time, one is let out.
    if (grantIndex !== undefined) {
      await engine.handle(deviceGrantDecider, { type: 'ExchangeDeviceGrant', grantIndex, apiKeyId: id }, context);
    }
    // Its parent may have been revoked meanwhile, by somebody who did not see it counted.
    if (parentId !== undefined) await findParent(engine, parentId);
  } catch (error) {
    if (error instanceof Refused) await withdraw(engine, subjectIndex, [id], consequenceOf(engine, context));
    throw error;
  }
  return { token, id };
};

/**
 * Nothing is written for an exchange that has no chance.
 * @throws Refused: `This sign-in of a device was already exchanged …`
 */
const checkExchange = async (engine: Engine, grantIndex: string, keyId: string): Promise<void> => {
  const { state } = await engine.state(deviceGrantFold, { grantIndex });
  if (state.stage === 'exchanged' && state.apiKeyId !== keyId) throw new Refused(refusals.deviceGrantExchanged());
};

/** @throws Refused: `Invalid token` */
const findParent = async (engine: Engine, id: string): Promise<ParentKey> => {
  const found = await findLiveKey(engine, keyOfId(id), isoTime(engine.clock.now()));
  if (found?.key.id !== id) throw new Refused(refusals.invalidToken());
  const { scope, expiresAt, ancestorIds } = found.key;
  return { id, scope, ancestorIds, ...(expiresAt !== undefined && { expiresAt }) };
};

/**
 * Whether a key of the subject may still be minted. Expired ones are revoked, because lists and read
 * models would grow with each short-lived key. When there is no room, keys that work no more are
 * released first: a crash, or a revocation at the same moment, may have left them counted.
 */
const makeRoom = async (engine: Engine, subjectIndex: string, context: CommandContext): Promise<boolean> => {
  const now = isoTime(engine.clock.now());
  const counted = (await engine.state(subjectKeysFold, { subjectIndex })).state;
  const expired = counted.keys.filter(({ expiresAt }) => hasExpired(expiresAt, now)).map(({ id }) => id);
  if (expired.length > 0) await withdraw(engine, subjectIndex, expired, consequenceOf(engine, context));
  if (roomFor(counted, now) > 0) return true;
  const live = await Promise.all(counted.keys.map(({ id }) => findLiveKey(engine, keyOfId(id), now)));
  const ids = counted.keys.filter((_, index) => live[index] === null).map(({ id }) => id);
  const release = { type: 'ReleaseAPIKeys', subjectIndex, ids } as const;
  const { state } = await engine.handle(subjectKeysDecider, release, consequenceOf(engine, context));
  return roomFor(state, now) > 0;
};

/** Revokes tokens whose person, or whose address, is nobody's any more. */
export const revokeTokens = async (
  engine: Engine,
  tokens: readonly { readonly id: string; readonly subject: string }[],
  context: CommandContext,
): Promise<void> => {
  for (const { id, subject } of tokens) {
    const revoke = { type: 'RevokeAPIKey', key: keyOfId(id), id, subject, callerRole: 'admin' } as const;
    await engine.handle(apiKeyDecider, revoke, consequenceOf(engine, context));
  }
};

/** Revokes keys that have nothing to stand on, and counts them no more. */
const withdraw = async (engine: Engine, subjectIndex: string, ids: readonly string[], context: CommandContext): Promise<void> => {
  const revoke = (id: string): Promise<unknown> =>
    engine.handle(apiKeyDecider, { type: 'RevokeAPIKey', key: keyOfId(id), id, callerRole: 'admin' }, context);
  await Promise.all(ids.map(revoke));
  await engine.handle(subjectKeysDecider, { type: 'ReleaseAPIKeys', subjectIndex, ids }, context);
};

/**
 * The token, and whatever was minted with it, is refused from the next request on, by every
 * process.
 *
 * @param by whose keys may be revoked (absent: anybody's), and the role of who asks
 * @returns false when it was revoked before
 * @throws Refused: `API key <id> not found`, also when the key is another subject's or of a higher
 *   role
 */
export const revokeApiKey = async (
  engine: Engine,
  id: string,
  by: { readonly subject?: string | undefined; readonly role: 'admin' | 'client' },
  context: CommandContext,
): Promise<boolean> => {
  const key = keyOfId(id);
  const { state } = await engine.state(apiKeyFold, { key });
  const owner = state.stage === 'none' ? null : await engine.personal.decrypt(state.subject);
  const isTheirs = state.stage !== 'none' && owner === by.subject;
  const subject = isTheirs ? state.subject : by.subject;
  const { events } = await engine.handle(apiKeyDecider, { type: 'RevokeAPIKey', key, id, subject, callerRole: by.role }, context);

  // Of somebody who was erased nothing is counted that could be found.
  if (owner !== null) {
    const subjectIndex = engine.blindIndex(owner);
    const { keys } = (await engine.state(subjectKeysFold, { subjectIndex })).state;
    const fallen = keys.filter(({ ancestorIds }) => ancestorIds.includes(id)).map((fallenKey) => fallenKey.id);
    // They work no more already; revoked, they also leave the lists.
    await withdraw(engine, subjectIndex, [id, ...fallen], consequenceOf(engine, context));
  }
  return events.length > 0;
};
