import { hasExpired } from '../../platform/times.js';
import type { StreamReader } from '../streamReader.js';
import { apiKeyFold, type APIKeyState } from './apiKey.state.js';
import { keyOfId } from './apiKey.stream.js';

export type MintedKey = Exclude<APIKeyState, { readonly stage: 'none' }>;

/** A key that works now. */
export interface LiveKey {
  readonly key: MintedKey;
  /** The key at the beginning of its chain, which no token minted: often the key itself. */
  readonly root: MintedKey;
}

/**
 * The key at the end of a stream's name, with everything that was committed before the call, if it
 * works at `now` (ISO 8601 UTC): neither it nor a key that it stands on was revoked or has expired.
 * @throws as `StreamFolds.load`
 */
export const findLiveKey = async ({ state }: Pick<StreamReader, 'state'>, key: string, now: string): Promise<LiveKey | null> => {
  const found = (await state(apiKeyFold, { key })).state;
  if (!isLive(found, now)) return null;
  const ancestors = await Promise.all(found.ancestorIds.map(async (id) => (await state(apiKeyFold, { key: keyOfId(id) })).state));
  const live = ancestors.filter((ancestor) => isLive(ancestor, now));
  return live.length < ancestors.length ? null : { key: found, root: live.at(-1) ?? found };
};

const isLive = (key: APIKeyState, now: string): key is MintedKey => key.stage === 'active' && !hasExpired(key.expiresAt, now);
