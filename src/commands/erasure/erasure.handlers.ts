import type { Engine } from '../../engine.js';
import { changeAccess } from '../access/access.handlers.js';
import { apiKeyDecider } from '../apiKey/apiKey.decider.js';
import { clientDecider } from '../client/client.decider.js';
import { releaseAddress } from '../client/clientEmail.handlers.js';
import { consequenceOf, type CommandContext, type HandleOptions } from '../handleCommand.js';
import { Refused, refusals } from '../refusal.js';
import { websiteDecider } from '../website/website.decider.js';
import { clientFold, type ClientAddresses } from '../../events/client/client.state.js';
import { clientIdOfEmail } from '../../events/client/client.directory.js';
import { keyOfId } from '../../events/apiKey/apiKey.stream.js';

/** Holds personal data outside the log, by address or by client. */
export interface PersonalDataHolder {
  /**
   * @param person the address as it was encrypted for the erased person: it may belong to somebody
   *   else now
   * @param clientId whose address it is or was
   */
  forget(address: string, person: string, clientId: string): Promise<void>;
}

/** Where a client is found outside their own stream, for an erasure to remove. */
export interface ErasureTargets {
  /** Websites that they own. */
  readonly owned: readonly string[];
  /** Websites that they are linked to, or that their address is invited to. */
  readonly accessible: readonly string[];
  readonly apiKeys: readonly { readonly id: string; readonly subject: string }[];
}

/** A person whose erasure has been decided. */
export interface ErasedPerson {
  readonly clientId: string;
  /** Every address that was theirs or was to be, as events hold it, and readable. */
  readonly addresses: readonly {
    readonly email: string;
    readonly address: string;
    /** Whether its account with the identity provider is theirs. */
    readonly isTheirs: boolean;
  }[];
}

/** What an erasure needs beside the engine. */
export interface ErasureParts {
  /**
   * The targets that the log holds at the time of the call.
   * @param emails as the client's events hold them
   */
  readonly findTargets: (clientId: string, emails: readonly string[]) => Promise<ErasureTargets>;
  /** The tokens that were made with an address, as events hold it. */
  readonly findTokens: (email: string) => Promise<ErasureTargets['apiKeys']>;
  /** The identity provider's accounts. */
  readonly accounts: PersonalDataHolder;
  /** Of anything else. */
  readonly holders: readonly PersonalDataHolder[];
}

/**
 * Erases a client (docs/adr/0010-personal-data.md): from `ClientErased` on they have no access and
 * appear nowhere. What is left of them is readable until `forgetPerson`. The erasure worker
 * completes what a crash or a fault cuts off.
 * @throws Refused: `Client <id> does not exist`, `Someone else saved …`; faults of the stores, after
 *   which it may be repeated
 */
export const eraseClient = async (
  engine: Engine,
  parts: Pick<ErasureParts, 'findTargets'>,
  clientId: string,
  context: CommandContext,
  options?: HandleOptions,
): Promise<ErasedPerson> => {
  const { state } = await engine.state(clientFold, { clientId });
  if (state.stage === 'none') throw new Refused(refusals.clientNotFound(clientId));
  const address = await engine.personal.decrypt(state.email);
  // An address that was never encrypted does not show how far an erasure has come.
  const isOver = address === null || address === state.email;
  const ifNothing = refusals.clientNotFound(clientId);
  const { state: after } = await engine.handle(clientDecider, { type: 'EraseClient', clientId }, context, {
    ...options,
    ...(isOver && { ifNothing }),
  });
  if (after.stage === 'none') throw new Refused(ifNothing);
  return withdrawClient(engine, parts, { ...after, clientId }, context);
};

/**
 * Everything that follows from `ClientErased`. It may be interrupted anywhere and repeated, by
 * several processes at once. The address is freed first and the key is destroyed last, so that a
 * missing key means that nothing is left to do but to wipe it.
 */
export const completeErasure = async (
  engine: Engine,
  parts: ErasureParts,
  client: ClientAddresses & { readonly clientId: string },
  context: CommandContext,
): Promise<void> => forgetPerson(engine, parts, await withdrawClient(engine, parts, client, context));

/** Removes the client from every stream that names them. */
const withdrawClient = async (
  engine: Engine,
  { findTargets }: Pick<ErasureParts, 'findTargets'>,
  { clientId, email, formerEmails, changes }: ClientAddresses & { readonly clientId: string },
  context: CommandContext,
): Promise<ErasedPerson> => {
  const addresses: ErasedPerson['addresses'][number][] = [];
  if ((await engine.personal.decrypt(email)) === null) {
    // The vault may have removed the key and failed to wipe it from its files; then this does that.
    await engine.personal.cryptoShred(email);
    return { clientId, addresses };
  }
  const requested = [...changes.values()].map((change) => change.email);
  for (const each of new Set([...formerEmails, ...requested, email])) {
    const address = await engine.personal.decrypt(each);
    if (address === null) continue;
    await engine.personal.retire(each);
    await releaseAddress(engine, clientId, address, context);
    // A former address may be another client's by now.
    const isTheirs = each === email || (formerEmails.includes(each) && (await clientIdOfEmail(engine, address)) === undefined);
    addresses.push({ email: each, address, isTheirs });
  }

  const { owned, accessible, apiKeys } = await findTargets(clientId, [email, ...formerEmails]);
  for (const websiteId of owned) {
    const remove = { type: 'RemoveOwner', websiteId, clientId } as const;
    await engine.handle(websiteDecider, remove, consequenceOf(engine, context));
  }
  for (const websiteId of accessible) {
    const withdraw = { type: 'WithdrawClient', websiteId, clientId } as const;
    await changeAccess(engine, withdraw, consequenceOf(engine, context));
  }
  for (const { id, subject } of apiKeys) {
    const revoke = { type: 'RevokeAPIKey', key: keyOfId(id), id, subject, callerRole: 'admin' } as const;
    await engine.handle(apiKeyDecider, revoke, consequenceOf(engine, context));
  }
  return { clientId, addresses };
};

/** When it resolves, no personal data of the person can be read anywhere. */
export const forgetPerson = async (
  { personal }: Pick<Engine, 'personal'>,
  { accounts, holders }: Pick<ErasureParts, 'accounts' | 'holders'>,
  { clientId, addresses }: ErasedPerson,
): Promise<void> => {
  for (const { email, address, isTheirs } of addresses) {
    for (const holder of holders) await holder.forget(address, email, clientId);
    if (isTheirs) await accounts.forget(address, email, clientId);
  }
  // That of the present address is last.
  for (const { email } of addresses) await personal.cryptoShred(email);
};
