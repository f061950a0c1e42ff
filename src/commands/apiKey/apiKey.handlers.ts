import type { Engine } from '../../engine.js';
import { accessTokenFrom, hashAccessToken, visiblePrefixLength } from '../../platform/accessToken.js';
import { isoTime } from '../../platform/clock.js';
import { entityId } from '../../platform/ids.js';
import { type MintAPIKey } from './apiKey.commands.js';
import { apiKeyDecider } from './apiKey.decider.js';
import type { CommandContext } from '../handleCommand.js';
import { apiKeyId, keyOfId } from '../../events/apiKey/apiKey.stream.js';
import { apiKeyFold } from '../../events/apiKey/apiKey.state.js';

/**
 * Mints a personal access token and keeps its hash. Repeating it with the same command id and the
 * same `secret` makes the same key.
 *
 * @param input with subject, address (in lower case) and name as they are: they are encrypted here,
 * the name for whom the address is; `expiresAt` in any form of ISO 8601
 * @param secret 64 secret random bytes, from which the token is made
 * @returns the token, which is stored nowhere, and the key's id
 * @throws Refused: `Not authorized to mint …`, `Invalid request body — expiresAt: …`
 */
export const mintApiKey = async (
  engine: Engine,
  input: Omit<MintAPIKey, 'type' | 'at' | 'key' | 'id' | 'hash' | 'prefix'>,
  secret: Uint8Array,
  context: CommandContext,
): Promise<{ readonly token: string; readonly id: string }> => {
  const token = accessTokenFrom(secret);
  const { hash, key } = hashAccessToken(token);
  const id = apiKeyId(entityId(context.commandId, 'api-key'), key);
  const { personal } = engine;
  const { subject, verifiedEmail, userName } = input;
  await engine.handle(
    apiKeyDecider,
    {
      type: 'MintAPIKey',
      ...input,
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
  return { token, id };
};

/**
 * The token is refused from the next request on, by every process.
 * @throws Refused: `API key <id> not found`, also when the key is another subject's
 */
export const revokeApiKey = async (engine: Engine, id: string, subject: string, context: CommandContext): Promise<void> => {
  const key = keyOfId(id);
  const { state } = await engine.state(apiKeyFold, { key });
  const isTheirs = state.stage !== 'none' && (await engine.personal.decrypt(state.subject)) === subject;
  const command = { type: 'RevokeAPIKey', key, id, subject: isTheirs ? state.subject : subject } as const;
  await engine.handle(apiKeyDecider, command, context);
};
