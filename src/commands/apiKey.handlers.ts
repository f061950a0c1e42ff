import type { Engine } from '../engine.js';
import { accessTokenFrom, hashAccessToken, shownLength } from '../platform/accessToken.js';
import { isoTime } from '../platform/clock.js';
import { entityId } from '../platform/ids.js';
import { apiKeyId, apiKeyStream, apiKeyStreamOfId, type MintAPIKey } from './apiKey.commands.js';
import { apiKeyDecider } from './apiKey.decider.js';
import type { CommandContext } from './handleCommand.js';

/**
 * Mints a personal access token and keeps its hash. Repeating it with the same command id and the same `secret` makes the same key.
 *
 * @param wish `expiresAt` in any form of ISO 8601
 * @param secret 64 random bytes that nobody else has seen: the token is made of them
 * @returns the token, which is nowhere to be had again, and the key's id
 * @throws Refused: `Not authorized to mint …`, `Invalid request body — expiresAt: …`
 */
export const mintApiKey = async (
  engine: Engine,
  wish: Omit<MintAPIKey, 'type' | 'at' | 'id' | 'hash' | 'prefix'>,
  secret: Uint8Array,
  context: CommandContext,
): Promise<{ readonly token: string; readonly id: string }> => {
  const token = accessTokenFrom(secret);
  const { hash, key } = hashAccessToken(token);
  const id = apiKeyId(entityId(context.commandId, 'api-key'), key);
  await engine.handle(
    apiKeyDecider,
    apiKeyStream(key),
    {
      type: 'MintAPIKey',
      ...wish,
      id,
      hash,
      prefix: token.slice(0, shownLength),
      expiresAt: wish.expiresAt === undefined ? undefined : isoTime(Date.parse(wish.expiresAt)),
    },
    context,
  );
  return { token, id };
};

/** The token stops working with the next request, everywhere. @throws Refused: `API key <id> not found`, also for another's */
export const revokeApiKey = async (engine: Engine, id: string, subject: string, context: CommandContext): Promise<void> => {
  await engine.handle(apiKeyDecider, apiKeyStreamOfId(id), { type: 'RevokeAPIKey', id, subject }, context);
};
